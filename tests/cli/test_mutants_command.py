"""`saccade mutants`: its file is kept up as it goes, and a hunt goes on from it."""

import json

import pytest
from typer.testing import CliRunner

from saccade.cli import app
from saccade.lab.mutants import hunt as hunting


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["mutants", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result


class Stopped(Exception):
    """The machine went off."""


@pytest.fixture
def asked(monkeypatch):
    """The mutants that are hunted, at no cost; the hunt stops before the third one."""
    hunted = []

    def hunt_down(mutants, hunt, done):
        rows = []
        for mutant in mutants:
            if len(hunted) == 2:
                hunted.append(None)
                raise Stopped
            hunted.append(mutant)
            rows.append(mutant.describe() | {"by": "x", "says": "refuted", "outcome": "seen"})
            done(rows[-1])
        return rows

    monkeypatch.setattr(hunting, "hunt_down", hunt_down)
    monkeypatch.setattr(hunting, "check_unaltered", lambda study, hunt: None)
    return hunted


def test_a_hunt_goes_on_where_it_was_stopped(asked, tmp_path):
    file = tmp_path / "mutants.json"
    asking = "spatial", "--count", 5, "--json", file, "--store", tmp_path / "store"
    assert isinstance(CliRunner().invoke(app, ["mutants", *map(str, asking)]).exception, Exception)
    assert len(json.loads(file.read_text())["mutants"]) == 2
    run(*asking, "--resume")
    told = json.loads(file.read_text())["mutants"]
    assert len(told) == 5 and len({(row["file"], row["start"], row["after"]) for row in told}) == 5
    assert [mutant for mutant in asked if mutant] == hunting.mutants_of("spatial", 5)
    run(*asking, "--resume")
    assert len([mutant for mutant in asked if mutant]) == 5


def test_resuming_needs_a_file_with_mutants(tmp_path):
    assert "needs the file of --json" in run("spatial", "--resume", code=2).stderr
    other = tmp_path / "other.json"
    other.write_text("[1]")
    said = run("spatial", "--resume", "--json", other, code=2).stderr
    assert "holds no mutants of an earlier hunt" in said
