"""Files are written whole: on a full disk (a limit that the system keeps) the older one stays."""

import json
import resource
from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray
from typer.testing import CliRunner

from saccade.cli import app
from saccade.cli.console import give
from saccade.errors import InvalidInput
from saccade.lab import benchmark_files
from saccade.lab.archive.dataset import export
from saccade.lab.figure import save
from saccade.lab.whole import discard_unfinished, whole, write_whole
from saccade.report.writing import building

OLDER = "what was here before"


@contextmanager
def full_disk(room=64):
    """No file may grow beyond `room` bytes: the system then says so in the middle of a write."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def drawing(path):
    figure = plt.figure()
    try:
        save(figure, path)
    finally:
        plt.close(figure)


def exported(path):
    words = ("cell", ["finished"] * 999)
    export(xarray.Dataset({"status": words, "risk": ("cell", np.arange(999.0))}), str(path))


WAYS = {
    "ledger.json": lambda path: give("Rows", list(range(1000)), str(path), lambda: None),
    "figure.pdf": drawing, "figure.png": drawing, "cells.csv": exported, "cells.nc": exported,
    "cells.parquet": exported, "page.md": lambda path: benchmark_files.write_page(path, [])}


@pytest.mark.parametrize("name", WAYS)
def test_on_a_full_disk_the_older_file_stays_and_nothing_else(name, tmp_path):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    older = OLDER + f"\n{benchmark_files.BEGIN}\n{benchmark_files.END}\n"
    path.write_text(older)
    with full_disk(), pytest.raises(InvalidInput, match="cannot be written") as refusal:
        WAYS[name](path)
    assert "(file too large)" in str(refusal.value)
    assert path.read_text() == older
    assert [item.name for item in tmp_path.iterdir()] == [name]
    WAYS[name](path)
    assert path.read_bytes() != older.encode()
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_a_folder_is_replaced_whole(tmp_path):
    pytest.importorskip("zarr")
    path = tmp_path / "cells.zarr"
    exported(path)
    (path / "mark").touch()
    with full_disk(8), pytest.raises(InvalidInput, match="cannot be written"):
        exported(path)
    assert (path / "mark").exists()
    exported(path)
    assert not (path / "mark").exists() and [item.name for item in tmp_path.iterdir()] == [
        "cells.zarr"]


def test_what_breaks_off_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), whole(tmp_path / "new" / "file.txt") as part:
        part.write_text("half")
        raise KeyboardInterrupt
    assert list((tmp_path / "new").iterdir()) == []


def test_a_link_stays_a_link_and_rights_stay(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text(OLDER)
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_to_directly():
    write_whole("/dev/null", "new")
    with pytest.raises(InvalidInput, match="'/dev/full' cannot be written"):
        write_whole("/dev/full", "new")


def test_on_the_command_line(tmp_path):
    results, out = tmp_path / "results.json", tmp_path / "out.json"
    results.write_text("[]")
    out.write_text(OLDER)
    words = ["bench", "--from", str(results), "--json", str(out)]
    with full_disk(1):
        answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 2 and "cannot be written (file too large)" in answer.stderr
    assert out.read_text() == OLDER
    assert CliRunner().invoke(app, words).exit_code == 0 and json.loads(out.read_text()) == []


def test_a_program_that_leaves_at_once_removes_what_is_unfinished(tmp_path):
    path = tmp_path / "file.txt"
    with whole(path) as part:
        part.write_text("half")
        discard_unfinished()
        assert list(tmp_path.iterdir()) == []
        part.write_text("whole")
    assert path.read_text() == "whole" and len(list(tmp_path.iterdir())) == 1
    report = tmp_path / "report"
    with pytest.raises(KeyboardInterrupt), building(report) as place:
        (place / "index.html").touch()
        discard_unfinished()
        assert not place.exists()
        raise KeyboardInterrupt
    assert not report.exists()
