"""Manners of the command line: quiet and plain without a terminal, examples everywhere, names
completed without a heavy import."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest
import typer
from typer.testing import CliRunner

from saccade.cli import app, completion
from saccade.cli.progress import SILENCE, Lines, lively
from saccade.lab import registry

RUNNER = CliRunner()


def every_command():
    """The words of every command, groups and their members included."""
    found = []
    for name, item in typer.main.get_command(app).commands.items():
        found += [(name,), *((name, below) for below in getattr(item, "commands", {}))]
    return found


@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_every_help_has_an_example_and_loses_no_words(words):
    text = RUNNER.invoke(app, [*words, "--help"]).stdout
    said = " ".join(text.split())
    assert re.search(rf"Examples?: .*saccade {' '.join(words)}", said), said
    assert not re.search(r" \.( |$)", said) and "[default: $" not in said, (
        "square brackets of a help text were taken for mark-up")


def on_a_terminal(*arguments, **environment):
    """What a command writes to a terminal of its own."""
    ours, theirs = pty.openpty()
    settings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "saccade", *arguments], stdout=theirs, stderr=theirs, env=settings)
    os.close(theirs)
    heard = b""
    until = time.monotonic() + 300
    while time.monotonic() < until and (
        process.poll() is None or select.select([ours], [], [], 0)[0]
    ):
        try:
            if select.select([ours], [], [], 0.5)[0]:
                heard += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    assert process.wait(timeout=30) == 0
    os.close(ours)
    return heard.decode()


@pytest.mark.parametrize("words", [[], ["plan"], ["runs"], ["data"]])
def test_a_command_without_its_verb_answers_with_its_help(words):
    result = RUNNER.invoke(app, words)
    assert result.exit_code == 0
    assert "Usage: saccade" in result.stdout and "Commands" in result.stdout


def test_a_terminal_gets_frames_and_colours():
    text = on_a_terminal("verify", "--help")
    assert "\x1b[" in text and "─" in text


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [(("--help",), {"TERM": "dumb"}), (("--help", "--plain"), {}), (("--plain", "--help"), {})])
def test_plain_is_plain_wherever_it_is_asked_for(arguments, environment):
    text = on_a_terminal(*arguments, **environment)
    assert "\x1b" not in text and "─" not in text and "Usage: saccade" in text


def test_no_colour_leaves_the_frames():
    text = on_a_terminal("verify", "--help", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", text) and "─" in text


def test_a_plain_table_on_a_terminal_has_no_colours():
    text = on_a_terminal("runs", "list", "--plain")
    assert "\x1b" not in text and "runs" in text


def test_plain_after_two_dashes_is_a_word_like_any_other():
    result = RUNNER.invoke(app, ["list", "--", "--plain"])
    assert result.exit_code == 2 and "'--plain'" in result.stderr
    assert "SACCADE_PLAIN" not in os.environ


def test_nothing_moves_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert lively()
    for name, value in (("TERM", "dumb"), ("SACCADE_PLAIN", "1")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            assert not lively()


def test_a_log_gets_few_lines_with_the_time_left_and_the_last_one(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    lines = Lines(100)
    for number in range(100):
        clock[0] += SILENCE / 4
        lines(1, f"piece {number}")
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 25 and said[-1] == "piece 99"
    assert said[0] == "piece 3 (about 4 minutes left)"


def test_short_work_is_quiet(capsys):
    lines = Lines(3)
    for word in ("one", "two", "three"):
        lines(1, word)
    assert capsys.readouterr().err == "three\n"


def test_names_for_the_shell_are_names_that_exist():
    offered = {
        "claims": (completion.claims, registry.claims(), 0.85),
        "figures": (completion.figures, registry.figures(), 0.85),
        "calculators": (completion.calculators, registry.calculators(), 1.0),
        "benchmarks": (completion.benchmarks, registry.benchmarks(), 0.6)}
    for what, (complete, items, share) in offered.items():
        real = {item.id for item in items}
        named = {
            name for name in complete("") if ("." in name or "/" in name) and not name.endswith("*")
        }
        assert len(named & real) >= share * len(real), what
        # The two rows against PyTorch exist only where it is installed.
        assert len(named - real) <= max(0.05 * len(real), 2), (what, named - real)
    assert completion.claims("single-location.zet") and all(
        name.startswith("single-location.zet") for name in completion.claims("single-location.zet"))
    assert [name for name, _ in completion.studies("sparse-r")] == ["sparse-recovery"]


def test_the_built_in_sweeps_are_completed():
    from saccade.lab import registry

    assert set(completion.sweeps("")) == {item.id for item in registry.sweeps()}


def completed(line):
    words = line.split(" ")
    asked = {
        "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_SACCADE_COMPLETE": "complete_bash"}
    script = (
        "import sys; from saccade.cli import app\ntry: app(prog_name='saccade')\nfinally:"
        " print('jax' in sys.modules, file=sys.stderr)")
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, **asked})
    assert found.stderr.strip().endswith("False"), "pressing Tab imported an array library"
    return found.stdout.split()


def test_the_shell_completes_claims_figures_and_scales_without_a_heavy_import():
    assert "single-location.zeta" in completed("saccade verify single-location.z")
    assert "spatial/portrait" in completed("saccade figure spatial/p")
    assert completed("saccade verify --scale st") == ["standard"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown_for_a_shell(shell, monkeypatch):
    # Otherwise typer asks which shell started it, and under a test runner there may be none.
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    text = RUNNER.invoke(app, ["--show-completion", shell], prog_name="saccade").stdout
    assert "_SACCADE_COMPLETE" in text or "saccade" in text


def test_a_store_is_checked_and_merged_in_json(tmp_path):
    empty, other = str(tmp_path / "a"), str(tmp_path / "b")
    (tmp_path / "a").mkdir()
    found = json.loads(RUNNER.invoke(app, ["runs", "check", "--store", empty, "--json"]).stdout)
    assert found == {
        "good": 0, "damaged": {}, "strange": [],
        "leftovers": {"removed": 0, "perhaps in use": 0, "set aside": 0}}
    made = json.loads(RUNNER.invoke(app, ["runs", "merge", empty, other, "--json"]).stdout)
    assert made == {"copied": 0, "present": 0, "conflicts": [], "damaged": {}}


def test_the_place_of_the_output_is_the_last_line(tmp_path, fresh_store, monkeypatch):
    picture, ledger, page = (
        tmp_path / "three.png", tmp_path / "l.json", tmp_path / "report" / "index.html")
    for arguments, place in (
        (("figure", "single-location/3", "-o", str(picture)), picture),
        (("verify", "SL-Z", "--json", str(ledger)), ledger),
        (("new-study", "my-study", "--into", str(tmp_path)), tmp_path / "saccade-my-study"),
    ):
        assert RUNNER.invoke(app, list(arguments)).stdout.splitlines()[-1].endswith(str(place)), (
            arguments)
    monkeypatch.setattr(
        registry, "figures", lambda study=None: [])  # all of them would take minutes
    result = RUNNER.invoke(app, ["report", "--ledger", str(ledger), "-o", str(page.parent)])
    assert result.output.splitlines()[-1] == f"Report: {page}" and " MB" in result.stderr
