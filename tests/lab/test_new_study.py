"""A study of one's own: laid out by the command, found by its entry point, failing until it is
filled in."""

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from saccade.errors import InvalidInput
from saccade.lab.new_study import new_study
from saccade.studies import BUILT_IN, Study, registered

FORMULA = (
    "from scipy.special import ndtr\n\n\ndef success(signal):\n    return float(ndtr(signal /"
    " 2**0.5))\n")


def _install(folder: Path, site: Path) -> None:
    """What pip would leave behind: the package on the path and its entry point, without asking a
    registry for anything."""
    info = site / "saccade_my_paper-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: saccade-my-paper\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[saccade.studies]\nmy-paper = saccade_my_paper:STUDY\n")


def _python(folder: Path, site: Path, *arguments: str) -> subprocess.CompletedProcess:
    path = os.pathsep.join(
        [str(folder / "src"), str(site), *(place for place in sys.path if place)])
    environment = {**os.environ, "PYTHONPATH": path, "SACCADE_STORE": str(folder / "store")}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_a_new_study_fails_until_it_is_filled_in_and_then_appears_everywhere(tmp_path):
    folder, site = new_study("my-paper", tmp_path), tmp_path / "site"
    _install(folder, site)
    tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    before = _python(folder, site, *tests)
    assert before.returncode == 1 and "3 failed, 1 passed" in before.stdout, before.stdout
    assert "theory.success: write the formula" in before.stdout

    package = folder / "src" / "saccade_my_paper"
    (package / "theory.py").write_text(FORMULA)
    paper = (
        (package / "__init__.py")
        .read_text()
        .replace("The title of the paper", "Mine")
        .replace('venue=""', 'venue="V"'))
    (package / "__init__.py").write_text(paper)
    after = _python(folder, site, *tests)
    assert after.returncode == 0 and "4 passed" in after.stdout, after.stdout

    listed = _python(folder, site, "-m", "saccade", "list", "my-paper")
    assert "my-paper.success" in listed.stdout and "my-paper/success" in listed.stdout, (
        listed.stderr)
    script = (
        "import saccade; from saccade.lab import registry; from saccade.report import write_report;"
        "rows, figures = saccade.verify('my-paper'), registry.figures('my-paper');"
        "write_report(rows, 'report', scale='quick', seed=0, store=None, figures=figures)")
    reported = _python(folder, site, "-c", script)
    assert reported.returncode == 0, reported.stderr
    assert "Mine" in (folder / "report" / "index.html").read_text()
    assert (folder / "report" / "figures" / "my-paper.success.png").exists()


@pytest.mark.parametrize("name", ["My-Paper", "", "a b", "../up", "single-location", "1st"])
def test_names_that_cannot_be_are_refused(name, tmp_path):
    with pytest.raises(InvalidInput, match="name = "):
        new_study(name, tmp_path)
    assert not any(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path):
    new_study("my-paper", tmp_path)
    with pytest.raises(InvalidInput, match="must not exist"):
        new_study("my-paper", tmp_path)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("nowhere_at_all:STUDY", "No module named"),
        ("saccade.studies:GROUP", "not a saccade.studies.Study"),
        ("toy_entry:TAKEN", "already a study"), ("toy_entry:BARE", "package")])
def test_a_study_that_cannot_be_used_is_left_out_with_a_warning(value, reason, monkeypatch):
    import types

    toy = types.ModuleType("toy_entry")
    toy.TAKEN = next(iter(BUILT_IN.values()))
    toy.BARE = Study("bare", "bare", "B", "t", "", 2026, "", "")
    monkeypatch.setitem(sys.modules, "toy_entry", toy)
    with pytest.warns(UserWarning, match=reason):
        assert registered([EntryPoint("odd", value, "saccade.studies")]) == {}
