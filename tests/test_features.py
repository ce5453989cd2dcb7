"""The page of features: every row that can be run in seconds is run as it stands."""

import re
import shlex
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from typer.testing import CliRunner

import saccade
from saccade.cli import app

PAGE = Path(__file__).resolve().parent.parent / "docs" / "features.md"
ROW = re.compile(r"^\| (\d+) \| (.*?) \| (.*) \|$", re.MULTILINE)
CALL = re.compile(r"`([^`]+)`( ¹)?")
COMMANDS = ("saccade ", "make ", "pip ")
FILES = ("constraints.txt",)


def rows() -> dict[int, str]:
    return {int(number): how for number, _, how in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def calls(how: str) -> list[str]:
    """What a row says to type, but for what it marks as long."""
    return [text for text, long in CALL.findall(how) if not long and text not in FILES]


def test_all_forty_are_there_and_few_are_only_told():
    assert list(rows()) == list(range(1, 41))
    assert [number for number, how in rows().items() if not calls(how)] == [
        29, 31, 33, 34, 35, 37, 38]


@pytest.fixture(scope="module")
def names():
    preamble = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    made: dict = {}
    exec(preamble[0], made)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("number", [number for number, how in rows().items() if calls(how)])
def test_a_row_can_be_called_as_it_stands(number, names, tmp_path, monkeypatch, fresh_store):
    monkeypatch.chdir(tmp_path)
    for text in calls(rows()[number]):
        if text.startswith("saccade "):
            answer = CliRunner().invoke(app, shlex.split(text)[1:])
            expected = 2 if f"`{text}` (exit code 2)" in rows()[number] else 0
            assert answer.exit_code == expected, (text, answer.output)
            assert answer.output.strip()
        else:
            assert not text.startswith(COMMANDS)
            value = eval(text, names)
            assert repr(value), text
    plt.close("all")


def test_what_is_only_told_names_commands_and_things_that_there_are():
    long = [text for how in rows().values() for text, mark in CALL.findall(how) if mark]
    assert len(long) >= 8
    makefile = (PAGE.parent.parent / "Makefile").read_text(encoding="utf-8")
    for text in long:
        program, verb = shlex.split(text)[:2]
        if program == "make":
            assert re.search(rf"^{verb}:", makefile, re.MULTILINE), text
        elif program == "saccade":
            assert CliRunner().invoke(app, [verb, "--help"]).exit_code == 0, text
    claims = {row["id"] for row in saccade.list("group-sparse").claims}
    assert any(name.startswith("group-sparse.transfer") for name in claims)
    assert "sparse-token/maps" in {row["id"] for row in saccade.list("sparse-token").figures}
