"""`saccade compare` as people call it: a table, JSON, exit codes."""

import json

import pytest
from typer.testing import CliRunner

from saccade.cli import app

NUMBERS = {"prediction": 1.0, "resolution": 0.1, "part": "0"}


def row(name, verdict="holds", measurement=1.0, sabotage="refuted"):
    return {
        "id": f"study.{name}", "verdict": verdict, "scale": "quick", **NUMBERS,
        "measurement": measurement, "interval": [measurement - 0.1, measurement + 0.1],
        "sabotages": [{"name": "shift", "verdict": sabotage}]}


@pytest.fixture
def compared(tmp_path):
    def call(old, new, *options):
        for name, rows in (("old", old), ("new", new)):
            (tmp_path / f"{name}.json").write_text(json.dumps({"claims": rows}))
        files = [str(tmp_path / f"{name}.json") for name in ("old", "new")]
        return CliRunner().invoke(app, ["compare", *files, *options])

    return call


def test_nothing_changed_is_one_line_and_exit_code_0(compared):
    result = compared([row("a")], [row("a")])
    assert result.exit_code == 0 and result.stdout.splitlines() == [
        "appeared: 0  vanished: 0  changed: 0  moved: 0  rescaled: 0  unchanged: 1"]


def test_a_changed_verdict_is_exit_code_1(compared):
    result = compared([row("a")], [row("a", "refuted")])
    assert result.exit_code == 1
    assert [
        word for word in ("study.a", "verdict", "holds", "refuted") if word not in result.stdout
    ] == []
    broken = compared([row("a")], [row("a", sabotage="holds")])
    assert broken.exit_code == 1 and "shift" in broken.stdout


def test_what_moved_appeared_or_vanished_is_told_and_is_no_failure(compared):
    result = compared([row("a"), row("old")], [row("a", measurement=2.0), row("new")])
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    for words in (
        "study.old vanished", "study.new appeared",
        "study.a measurement moved 0 1 (0.9, 1.1) 2 (1.9, 2.1)",
    ):
        assert words in said


def test_json_is_json_and_nothing_else(compared):
    result = compared([row("a")], [row("a", "undecided")], "--json")
    assert result.exit_code == 1 and result.stderr == ""
    told = json.loads(result.stdout)
    assert told["changed"] == [
        {"claim": "study.a", "sabotage": None, "old": "holds", "new": "undecided"}]
    assert told["summary"]["changed"] == 1


@pytest.mark.parametrize("content", [None, "{", "[]", '{"claims": [1]}'])
def test_bad_input_is_one_sentence_and_exit_code_2(content, tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text('{"claims": []}')
    if content is not None:
        bad.write_text(content)
    for files in ((good, bad), (bad, good)):
        result = CliRunner().invoke(app, ["compare", *map(str, files)])
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("saccade: ledger = ") and result.stderr.count("\n") == 1
