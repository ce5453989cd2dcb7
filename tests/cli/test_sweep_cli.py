"""`saccade sweep` and `saccade runs` as people call them."""

import json

import pytest
from sweeping import TOOLS  # noqa: F401
from typer.testing import CliRunner

from saccade.cli import app


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def sweep_file(tmp_path, fresh_store):
    path = tmp_path / "mine.toml"
    path.write_text('title = "Mine"\nrun = "fault_cells:grumpy"\n[axes]\nx = [1, 2, 3]\n')
    return path


def test_a_dry_run_prints_the_plan_and_changes_nothing(sweep_file, fresh_store):
    made = call("sweep", sweep_file, "--dry-run")
    assert made.exit_code == 0, made.output
    assert "Mine" in made.output and "3: x (3)" in made.output and "0 finished" in made.output
    assert not fresh_store.exists()


def test_a_sweep_from_start_to_table(sweep_file, fresh_store, tmp_path):
    made = call("sweep", sweep_file, "--export", tmp_path / "out.csv")
    assert made.exit_code == 1, made.output  # one cell is refused
    assert "2 finished, 1 refused" in made.output and "refused (saccade runs show" in made.output
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "x,value,status"
    again = call("sweep", sweep_file)
    assert "0 cells computed" in again.output and "--retry" in again.output
    listed = json.loads(call("runs", "list", "--json").output)
    assert sorted(row["status"] for row in listed) == ["finished", "finished", "refused"]
    assert "3 runs" in call("runs", "list", "faults.*").output
    (bad,) = [
        row["run"]
        for row in json.loads(call("runs", "list", "--status", "refused", "--json").output)]
    shown = call("runs", "show", bad)
    assert "x = 3 must not be 3" in shown.output and "Traceback" in shown.output
    opened = call("runs", "open", sweep_file)
    assert opened.exit_code == 0 and "status" in opened.output
    assert call("runs", "open", "faults.grumpy", "-o", tmp_path / "two.csv").exit_code == 0


def test_check_merge_and_gc(sweep_file, fresh_store, tmp_path):
    call("sweep", sweep_file)
    assert call("runs", "check").exit_code == 0
    assert "3 runs copied" in call("runs", "merge", fresh_store, tmp_path / "copy").output
    name = next(path for path in fresh_store.iterdir() if not path.name.endswith(".failed"))
    (name / "0.npy").write_bytes(b"")
    found = call("runs", "check")
    assert (
        found.exit_code == 1
        and f"{name.name}: damaged (0.npy does not match its checksum)" in found.output)
    (name / "run.json").write_bytes(b"{}")  # a list reads the records only
    assert "damaged" in call("runs", "list").output
    assert call("runs", "show", name.name).exit_code == 1
    (fresh_store / ".writing-x").mkdir()
    assert "1 leftovers removed" in call("runs", "gc", "--older-than", "0").output
    assert call("runs", "merge", fresh_store, fresh_store).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sweep", "none.toml"], "cannot be read"),
        (["sweep", "single-location/phse"], "did you mean 'single-location/phase'"),
        (["sweep", "mine.toml", "--export", "x.doc"], "must end in"),
        (["sweep", "mine.toml", "--jobs", "0"], "jobs = 0"),
        (["sweep", "mine.toml", "--jobs", "2", "--cluster", "tcp://x"], "exclude each other"),
        (["runs", "show", "../../etc"], "must be the name of a run"),
        (["runs", "open", "no.such"], "no finished run")])
def test_refusals_are_one_sentence_with_exit_code_2(arguments, sentence, sweep_file, monkeypatch):
    monkeypatch.chdir(sweep_file.parent)
    (sweep_file.parent / "store").mkdir()
    made = call(*arguments)
    assert made.exit_code == 2, made.output
    assert (
        sentence in made.output and made.output.startswith("saccade: ")
        and made.output.count("\n") == 1)


def test_help_and_list_answer(fresh_store):
    assert "--dry-run" in call("sweep", "--help").output
    assert "merge" in call("runs", "--help").output
    listed = call("sweep")
    assert listed.exit_code == 0 and "single-location/phase" in listed.output
    assert 'run = "single-location.ends"' in call("sweep", "single-location/phase", "--toml").output
