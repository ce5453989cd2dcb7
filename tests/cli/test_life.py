"""The first minute of somebody new: help and something to try, a sign of life within seconds, and
times left that are not made of compiling."""

import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from saccade.cli import app, life, progress

SLOW = """
import sys, time
from saccade.cli import app

@app.command("slow")
def slow(talks: bool = False) -> None:
    if talks:
        print("talking", file=sys.stderr, flush=True)
    time.sleep(3)
app(sys.argv[1:])
"""


def test_the_bare_command_helps_and_says_what_to_try():
    made = subprocess.run([sys.executable, "-m", "saccade"], capture_output=True, text=True)
    assert made.returncode == 0 and made.stderr == "" and "Commands:" in made.stdout
    tries = made.stdout.split("Three things to try:\n")[1].splitlines()
    assert len(tries) == 3 and all(line.startswith("  saccade ") for line in tries)
    for line in tries:  # and they exist
        words = line.split("   ")[0].split()[1:2]
        assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0


def test_a_silent_command_shows_that_it_is_alive_within_three_seconds():
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "slow"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    took = time.monotonic() - begun
    assert line == "saccade: slow is at work; importing and compiling come first.\n"
    assert took < 3.0 + 5.0  # the promise, and more for a machine that is busy
    assert process.communicate()[1] == "" and process.returncode == 0


SPY = """
import os, sys
from saccade.cli import app, life

class Spy:
    def find_spec(self, module, *_):
        if module in ("numpy", "jax"):
            os._exit(77)
sys.meta_path.insert(0, Spy())
life.SILENT, life.SLOW = 60.0, float(sys.argv[1])
app(sys.argv[2:])
"""
LONG = [
    "verify SL-Z", "reproduce", "figure single-location/4a", "report", "train sparse-recovery",
    "plan sparse-token --length 10 --signal 5 --target-error 0.05", "bench single-location",
    "sweep sparse-token/winner", "mutants single-location", "diagnose bags.csv", "atlas",
    "data check"]


def until_it_imports(words, slow, tmp_path):
    """What a command says before the first array library is imported, and whether one was."""
    made = subprocess.run(
        [sys.executable, "-c", SPY, str(slow), *words.split()], capture_output=True, text=True,
        cwd=tmp_path, check=False)
    return made.stderr, made.returncode == 77


@pytest.mark.parametrize("words", LONG)
def test_a_long_command_speaks_before_it_imports_what_computes(words, tmp_path):
    (tmp_path / "bags.csv").write_text("bag,label,a\n1,0,0.5\n")
    said, imports = until_it_imports(words, 60, tmp_path)
    assert imports and said.startswith("saccade: ") and said.count("\n") >= 1


def test_a_short_command_speaks_only_where_it_is_slow(tmp_path):
    words = "calc single-location.zeta t=1 variance=0.5"
    assert until_it_imports(words, 60, tmp_path) == ("", True)
    said, imports = until_it_imports(words, 0, tmp_path)
    assert imports and said == "saccade: calc is at work; importing and compiling come first.\n"


def test_a_command_that_talks_is_left_alone():
    made = subprocess.run(
        [sys.executable, "-c", SLOW, "slow", "--talks"], capture_output=True, text=True)
    assert made.stderr == "talking\n"


def test_streams_are_given_back():
    before = sys.stdout, sys.stderr
    with life.signs_of_life():
        assert sys.stdout is not before[0]
    assert (sys.stdout, sys.stderr) == before


def test_compiling_is_not_taken_for_pace(monkeypatch, capsys):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    lines = progress.Lines(10)
    for moment, text in ((100.0, "one"), (111.0, "two")):  # compiled; then a step in 11 s
        clock[0] = moment
        lines(1, text)
    said = capsys.readouterr().err.splitlines()
    assert said == ["one (just begun)", "two (about 88 seconds left)"]


@pytest.mark.parametrize("name", ["explore", ""])
def test_some_say_their_own_piece(name, capsys):
    quiet = life.Life()
    quiet.context = type("Context", (), {"invoked_subcommand": name})
    quiet.say()
    assert capsys.readouterr().err == ""
