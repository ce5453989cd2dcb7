"""What is said while one waits: nothing to a file, one line with the time left to a terminal."""

import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.estimators import BagClassifierCV, progress
from saccade.estimators.progress import Progress


def test_the_time_left_is_that_of_the_pieces_left():
    clock = iter([0.0, 2.0, 2.0, 5.0, 5.0, 8.0, 8.0])
    done = Progress(["quick", "slow"] * 3, on=False, clock=lambda: next(clock))
    done("quick")
    assert done.seconds_left() is None  # nobody knows how long the slow one takes
    done("slow")
    assert done.seconds_left() == pytest.approx(2 * 2 + 2 * 3)
    done("quick")  # three seconds this time
    assert done.seconds_left() == pytest.approx(2.5 + 2 * 3)


@pytest.mark.parametrize(
    ("verbose", "terminal", "says"),
    [(True, False, True), (False, True, False), ("auto", True, True), ("auto", False, False)])
def test_who_is_told(verbose, terminal, says, capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: terminal, raising=False)
    X, y = np.random.default_rng(0).standard_normal((40, 3, 2)), np.arange(40) % 2
    BagClassifierCV(("mean", "lme"), verbose=verbose).fit(X, y)
    text = capsys.readouterr().err
    lines = text.split("\r")
    assert bool(text) is says
    if says:
        assert "fitting lme: 1 of 6 done" in text and "left" in text and "to all bags" in text
        assert lines[-1] == "" and lines[-2].strip() == ""  # and the line is gone in the end


def test_another_word_is_refused():
    with pytest.raises(InvalidInput, match="verbose = 'loud' must be True, False or 'auto'"):
        BagClassifierCV(verbose="loud").fit(np.zeros((4, 2, 1)), [0, 1, 0, 1])
