"""Bad input to the calculators of single-location regression: one sentence that names the input,
its value and what is allowed."""

import numpy as np
import pytest

import saccade
from saccade.errors import Diverged, InvalidInput
from saccade.lab.calculator import find

PATH = {"step_size": 0.01, "steps": 10, "record": [1, 10]}
GOOD = {
    name: dict(find(f"single-location.{name}").example)
    for name in ("risk", "oracle-risk", "linear-risk", "zeta", "origin", "predict")}
GOOD |= {
    name: {**find(f"single-location.{name}").example, **PATH}
    for name in ("trajectory", "manifold-trajectory", "full-trajectory")}
GOOD["step"] = dict(find("single-location.step").example)
GOOD["swapped-state"] = GOOD["oracle-risk"]
GOOD["critical-inverse-temperature"] = dict(
    find("single-location.critical-inverse-temperature").example)
SETTING = ("risk", "step", "trajectory", "manifold-trajectory", "oracle-risk", "swapped-state")

NAN, INF = float("nan"), float("inf")
NOT_NUMBERS = [
    "10", "abc", True, False, None, [1.0], {}, NAN, INF, -INF, 1j, 10**400, np.bool_(True), [[1]]]


def refused(name, *words, error=InvalidInput, **changes):
    """The sentence with which the calculator refuses its example with `changes`; each of `words`
    must be in it."""
    with pytest.raises(error) as caught:
        saccade.calc(f"single-location.{name}", **{**GOOD[name], **changes})
    text = str(caught.value)
    assert "\n" not in text and text.endswith((".", "?")) and len(text) < 400
    for word in words:
        assert str(word) in text
    return text


@pytest.mark.parametrize("name", SETTING)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dim", 1), ("dim", 0), ("dim", -3), ("dim", 2.5), ("length", 0), ("length", -1),
        ("length", 1.5), ("gamma", 0), ("gamma", -1.0), ("inverse_temperature", 0),
        ("inverse_temperature", -0.5), ("noise", -0.1)])
def test_a_setting_that_no_task_can_have(name, field, value):
    refused(name, f"{field} = {value}", "must be", **{field: value})


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
@pytest.mark.parametrize("field", ["dim", "inverse_temperature", "kappa", "rho"])
def test_what_is_not_a_finite_number(field, value):
    refused("risk", f"{field} = ", "must be", **{field: value})


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, -1, -1e-9], ids=repr)
@pytest.mark.parametrize(
    "name", ["step", "trajectory", "manifold-trajectory", "full-trajectory", "origin"])
def test_step_sizes(name, value):
    refused(name, "step_size = ", "must be", step_size=value)


@pytest.mark.parametrize("name", ["trajectory", "manifold-trajectory", "full-trajectory"])
@pytest.mark.parametrize("steps", [0, -1, 2.5, "10", True, None, 10**9, 1e300, INF])
def test_numbers_of_steps(name, steps):
    refused(name, "steps = ", "must be", steps=steps)


@pytest.mark.parametrize("name", ["trajectory", "manifold-trajectory", "full-trajectory"])
@pytest.mark.parametrize(
    "record",
    [[], [2, 1], [1, 1], [0, 1], [-1], [11], [1.5], ["1"], [True], 5, "all", [[1]], [NAN]],
    ids=repr)
def test_steps_to_record(name, record):
    refused(name, "record", "must", record=record)


@pytest.mark.parametrize("decay", [-1e-3, "0", True, INF])
def test_decays(decay):
    refused("trajectory", "decay = ", "at least 0" if decay == -1e-3 else "must be", decay=decay)


@pytest.mark.parametrize("name", ["risk", "step", "trajectory"])
@pytest.mark.parametrize(
    "overlaps",
    [
        {"kappa": 1.01}, {"nu": -2}, {"rho": 1.5}, {"kappa": 0.8, "eta": 0.8},
        {"nu": 0.8, "theta": 0.8}, {"kappa": 1, "nu": 1, "rho": 0.5}])
def test_overlaps_of_no_vectors(name, overlaps):
    refused(name, next(iter(overlaps.values())), "must be", **overlaps)


def test_overlaps_at_the_edge_of_what_is_possible_are_taken():
    edge = {"kappa": 0.6, "eta": 0.8, "theta": 0.8, "nu": 0.6, "rho": 0.96}
    assert saccade.calc("single-location.risk", **{**GOOD["risk"], **edge})["risk"] > 0


@pytest.mark.parametrize("field", ["kappa", "nu"])
def test_overlaps_off_the_manifold_square(field):
    refused("manifold-trajectory", f"{field} = 1.2", "[-1, 1]", **{field: 1.2})


@pytest.mark.parametrize("field", ["k0", "v0", "k_star", "v_star"])
def test_directions(field):
    refused("full-trajectory", field, "= 3", "dim = 4", **{field: [1.0, 0.0, 0.0]})
    refused("full-trajectory", field, "= 0.5", "unit", **{field: [0.5, 0, 0, 0]})
    refused("full-trajectory", field, "= 0.0", "unit", **{field: [0, 0, 0, 0]})
    refused("full-trajectory", f"{field}[1] = nan", **{field: [1, NAN, 0, 0]})
    refused("full-trajectory", field, "must be a list", **{field: 1.0})


def test_true_directions_must_be_orthogonal():
    refused("full-trajectory", "k_star . v_star = 0.6", "must be 0", v_star=[0.6, 0.8, 0, 0])


@pytest.mark.parametrize(
    ("law", "word"),
    [
        ([0.5, 0.6], "sum"), ([0.2, 0.2], "sum"), ([1.5, -0.5], "at least 0"), ([], "empty"),
        ([0.5, "0.5"], "number"), ([0.5, None], "number"), (0.5, "list"), ([[0.5, 0.5]], "number"),
        ([0.01] * 99, "0.99")])
def test_location_laws(law, word):
    refused("linear-risk", "location_probabilities", word, location_probabilities=law)


def test_zeta_inputs():
    refused("zeta", "variance = -1", variance=-1)
    refused("zeta", "variance = [0.5", t=[1, 2], variance=[0.5])
    refused("zeta", "variance = [0.5", t=1, variance=[0.5, -1])
    refused("zeta", "t = 'x'", "number", t="x")
    refused("zeta", "t[1] = 'x'", "number", t=[1, "x"], variance=[1, 1])
    refused("zeta", "t = nan", "finite", t=NAN)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"X": [[[1, 2], [3]]]}, ("X = ", "as many")),
        ({"X": [[[1, 2]], [[1, 2], [3, 4]]]}, ("X = ", "as many")), ({"X": []}, ("X = []",)),
        ({"X": [[]]}, ("X = [[]]",)), ({"X": [[[]]]}, ("X = [[[]]]",)),
        ({"X": [[1, 2]]}, ("X[0][0] = 1", "list")),
        ({"X": [[[1, "a"], [1, 2]]]}, ("X[0][0][1] = 'a'", "number")),
        ({"X": [[[1, NAN], [1, 2]]]}, ("X[0][0][1] = nan", "finite")),
        ({"k": [1]}, ("k = 1", "must be 2")), ({"v": [1, 2, 3]}, ("v = 3", "must be 2")),
        ({"k": 1}, ("k = 1", "list")), ({"kind": "sofmax"}, ("kind = 'sofmax'", "softmax")),
        ({"kind": 1}, ("kind = 1", "argmax")),
        ({"inverse_temperature": 0}, ("inverse_temperature = 0", "above 0")),
        ({"inverse_temperature": None}, ("inverse_temperature", "missing"))])
def test_data_to_predict(changes, words):
    refused("predict", *words, **changes)


def test_a_temperature_is_asked_for_where_it_is_needed():
    given = {
        name: value for name, value in GOOD["predict"].items() if name != "inverse_temperature"}
    for kind in ("erf", "softmax"):
        with pytest.raises(InvalidInput, match="'inverse_temperature'"):
            saccade.calc("single-location.predict", **{**given, "kind": kind})


def test_critical_temperatures_that_do_not_exist():
    refused("critical-inverse-temperature", "length = 1", "at least 2", length=1)
    refused("critical-inverse-temperature", "gamma = 2", "no critical", dim=2, length=10, gamma=2)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("kapa", "kappa"), ("Nu", "nu"), ("lenght", "length"), ("temperature", "inverse_temperature")])
def test_a_misspelt_input_is_answered_with_the_nearest_name(wrong, right):
    given = {name: value for name, value in GOOD["risk"].items() if name != right}
    with pytest.raises(InvalidInput, match=f"named '{wrong}'; did you mean '{right}'"):
        saccade.calc("single-location.risk", **given, **{wrong: 0.5})


def test_missing_inputs_are_all_named():
    with pytest.raises(
        InvalidInput,
        match="'dim', 'length', 'inverse_temperature', 'kappa', 'nu', which are missing",
    ):
        saccade.calc("single-location.risk")
    with pytest.raises(InvalidInput, match="the input 'nu', which is missing"):
        saccade.calc(
            "single-location.risk",
            **{name: value for name, value in GOOD["risk"].items() if name != "nu"})


@pytest.mark.parametrize(
    "name", ["single-location.rsk", "single-locaton.risk", "risk", "Single-Location.Risk"])
def test_an_unknown_calculator_is_answered_with_the_nearest_name(name):
    with pytest.raises(InvalidInput, match=r"did you mean 'single-location\.risk'"):
        saccade.calc(name)


def test_a_name_that_is_no_word():
    with pytest.raises(InvalidInput, match="name of a calculator"):
        saccade.calc(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["step", "trajectory", "full-trajectory"])
def test_a_step_that_leaves_the_finite_numbers_says_so(name):
    off_manifold = {} if name == "full-trajectory" else {"theta": 0.1, "eta": 0.1, "rho": 0.1}
    refused(
        name, "step_size = 1e+300", "too large", error=Diverged, step_size=1e300, **off_manifold)


def test_numbers_too_large_to_compute_with_say_so():
    refused("risk", "not a finite number", error=Diverged, inverse_temperature=1e300)


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("linear-risk", {"gamma": 1e191}, ("gamma = 1e+191", "1e+150")),
        ("linear-risk", {"noise": 1e200}, ("noise = 1e+200", "1e+150")),
        (
            "linear-risk", {"gamma": 1e-200, "location_probabilities": [1.0]},
            ("gamma = 1e-200", "1e-150")),
        ("critical-inverse-temperature", {"gamma": 1.2e164}, ("gamma = 1.2e+164", "no critical"))])
def test_sizes_whose_squares_are_no_numbers(name, changes, words):
    refused(name, *words, **changes)


def test_a_tiny_spread_has_the_critical_temperature_of_none():
    found = saccade.calc(
        "single-location.critical-inverse-temperature", dim=400, length=10, gamma=5e-324)
    assert found["inverse_temperature"] == pytest.approx(3**0.5 / 2)
