"""The calculators answer by their names, with an error that is one, and refuse what cannot be."""

import numpy as np
import pytest

import saccade
from saccade.errors import InvalidInput
from saccade.lab import registry

STATE = {
    "dim": 80, "length": 7.5, "inverse_temperature": 0.6, "gamma": 0.8, "noise": 0.3, "kappa": 0.3,
    "nu": 0.5, "theta": -0.1, "eta": 0.2, "rho": 0.1}


def ask(name: str, **inputs):
    return saccade.calc(f"softmax-location.{name}", **inputs)


@pytest.mark.parametrize(
    "calculator",
    [one for one in registry.calculators("softmax-location") if "window" not in one.id],
    ids=lambda one: one.id)
def test_examples_answer_with_their_accuracy(calculator):
    answer = calculator(calculator.example)
    assert set(answer) == set(calculator.outputs)
    assert 0 < answer["accuracy"] < 1e-9


@pytest.mark.slow
def test_windows():
    unstable = ask("unstable-window", dim=10, length=100, gamma=3.5)
    assert [unstable["low"], unstable["high"]] == pytest.approx([0.1239506, 0.6156609], abs=1e-6)
    swapped = ask("swapped-window", dim=10, length=10)
    assert [swapped["low"], swapped["high"]] == pytest.approx([0.704234, 1.729269], abs=1e-6)
    assert ask("unstable-window", dim=20, length=10)["low"] is None


def test_risk_and_step_fit_each_other():
    """A small step lowers the risk by alpha times the squared tangent gradient."""
    here, alpha = ask("risk", **STATE), 1e-6
    moved = ask("step", **STATE, step_size=alpha)
    there = ask("risk", **(STATE | {name: moved[name] for name in here["gradient"]}))
    expected = sum(
        here["gradient"][name] * (moved[name] - STATE[name]) for name in here["gradient"])
    assert there["risk"] - here["risk"] == pytest.approx(expected, rel=1e-4) and expected < 0


def test_a_trajectory_begins_with_a_step():
    run = ask("trajectory", **STATE, step_size=0.01, steps=3, record=[1, 3])
    step = ask("step", **STATE, step_size=0.01)
    assert [run[name][0] for name in ("kappa", "rho")] == pytest.approx(
        [step["kappa"], step["rho"]], rel=1e-12)
    assert run["steps"] == [1, 3] and len(run["risk"]) == 2


def test_long_and_short_trajectories_agree():
    """2000 steps are taken from tables, 200 by integrals at every step."""
    rest = STATE | {"step_size": 0.01, "decay": 1e-3}
    rest["inverse_temperature"] = 0.3
    short = ask("trajectory", **rest, steps=200, record=[200])
    long = ask("trajectory", **rest, steps=9000, record=[200, 9000])
    assert long["kappa"][0] == pytest.approx(short["kappa"][0], abs=1e-9)
    assert long["accuracy"] < 1e-8


def test_noise_adds_its_variance():
    quiet = {"dim": 20, "length": 10}
    for name in ("argmax-risk", "bayes-risk"):
        difference = ask(name, **quiet, noise=0.5)["risk"] - ask(name, **quiet)["risk"]
        assert difference == pytest.approx(0.25)
    oracle = quiet | {"inverse_temperature": 2.0}
    difference = (
        ask("oracle-risk", **oracle, noise=0.5)["risk"] - ask("oracle-risk", **oracle)["risk"])
    assert difference == pytest.approx(0.25)


def test_real_lengths_interpolate():
    risks = [
        ask("oracle-risk", dim=20, length=n, inverse_temperature=1.0)["risk"] for n in (9, 9.5, 10)]
    assert risks[0] < risks[1] < risks[2]
    assert np.mean([risks[0], risks[2]]) == pytest.approx(risks[1], rel=1e-2)


@pytest.mark.parametrize(
    ("name", "inputs", "word"),
    [
        ("risk", STATE | {"length": 1}, "length"), ("risk", STATE | {"dim": 80.5}, "dim"),
        ("risk", STATE | {"kappa": 0.99, "nu": 0.99, "rho": 0.9}, "overlaps"),
        ("risk", STATE | {"inverse_temperature": 0}, "inverse_temperature"),
        ("risk", STATE | {"inverse_temperature": 1e4}, "inverse_temperature"),
        ("bayes-risk", {"dim": 10, "length": 5, "sees": "nothing"}, "sees"),
        ("trajectory", STATE | {"step_size": 0.1, "steps": 5, "record": [3, 2]}, "record"),
        ("trajectory", STATE | {"step_size": 0.1, "steps": 5, "record": [6]}, "record"),
        ("step", STATE, "step_size"), ("argmax-risk", {"dim": 10}, "length")])
def test_refusals_name_the_input(name, inputs, word):
    with pytest.raises(InvalidInput, match=word):
        ask(name, **inputs)
