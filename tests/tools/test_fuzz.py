"""Seeded random inputs to every calculator and command: an answer or one sentence, in time."""

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import fuzz

from saccade.errors import InvalidInput
from saccade.lab.calculator import calculator

SEED, COUNT, PARTS = 1, 300, 6


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_input_ends_in_a_traceback_or_takes_too_long(part):
    failures = fuzz.fuzz(COUNT, SEED, numbers=range(part, COUNT, PARTS))
    assert not failures, "\n".join(fuzz.summary(failures))


def test_a_case_is_decided_by_seed_and_number():
    calculators = fuzz.registry.calculators("spatial")
    first, again, other = (
        [fuzz.draw_case(seed, number, calculators, commands=False) for number in range(20)]
        for seed in (1, 1, 2))
    assert repr(first) == repr(again) != repr(other)


@calculator("toy.broken", outputs={"y": "1 / x"}, source="ours", example={"x": 1.0})
def broken(x: float):
    """One over x."""
    if x > 1e3:
        raise InvalidInput("first line\nsecond line")
    return {"y": 1 / x}


@pytest.mark.parametrize(
    ("x", "problem"),
    [(0.0, "ZeroDivisionError"), (1e4, "no sentence"), (2.0, None), ("word", None)])
def test_a_broken_calculator_is_seen(x, problem):
    wrong = fuzz.outcome(fuzz.Case("toy.broken", {"x": x}), {"toy.broken": broken})
    assert (wrong is None) if problem is None else wrong[0].startswith(problem)


@pytest.mark.parametrize("limit", ["MOST_SECONDS", "LONGEST"], ids=["works", "sleeps"])
def test_a_calculator_that_hangs_is_seen(monkeypatch, limit):
    @calculator("toy.slow", outputs={}, source="ours", example={})
    def slow():
        """For ever."""
        while True:
            time.sleep(0.01 if limit == "LONGEST" else 0)

    monkeypatch.setattr(fuzz, limit, 0.2)
    wrong = fuzz.outcome(fuzz.Case("toy.slow", {}), {"toy.slow": slow})
    assert wrong is not None and wrong[0].startswith("no answer within")
