"""Every calculator of single-location regression against independent code from the definitions, and
its names as promised."""

import json
import math

import numpy as np
import pytest
import single_location_reference as reference
from scipy.integrate import quad
from scipy.optimize import brentq

import saccade
from saccade.lab.calculator import find
from saccade.lab.registry import calculators

NAMES = reference.NAMES
COMMON = {"dim": None, "length": None, "inverse_temperature": None, "gamma": 2**-0.5, "noise": 0.0}
OVERLAPS = {"kappa": None, "nu": None, "theta": 0.0, "eta": 0.0, "rho": 0.0}
RUN = {"step_size": None, "steps": None, "record": None}
TRACE = {"steps", *NAMES, "risk"}
SETTING = ("dim", "length", "inverse_temperature", "gamma", "noise")

# What is promised: inputs with their defaults (None: must be given) and outputs.
TABLE = {
    "zeta": ({"t": None, "variance": None}, {"zeta"}),
    "risk": (COMMON | OVERLAPS, {"risk", "gradient"}),
    "step": (COMMON | OVERLAPS | {"step_size": None}, set(NAMES)),
    "trajectory": (COMMON | OVERLAPS | RUN | {"decay": 0.0}, TRACE),
    "manifold-trajectory": (COMMON | RUN | {"kappa": None, "nu": None}, {"steps", "kappa", "nu"}),
    "full-trajectory": (
        COMMON | RUN | dict.fromkeys(("k0", "v0", "k_star", "v_star")) | {"decay": 0.0}, TRACE),
    "oracle-risk": (COMMON, {"risk"}),
    "linear-risk": (
        {"location_probabilities": None, "gamma": 2**-0.5, "noise": 0.0}, {"risk", "coefficients"}),
    "origin": (
        {"dim": None, "inverse_temperature": None, "gamma": 2**-0.5, "step_size": None},
        {"hessian", "jacobian_eigenvalues"}),
    "critical-inverse-temperature": (
        {"dim": None, "length": None, "gamma": 2**-0.5}, {"inverse_temperature"}),
    "swapped-state": (COMMON, {"theta", "risk"}),
    "predict": (dict.fromkeys(("X", "k", "v", "inverse_temperature", "kind")), {"predictions"})}

# (dim, length, inverse_temperature, gamma, noise) and (kappa, nu, theta, eta, rho).
CASES = [
    ((80, 10, 0.6, 2**-0.5, 0.0), (0.3, 0.5, 0.0, 0.0, 0.0)),
    ((80, 10, 0.6, 2**-0.5, 0.3), (0.3, 0.5, -0.2, 0.4, 0.1)),
    ((12, 1, 1.3, 0.5, 0.2), (-0.6, 0.1, 0.3, 0.2, -0.4)),
    ((7, 2, 0.35, 1.4, 0.0), (0.1, -0.7, 0.5, -0.3, 0.2)),
    ((400, 10, 0.9, 2**-0.5, 0.0), (0.302, 0.947, -0.321, 0.953, 0.8057)),
    ((5, 3, 2.5, 1.0, 1.0), (0.0, 0.0, 0.0, 0.0, 0.9)),
    ((10**12, 4, 0.5, 0.8, 0.1), (1e-6, 0.4, 2e-6, 0.3, -0.2))]


def ask(name, setting=(), overlaps=(), **more):
    given = dict(zip(SETTING, setting)) | dict(zip(NAMES, overlaps))
    return saccade.calc(f"single-location.{name}", **given, **more)


def close(value, expected, tolerance=1e-10):
    np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", TABLE)
def test_names_and_defaults_are_those_promised(name):
    inputs, outputs = TABLE[name]
    fields = find(f"single-location.{name}").inputs.model_fields
    given = {field: info.default for field, info in fields.items() if not info.is_required()}
    assert given.pop("record", None) is None, "without it the end is recorded"
    assert given == {
        field: default for field, default in inputs.items()
        if default is not None or (name == "predict" and field == SETTING[2])}
    assert set(fields) == set(inputs)
    assert outputs <= set(find(f"single-location.{name}").outputs)


def test_nothing_of_the_table_is_missing_and_every_calculator_states_status_and_source():
    offered = {item.id: item for item in calculators("single-location")}
    assert set(offered) == {f"single-location.{name}" for name in TABLE}
    assert all(item.status and item.source and item.about for item in offered.values())


@pytest.mark.parametrize("name", TABLE)
def test_the_example_runs_and_gives_plain_values(name):
    calculator = find(f"single-location.{name}")
    found = calculator(calculator.example)
    assert set(found) - {"advice"} == set(calculator.outputs) - {"advice"}
    assert (
        json.loads(json.dumps(found, allow_nan=False)) == found
    )  # floats, lists, words: nothing of an array library


@pytest.mark.parametrize(
    ("t", "variance"),
    [(0.0, 0.5), (1.0, 0.5), (-2.3, 4.0), (0.4, 0.0), (30.0, 2.0), (1e-3, 1e-6), (0.0, 1e-8)])
def test_zeta_is_the_mean_square_of_erf(t, variance):
    def integrand(z):
        return (
            math.erf(t + math.sqrt(variance) * z) ** 2 * math.exp(-z * z / 2)
            / math.sqrt(2 * math.pi))

    expected = quad(integrand, -12, 12, epsabs=0, epsrel=1e-12, limit=200)[0]
    found = ask("zeta", t=t, variance=variance)["zeta"]
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-15)
    assert found == pytest.approx(reference.zeta(t, variance), rel=1e-11, abs=1e-15)


def test_zeta_of_lists_and_of_numbers():
    found = ask("zeta", t=[0, 1.0, 2], variance=[0.5, 0.5, 1])["zeta"]
    assert found == [ask("zeta", t=t, variance=s)["zeta"] for t, s in ((0, 0.5), (1, 0.5), (2, 1))]
    assert isinstance(ask("zeta", t=0, variance=1)["zeta"], float)


@pytest.mark.parametrize(("setting", "overlaps"), CASES)
def test_risk_and_gradient_are_those_of_the_definition(setting, overlaps):
    found = ask("risk", setting, overlaps)
    close(found["risk"], reference.risk(overlaps, *setting))
    slopes = reference.gradient(overlaps, *setting)
    np.testing.assert_allclose(
        [found["gradient"][name] for name in NAMES], slopes, rtol=1e-9,
        atol=1e-10 * abs(slopes).max())


def test_the_reference_itself_agrees_with_sampled_data():
    setting, overlaps = (6, 3, 0.6, 0.9, 0.4), (0.3, 0.5, -0.2, 0.4, 0.35)
    errors = reference.sampled_squared_errors(
        *reference.vectors(overlaps, 6), 200_000, setting, seed=1)
    standard_error = errors.std() / np.sqrt(errors.size)
    assert abs(ask("risk", setting, overlaps)["risk"] - errors.mean()) < 5 * standard_error
    assert standard_error < 0.01 * errors.mean()


def test_the_gradient_agrees_with_differences_of_the_risk():
    setting, overlaps = CASES[1]
    for place, name in enumerate(NAMES):
        ends = [
            [x + sign * 1e-4 * (place == other) for other, x in enumerate(overlaps)]
            for sign in (1, -1)]
        above, below = (ask("risk", setting, end)["risk"] for end in ends)
        close(ask("risk", setting, overlaps)["gradient"][name], (above - below) / 2e-4, 1e-5)


@pytest.mark.parametrize(("setting", "overlaps"), CASES[:5])
@pytest.mark.parametrize("step_size", [0.01, 0.7])
def test_a_step_is_that_of_explicit_vectors(setting, overlaps, step_size):
    found = ask("step", setting, overlaps, step_size=step_size)
    states, _ = reference.descend(*reference.vectors(overlaps), step_size, 1, setting)
    close([found[name] for name in NAMES], states[0], 1e-9)


@pytest.mark.parametrize(
    ("setting", "overlaps", "step_size", "decay"),
    [
        ((80, 10, 0.6, 2**-0.5, 0.3), (0.3, 0.5, -0.2, 0.4, 0.1), 2e-3, 0.05),
        ((9, 1, 1.1, 1.3, 0.0), (-0.2, 0.4, 0.3, 0.1, 0.2), 0.02, 0.0),
        ((30, 2, 0.4, 0.5, 0.2), (0.05, -0.1, 0.2, 0.1, 0.0), 0.01, 0.3)])
def test_a_trajectory_is_that_of_explicit_vectors(setting, overlaps, step_size, decay):
    record = [1, 2, 7, 60]
    found = ask(
        "trajectory", setting, overlaps, step_size=step_size, steps=80, decay=decay, record=record)
    states, risks = reference.descend(*reference.vectors(overlaps), step_size, 60, setting, decay)
    rows = np.array(record) - 1
    assert found["steps"] == record
    for place, name in enumerate(NAMES):
        close(found[name], states[rows, place], 1e-9)
    close(found["risk"], risks[rows], 1e-9)


def test_the_recorded_risk_uses_the_temperature_of_its_step():
    setting, overlaps = (40, 5, 0.8, 0.7, 0.1), (0.2, 0.3, 0.1, 0.1, 0.1)
    found = ask("trajectory", setting, overlaps, step_size=0.01, steps=5, decay=1.0, record=[1, 5])
    for row, inverse_temperature in enumerate((0.8, 0.8 / 5)):  # lambda/(1 + t) at t = 0 and t = 4
        state = [found[name][row] for name in NAMES]
        close(
            found["risk"][row], ask("risk", (40, 5, inverse_temperature, 0.7, 0.1), state)["risk"],
            1e-12)


def test_the_full_trajectory_equals_the_reduced_one_and_explicit_descent():
    rng = np.random.default_rng(3)
    setting = (11, 4, 0.5, 0.9, 0.2)
    basis, _ = np.linalg.qr(rng.normal(size=(11, 2)))
    k0, v0 = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 11)))
    k_star, v_star = basis.T
    run = {"step_size": 0.02, "steps": 50, "record": [1, 10, 50], "decay": 0.1}
    full = ask(
        "full-trajectory", setting, k0=k0.tolist(), v0=v0.tolist(), k_star=k_star.tolist(),
        v_star=v_star.tolist(), **run)
    reduced = ask("trajectory", setting, reference.overlaps_of(k0, v0, k_star, v_star), **run)
    states, risks = reference.descend(k0, v0, k_star, v_star, 0.02, 50, setting, 0.1)
    for place, name in enumerate(NAMES):
        close(full[name], reduced[name], 1e-11)
        close(full[name], states[[0, 9, 49], place], 1e-9)
    close(full["risk"], reduced["risk"], 1e-11)
    close(full["risk"], risks[[0, 9, 49]], 1e-9)
    assert full["steps"] == reduced["steps"] == [1, 10, 50]


def test_the_manifold_trajectory_is_the_two_overlap_map():
    setting, kappa, nu, step_size = (60, 8, 0.4, 0.6, 0.1), 0.1, -0.2, 0.05
    found = ask(
        "manifold-trajectory", setting, kappa=kappa, nu=nu, step_size=step_size, steps=100,
        record=[1, 3, 100])
    path = []
    for _ in range(100):
        slopes = reference.gradient((kappa, nu, 0, 0, 0), *setting)[:2]
        kappa, nu = (
            (x - step_size * slope * (1 - x**2))
            / math.sqrt(1 + step_size**2 * slope**2 * (1 - x**2))
            for x, slope in zip((kappa, nu), slopes))
        path.append((kappa, nu))
    close(np.transpose([found["kappa"], found["nu"]]), np.array(path)[[0, 2, 99]], 1e-10)


@pytest.mark.parametrize(
    "setting", [(80, 10, 0.6, 2**-0.5, 0.0), (20, 1, 1.5, 1.2, 0.5), (400, 3, 0.1, 0.4, 0.1)])
def test_the_oracle_risk_is_the_risk_at_the_true_directions(setting):
    found = ask("oracle-risk", setting)["risk"]
    close(found, reference.risk((1, 1, 0, 0, 0), *setting))
    close(found, ask("risk", setting, (1, 1))["risk"], 1e-12)


@pytest.mark.parametrize("law", [[1.0], [0.5, 0.5], [0.2, 0.0, 0.7, 0.1], [0, 1, 0]])
def test_the_linear_predictor_solves_the_normal_equations(law):
    gamma, noise, dim = 1.3, 0.4, 4
    k_star, v_star = np.eye(dim)[:2]
    moment = np.zeros((len(law) * dim, len(law) * dim))
    for place, p in enumerate(law):
        # E X_j X_j^T; different tokens are uncorrelated, since only one of them has a mean.
        block = (1 - p) * np.eye(dim) + p * (
            gamma**2 * np.eye(dim) + dim / 2 * np.outer(k_star, k_star))
        moment[place * dim : (place + 1) * dim, place * dim : (place + 1) * dim] = block
    with_label = np.concatenate([p * gamma**2 * v_star for p in law])
    weights = np.linalg.solve(moment, with_label)
    found = saccade.calc(
        "single-location.linear-risk", location_probabilities=law, gamma=gamma, noise=noise)
    close(np.kron(found["coefficients"], v_star), weights, 1e-13)
    close(found["risk"], gamma**2 + noise**2 - with_label @ weights, 1e-13)


@pytest.mark.parametrize(
    ("dim", "inverse_temperature", "gamma", "step_size"),
    [(400, 0.1, 2**-0.5, 0.004), (30, 1.2, 1.1, 0.02)])
def test_the_origin_has_the_curvature_of_the_risk(dim, inverse_temperature, gamma, step_size):
    found = ask(
        "origin", dim=dim, inverse_temperature=inverse_temperature, gamma=gamma, step_size=step_size
    )
    setting, h = (dim, 3, inverse_temperature, gamma, 0.0), 1e-4
    hessian = [
        (reference.gradient(h * move, *setting) - reference.gradient(-h * move, *setting))[:2]
        / (2 * h) for move in np.eye(5)[:2]]
    close(found["hessian"], hessian, 1e-5)
    close(
        found["jacobian_eigenvalues"],
        np.linalg.eigvalsh(np.eye(2) - step_size * np.array(found["hessian"])), 1e-12)
    assert found["jacobian_eigenvalues"] == sorted(found["jacobian_eigenvalues"])


@pytest.mark.parametrize(
    ("dim", "length", "gamma"),
    [(400, 10, 2**-0.5), (100, 10, 2**-0.5), (400, 2, 1.0), (10**9, 5, 0.8)])
def test_the_critical_inverse_temperature_is_the_root(dim, length, gamma):
    found = ask("critical-inverse-temperature", dim=dim, length=length, gamma=gamma)[
        "inverse_temperature"]

    def room(x):
        return 2 / math.sqrt(1 + 4 * x * x) + length - 2 - (length - 1) / (1 + 2 * gamma**2 / dim)

    close(found, brentq(room, 1e-3, 50, xtol=1e-14), 1e-6 if dim > 10**6 else 1e-10)


def test_the_oracle_stops_being_a_minimum_at_the_critical_inverse_temperature():
    critical = ask("critical-inverse-temperature", dim=400, length=10)["inverse_temperature"]
    smallest = [_smallest_curvature((400, 10, factor * critical)) for factor in (0.999, 1.001)]
    assert smallest[0] > 0 > smallest[1]


def _smallest_curvature(setting, h=1e-3):
    """Least eigenvalue of the risk's second derivatives as k turns towards v* and v towards k*, by
    differences."""

    def at(a, b):
        return reference.risk((np.cos(a), np.cos(b), np.sin(b), np.sin(a), np.sin(a + b)), *setting)

    along = [
        (at(h, 0) + at(-h, 0) - 2 * at(0, 0)) / h**2, (at(0, h) + at(0, -h) - 2 * at(0, 0)) / h**2]
    across = (at(h, h) + at(-h, -h) - at(h, -h) - at(-h, h)) / (4 * h**2)
    return np.linalg.eigvalsh([[along[0], across], [across, along[1]]])[0]


@pytest.mark.parametrize("setting", [(400, 10, 0.1, 2**-0.5, 0.0), (50, 3, 0.8, 1.2, 0.3)])
def test_the_swapped_state_is_a_fixed_point_that_descent_returns_to(setting):
    found = ask("swapped-state", setting)
    state = (0, 0, found["theta"], 1, 0)
    close(found["risk"], reference.risk(state, *setting))
    states, _ = reference.descend(*reference.vectors(state), 1e-3, 1, setting)
    close(states[0], state, 1e-12)
    close(reference.gradient(state, *setting)[2], 0.0, 1e-9)


def test_the_swapped_state_is_clipped_where_no_unit_vector_reaches_it():
    setting = (400, 10, 0.05, 2**-0.5, 0.0)
    found = ask("swapped-state", setting)
    assert found["theta"] == 1.0
    assert found["risk"] < ask("oracle-risk", setting)["risk"]


@pytest.mark.parametrize("kind", ["erf", "softmax", "argmax"])
def test_predictions_by_brute_force(kind):
    rng = np.random.default_rng(5)
    X, k, v = rng.normal(size=(4, 3, 5)), 3 * rng.normal(size=5), 0.2 * rng.normal(size=5)
    X[3] = X[3, 0]  # a tie of all tokens
    found = ask(
        "predict", X=X.tolist(), k=k.tolist(), v=v.tolist(), inverse_temperature=0.7, kind=kind
    )["predictions"]
    for sample, prediction in zip(X, found, strict=True):
        scores = [sum(a * b for a, b in zip(token, k)) for token in sample]
        if kind == "erf":
            weights = [math.erf(0.7 * score) for score in scores]
        elif kind == "softmax":
            weights = [
                1 / sum(math.exp(0.7 * (other - score)) for other in scores) for score in scores]
        else:
            weights = [float(place == scores.index(max(scores))) for place in range(3)]
        expected = sum(
            w * sum(a * b for a, b in zip(token, v)) for w, token in zip(weights, sample))
        close(prediction, expected, 1e-12)


def test_softmax_does_not_overflow_and_argmax_needs_no_temperature():
    X = [[[1000.0, 1.0], [0.0, 2.0]]]
    assert ask("predict", X=X, k=[1, 0], v=[0, 1], inverse_temperature=50, kind="softmax")[
        "predictions"] == [1.0]
    assert ask("predict", X=X, k=[-1, 0], v=[0, 1], kind="argmax")["predictions"] == [2.0]


def test_the_dimension_only_enters_through_the_risk():
    small = ask("trajectory", (10**9, 10, 0.3), (1e-5, 0.1), step_size=1e-6, steps=3, record=[3])
    states, _ = reference.descend(
        *reference.vectors((1e-5, 0.1, 0, 0, 0)), 1e-6, 3, (10**9, 10, 0.3))
    close([small[name][0] for name in NAMES], states[-1], 1e-9)


def test_a_step_past_the_edge_of_stability_is_answered_with_advice():
    run = {"steps": 10, "record": [10]}
    stiff = ask("trajectory", (400, 10, 1.0), (0.1, 0.1), step_size=4e-3, **run)
    assert "edge of stability" in stiff["advice"]
    assert "advice" not in ask("trajectory", (400, 10, 1.0), (0.1, 0.1), step_size=1e-3, **run)


def test_arrays_numpy_scalars_and_whole_floats_are_taken():
    plain = ask("trajectory", (80, 10, 0.6), (0.3, 0.5), step_size=0.001, steps=3, record=[1, 3])
    other = ask(
        "trajectory", (np.int64(80), 10.0, np.float64(0.6)), (0.3, 0.5), step_size=0.001, steps=3.0,
        record=np.array([1.0, 3.0]))
    assert other == plain
    assert ask("predict", X=np.ones((2, 2, 2)), k=(1, 0), v=np.ones(2), kind="argmax")[
        "predictions"] == [2.0, 2.0]
