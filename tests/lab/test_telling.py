"""Long work from Python speaks after two seconds, with the time left, and can be silenced."""

import inspect
import time

import numpy as np
import pytest

import saccade
from saccade.lab import telling
from saccade.lab.telling import Followed, Telling
from saccade.lab.workers import Piece, carry_out


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(telling, "PATIENCE", 0.05)
    monkeypatch.setattr(telling, "BETWEEN", 0.1)


def test_short_work_is_silent(capsys):
    with Telling("work"):
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


def test_pieces_are_followed_with_the_time_left(impatient, capsys):
    pieces = [Piece(name, time.sleep, (0.15,), 60.0) for name in ("one", "two")]
    with Followed("saccade.verify") as watch:
        carry_out(pieces, watch=watch)
    first, *_ = lines = capsys.readouterr().err.splitlines()
    assert first.startswith("saccade.verify: 0 of 2 done, one (about ")
    assert any("1 of 2 done, two" in line for line in lines)
    assert all(line.endswith(" left)") for line in lines)


def test_amounts_say_the_time_left_and_without_any_the_time_so_far(impatient, capsys):
    with Telling("saccade.sweep", 4) as tell:
        time.sleep(0.08)
        for number in range(4):
            tell(1, f"{number + 1} of 4 cells")
            time.sleep(0.12)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "saccade.sweep (1 seconds so far)"
    assert "saccade.sweep: 2 of 4 cells (about 1 seconds left)" in lines


def test_a_log_of_the_command_line_hears_of_work_that_has_no_parts(impatient, capsys):
    from saccade.cli.progress import busy

    with busy("drawing x", 60.0):
        time.sleep(0.1)
    assert capsys.readouterr().err.splitlines()[0] == "saccade: drawing x (about 60 seconds left)"


@pytest.mark.parametrize("how", ["argument", "environment"])
def test_it_can_be_turned_off(impatient, capsys, monkeypatch, how):
    if how == "environment":
        monkeypatch.setenv("SACCADE_QUIET", "1")
    with Telling("work", wanted=how != "argument"):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_the_verbs_speak_from_python(impatient, capsys, fresh_store, monkeypatch):
    from saccade.lab import run

    compute = run._compute

    def slow(*arguments):
        time.sleep(0.3)
        return compute(*arguments)

    monkeypatch.setattr(run, "_compute", slow)
    small = {"dim": 50, "steps": 40, "repetitions": 2, "record_every": 20}
    saccade.run("single-location.descent", small)
    assert "saccade.run: single-location.descent (" in capsys.readouterr().err
    saccade.figure("single-location/4a", small, seed=1)
    assert "saccade.figure: single-location/4a (about " in capsys.readouterr().err
    saccade.figure("single-location/4a", small, seed=2, progress=False)
    saccade.run("single-location.descent", small, seed=3, progress=False)
    assert capsys.readouterr().err == ""
    saccade.verify("SL-Z")
    assert "saccade.verify: single-location.zeta (about" in capsys.readouterr().err


def test_editors_complete_what_a_verb_takes():
    """No option of a public function hides behind **keywords, which hold parameters only."""
    names = set(inspect.signature(saccade.sweep).parameters)
    assert {"axes", "fixed", "cells", "samples", "design", "scale", "replicates", "seed"} <= names
    for verb in (saccade.verify, saccade.figure, saccade.run, saccade.sweep, saccade.report):
        assert "progress" in inspect.signature(verb).parameters
    keyworded = {
        name for name in saccade.__all__ if inspect.isfunction(one := getattr(saccade, name))
        and any(p.kind is p.VAR_KEYWORD for p in inspect.signature(one).parameters.values())}
    assert keyworded == {"calc", "figure", "run", "sweep", "verify"}


def test_an_unknown_word_of_a_sweep_is_refused_with_the_nearest():
    with pytest.raises(saccade.InvalidInput, match="did you mean 'axes'"):
        saccade.sweep("single-location.risk", axis={"kappa": np.array([0.1])})
