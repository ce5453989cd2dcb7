"""The group-sparse calculators: outputs by name against plain NumPy written from the definitions,
and one sentence for bad input."""

import numpy as np
import pytest
from scipy import integrate
from scipy.special import expit

from saccade.errors import Diverged, InvalidInput
from saccade.lab import registry
from saccade.studies.group_sparse.theory.stability import StepSizeWarning

CALCULATORS = registry.calculators("group-sparse")

BY_NAME = {item.id.split(".")[1]: item for item in CALCULATORS}
LISTED = {
    "encoding": {"P", "gram_scale"},
    "model": {"labels", "attention", "output", "loss", "grad_W", "grad_v"},
    "two-steps": {"alpha", "gap", "a", "b", "first_alpha"},
    "position-only": {"steps", "alpha", "gap", "loss", "attention"},
    "position-loss": {"loss", "alpha_force", "attention_force", "attention"},
    "reduced-gradient": {"loss", "gradient", "preconditioner"},
    "late-laws": {"kappa", "loss", "alpha", "one_minus_attention"}, "error": {"error"},
    "position-matrix": {"W22"}, "screening": {"scores", "best", "lambda_max"}}


def ask(name: str, **inputs):
    return BY_NAME[name](inputs)


@pytest.mark.parametrize("name", list(LISTED))
def test_every_calculator_answers_its_example_with_the_listed_names(name):
    answer = BY_NAME[name](BY_NAME[name].example)
    assert LISTED[name] <= set(answer) <= set(BY_NAME[name].outputs)


def sine(groups: int) -> np.ndarray:
    i = np.arange(1, groups + 1)
    return np.sin(np.pi * np.outer(i, i) / (groups + 1))


@pytest.mark.parametrize("groups", [2, 5, 16])
def test_encoding_is_orthogonal_sines(groups):
    answer = ask("encoding", groups=groups)
    P = np.array(answer["P"])
    np.testing.assert_allclose(P, sine(groups), atol=1e-13)
    np.testing.assert_allclose(P.T @ P, answer["gram_scale"] * np.eye(groups), atol=1e-12)


def layer_loss(X, W, v, relevant, direction):
    """The layer sample by sample, query by query, as the definition says."""
    total = []
    for x in X:
        Z = np.vstack([x, sine(x.shape[1])])
        out = 0.0
        for j in range(x.shape[1]):
            scores = Z.T @ W @ Z[:, j]
            weights = np.exp(scores - scores.max())
            out += v @ Z @ (weights / weights.sum())
        y = 1.0 if direction @ x[:, relevant] >= 0 else -1.0
        total.append(np.logaddexp(0, -y * out))
    return np.mean(total)


def central_difference(function, point, step=1e-6):
    slopes = np.zeros_like(point)
    for place in np.ndindex(point.shape):
        moved = np.zeros_like(point)
        moved[place] = step
        slopes[place] = (function(point + moved) - function(point - moved)) / (2 * step)
    return slopes


@pytest.mark.parametrize(
    ("samples", "dim", "groups", "relevant"), [(4, 3, 2, 1), (6, 1, 4, 0), (5, 2, 3, 2)])
def test_model_is_the_definition_and_its_gradients_are_slopes(samples, dim, groups, relevant):
    rng = np.random.default_rng(groups)
    X, size = rng.normal(size=(samples, dim, groups)), dim + groups
    W, v, direction = (
        0.4 * rng.normal(size=(size, size)), rng.normal(size=size), rng.normal(size=dim))
    answer = ask("model", X=X, W=W, v=v, relevant=relevant, direction=direction)
    assert answer["loss"] == pytest.approx(layer_loss(X, W, v, relevant, direction), rel=1e-12)
    assert answer["labels"] == [1.0 if direction @ x[:, relevant] >= 0 else -1.0 for x in X]
    attention = np.array(answer["attention"])
    np.testing.assert_allclose(attention.sum(axis=1), 1.0, atol=1e-13)
    Z = np.concatenate([X, np.broadcast_to(sine(groups), (samples, groups, groups))], axis=1)
    np.testing.assert_allclose(
        answer["output"], np.einsum("m,nmi,nij->n", v, Z, attention), atol=1e-12)
    slope_W = central_difference(lambda w: layer_loss(X, w, v, relevant, direction), W)
    slope_v = central_difference(lambda u: layer_loss(X, W, u, relevant, direction), v)
    np.testing.assert_allclose(answer["grad_W"], slope_W, atol=1e-8)
    np.testing.assert_allclose(answer["grad_v"], slope_v, atol=1e-8)


def expectation(function, scale, others, points=400):
    """E over u = |N(0, scale^2)| and an independent N(0, scale^2 / others), by a fine product
    rule."""
    x, w = np.polynomial.legendre.leggauss(points)
    u, wu = 4.5 * (x + 1), 4.5 * w * np.sqrt(2 / np.pi) * np.exp(-((4.5 * (x + 1)) ** 2) / 2)
    m, wm = 9 * x, 9 * w * np.exp(-((9 * x) ** 2) / 2) / np.sqrt(2 * np.pi)
    values = function(scale * u[:, None], scale / np.sqrt(others) * m[None, :])
    return np.einsum("i,j,ij->", wu, wm, values)


@pytest.mark.parametrize(
    ("groups", "scale", "alpha", "gap"),
    [(2, 1.0, 1.5, 0.0), (8, 0.7, 0.8, 2.0), (5, 2.0, -0.4, 1.0), (12, 1.0, 2.0, -1.0)])
def test_position_loss_is_the_two_dimensional_expectation(groups, scale, alpha, gap):
    s = 1 / (1 + (groups - 1) * np.exp(-gap))
    mix = lambda u, m: s * u + (1 - s) * m  # noqa: E731
    residual = lambda u, m: expit(-alpha * groups * mix(u, m))  # noqa: E731
    answer = ask("position-loss", groups=groups, scale=scale, alpha=alpha, gap=gap)
    expected = {
        "loss": lambda u, m: np.logaddexp(0, -alpha * groups * mix(u, m)),
        "alpha_force": lambda u, m: groups * residual(u, m) * mix(u, m),
        "attention_force": lambda u, m: residual(u, m) * (u - m)}
    for name, function in expected.items():
        assert answer[name] == pytest.approx(expectation(function, scale, groups - 1), abs=1e-9)
    assert answer["attention"] == pytest.approx(s, rel=1e-13)


@pytest.mark.parametrize(
    ("groups", "scale", "step_size"), [(2, 1.0, 0.5), (6, 1.3, 0.4), (20, 1.0, 0.1)])
def test_position_only_is_the_stated_recursion(groups, scale, step_size):
    alpha = gap = 0.0
    rows, c = [(0.0, 0.0)], (groups + 1) / 2
    for _ in range(6):
        at = ask("position-loss", groups=groups, scale=scale, alpha=alpha, gap=gap)
        s = at["attention"]
        factor = step_size * c**2 * groups / (groups - 1) * s * (1 - s)
        alpha, gap = (
            alpha + step_size * at["alpha_force"], gap + factor * alpha * at["attention_force"])
        rows.append((alpha, gap))
    record = [6, 1, 3]
    answer = ask(
        "position-only", groups=groups, scale=scale, step_size=step_size, steps=10, record=record)
    assert answer["steps"] == record and answer["warning"] == ""
    np.testing.assert_allclose(
        np.stack([answer["alpha"], answer["gap"]], 1), [rows[i] for i in record], rtol=1e-11)
    last = ask("position-loss", groups=groups, scale=scale, alpha=rows[6][0], gap=rows[6][1])
    assert answer["loss"][0] == pytest.approx(last["loss"], rel=1e-11)


@pytest.mark.parametrize(
    ("groups", "scale", "step_size"), [(8, 1.0, 2.0), (2, 0.6, 1.0), (5, 1.4, 0.3)])
def test_two_steps_are_the_stated_expectations(groups, scale, step_size):
    answer = ask("two-steps", groups=groups, scale=scale, step_size=step_size)
    first, c, others = step_size * scale / np.sqrt(2 * np.pi), (groups + 1) / 2, groups - 1
    assert answer["first_alpha"] == pytest.approx(first, rel=1e-13) and answer["b"] == 0

    def mean(function):  # R = (D-1) m has the variance (D-1) sigma^2
        return expectation(
            lambda u, m: function(u, others * m, expit(-first * (u + others * m))), scale, others)

    bracket = lambda u, R: u**2 + R**2 / others + (groups - 2) * scale**2 - (u + R) ** 2 / groups  # noqa: E731
    assert answer["alpha"] == pytest.approx(
        first + step_size * mean(lambda u, R, p: p * (u + R)), abs=1e-10)
    gap = step_size * c**2 * first / groups * mean(lambda u, R, p: p * (u - R / others))
    assert answer["gap"] == pytest.approx(gap, abs=1e-9)
    a = step_size * first / groups * mean(lambda u, R, p: p * (u + R) * bracket(u, R))
    assert answer["a"] == pytest.approx(a, abs=1e-9)


def scores_of(orbits, groups, relevant):
    ss, so, os_, dd, oo = orbits
    M = np.full((groups, groups), oo)
    np.fill_diagonal(M, dd)
    M[relevant], M[:, relevant] = so, os_
    M[relevant, relevant] = ss
    return M


@pytest.mark.parametrize(("groups", "relevant"), [(2, 1), (3, 0), (6, 4)])
def test_position_matrix_gives_back_its_scores(groups, relevant):
    orbits = dict(zip(("m_ss", "m_so", "m_os", "m_dd", "m_oo"), (1.3, -0.4, 0.2, 0.9, -1.1)))
    W22 = np.array(ask("position-matrix", groups=groups, relevant=relevant, **orbits)["W22"])
    P = sine(groups)
    np.testing.assert_allclose(
        P.T @ W22 @ P, scores_of(orbits.values(), groups, relevant), atol=1e-12)


@pytest.mark.parametrize(("dim", "groups", "relevant"), [(3, 4, 2), (1, 3, 0), (2, 2, 1)])
def test_reduced_gradient_moves_the_full_layer(dim, groups, relevant):
    """Slopes of the layer's own loss along each coordinate; and loss and slopes agree with W, v
    assembled by hand."""
    rng = np.random.default_rng(dim)
    X, direction = rng.normal(size=(7, dim, groups)), rng.normal(size=dim)
    unit, P, c = direction / np.linalg.norm(direction), sine(groups), (groups + 1) / 2

    def loss(theta):
        alpha, a, b, *orbits = theta
        along = np.outer(unit, unit)
        W = np.zeros((dim + groups, dim + groups))
        W[:dim, :dim] = a * along + b * (np.eye(dim) - along)
        W[dim:, dim:] = P @ scores_of(orbits, groups, relevant) @ P.T / c**2
        return layer_loss(X, W, np.concatenate([alpha * unit, np.zeros(groups)]), relevant, unit)

    point = np.array([1.2, 0.3, -0.2, 0.6, 0.4, -0.3, 0.1, -0.5])
    answer = ask("reduced-gradient", X=X, direction=direction, relevant=relevant, coordinates=point)
    assert answer["loss"] == pytest.approx(loss(point), rel=1e-12)
    np.testing.assert_allclose(answer["gradient"], central_difference(loss, point), atol=1e-8)
    others = groups - 1
    across = 1 / (dim - 1) if dim > 1 else 0.0
    pairs = c**2 / (others * (groups - 2)) if groups > 2 else 0.0
    np.testing.assert_allclose(
        answer["preconditioner"], [1, 1, across, c**2, *[c**2 / others] * 3, pairs])


@pytest.mark.parametrize(
    ("groups", "scale", "step_size", "time"), [(4, 1.0, 0.5, 2e4), (64, 2.0, 0.1, 5e3)])
def test_late_laws_solve_their_equations(groups, scale, step_size, time):
    answer = ask("late-laws", groups=groups, scale=scale, step_size=step_size, time=time)
    # E log(1 + exp(-beta |x|)) ~ kappa / beta: the integral of log(1 + e^-x) times the density
    # sqrt(2/pi) at 0.
    kappa = np.sqrt(2 / np.pi) * integrate.quad(lambda x: np.log1p(np.exp(-x)), 0, np.inf)[0]
    assert answer["kappa"] == pytest.approx(kappa, rel=1e-9)
    abar = (3 * step_size * kappa / (groups * scale)) ** (1 / 3)
    assert answer["alpha"] == pytest.approx(abar * time ** (1 / 3), rel=1e-9)
    assert answer["loss"] == pytest.approx(kappa / (answer["alpha"] * groups * scale), rel=1e-9)
    k, c = answer["one_minus_attention"] * time ** (2 / 3), (groups + 1) / 2
    speed = step_size * c**2 * groups / (groups - 1) * abar
    bracket = kappa / (scale * groups**2 * abar**2) + k * scale / (
        (groups - 1) * np.sqrt(2 * np.pi))
    assert speed * k * bracket == pytest.approx(2 / 3, rel=1e-9)


def test_late_laws_meet_the_map():
    law = ask("late-laws", groups=4, step_size=0.5, time=20000)
    run = ask("position-only", groups=4, step_size=0.5, steps=20000, record=[20000])
    assert run["loss"][0] == pytest.approx(law["loss"], rel=0.01)
    assert 1 - run["attention"][0] == pytest.approx(law["one_minus_attention"], rel=0.01)


@pytest.mark.parametrize(("attention", "groups"), [(0.9, 8), (0.25, 4), (0.0, 3), (1.0, 5)])
def test_error_is_the_frequency_of_wrong_signs(attention, groups):
    rng, n = np.random.default_rng(0), 200_000
    u, others = rng.normal(size=n), rng.normal(size=(n, groups - 1))
    wrong = np.mean(
        np.sign(attention * u + (1 - attention) / (groups - 1) * others.sum(1)) != np.sign(u))
    # A frequency of at most one half on 2e5 draws has a standard error of at most 1.1e-3; 5 of
    # them.
    assert ask("error", attention=attention, groups=groups)["error"] == pytest.approx(
        wrong, abs=5.6e-3)


def test_screening_scores_by_hand():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(9, 2, 4)), rng.choice([-1.0, 1.0], 9)
    scores = [np.linalg.norm(X[:, :, g].T @ y) for g in range(4)]
    answer = ask("screening", X=X, labels=y)
    np.testing.assert_allclose(answer["scores"], scores, rtol=1e-13)
    assert answer["best"] == int(np.argmax(scores))
    assert answer["lambda_max"] == pytest.approx(max(scores) / 18, rel=1e-13)


DATA = [[[0.3, -1.2], [0.5, 0.4]]]
STATE = {"groups": 8, "alpha": 1.0, "gap": 2.0}
STEP = {"groups": 8, "step_size": 0.5}
RUN = STEP | {"steps": 10, "record": [10]}
LAYER = {
    "X": DATA, "W": np.zeros((4, 4)).tolist(), "v": [0.0] * 4, "relevant": 0,
    "direction": [1.0, 0.0]}
REDUCED = {"X": DATA, "direction": [1.0, 0.0], "relevant": 0, "coordinates": [0.0] * 8}
ORBITS = dict.fromkeys(("m_ss", "m_so", "m_os", "m_dd", "m_oo"), 0.0)
REFUSED = [
    ("encoding", {"groups": 1}, "groups = 1"), ("encoding", {"groups": 2.5}, "groups = 2.5"),
    ("encoding", {"groups": 100_000}, "groups = 100000"),
    ("encoding", {}, "needs the input 'groups'"), ("encoding", {"groups": 4, "grups": 3}, "grups"),
    ("two-steps", STEP | {"scale": 0.0}, "scale = 0.0"),
    ("two-steps", STEP | {"step_size": -0.1}, "step_size = -0.1"),
    ("two-steps", STEP | {"scale": float("nan")}, "scale = nan"),
    ("position-only", RUN | {"steps": 0}, "steps = 0"),
    ("position-only", RUN | {"record": [11]}, "record = 11"),
    ("position-only", RUN | {"record": [-1]}, "record = -1"),
    ("position-only", RUN | {"record": []}, "record"),
    ("position-only", RUN | {"groups": "eight"}, "groups = 'eight'"),
    ("position-loss", STATE | {"alpha": float("inf")}, "alpha = inf"),
    ("late-laws", STEP | {"time": 0.0}, "time = 0.0"),
    ("error", {"attention": 1.5, "groups": 4}, "attention = 1.5"),
    ("position-matrix", ORBITS | {"groups": 3, "relevant": 3}, "relevant = 3"),
    ("position-matrix", ORBITS | {"groups": 3, "relevant": -1}, "relevant = -1"),
    ("model", LAYER | {"direction": [0.0, 0.0]}, "direction = [0.0, 0.0]"),
    ("model", LAYER | {"relevant": 2}, "relevant = 2"),
    ("model", LAYER | {"W": [[0.0] * 4] * 3}, "W of shape"),
    ("model", LAYER | {"W": [[0.0] * 4, [0.0]]}, "W = [...]"),
    ("model", LAYER | {"v": [0.0] * 3}, "v of shape"),
    ("model", LAYER | {"X": [[[0.3], [0.5]]]}, "X of shape"),
    ("model", LAYER | {"X": [[[0.3, 1.0], [0.5]]]}, "X"), ("model", LAYER | {"X": []}, "X"),
    ("reduced-gradient", REDUCED | {"coordinates": [0.0] * 7}, "coordinates"),
    ("reduced-gradient", REDUCED | {"direction": [1.0]}, "direction = [1.0]"),
    ("screening", {"X": DATA, "labels": [0.5]}, "labels = [0.5]"),
    ("screening", {"X": DATA, "labels": [1, 1]}, "labels = [1")]


@pytest.mark.parametrize(("name", "inputs", "words"), REFUSED)
def test_bad_input_is_refused_with_one_sentence_that_names_it(name, inputs, words):
    with pytest.raises(InvalidInput) as caught:
        ask(name, **inputs)
    text = str(caught.value)
    assert words in text and "\n" not in text and text.endswith((".", "?"))


EDGES = [
    ("late-laws", STEP | {"time": 5e-324}),
    ("late-laws", STEP | {"time": 1.0, "step_size": 1e-308}),
    ("late-laws", STEP | {"time": 1e-300, "groups": 2**53, "step_size": 5e-324, "scale": 1e308}),
    ("late-laws", STEP | {"time": 5e-324, "step_size": 5e-324}),
    ("late-laws", STEP | {"time": 1e308, "step_size": 1e308, "scale": 1e-308}),
    ("two-steps", STEP | {"step_size": 1e308}), ("two-steps", STEP | {"scale": 1e308}),
    ("two-steps", STEP | {"step_size": 5e-324}), ("position-loss", STATE | {"alpha": 1e308}),
    ("position-loss", STATE | {"gap": -1e308}), ("error", {"attention": 0.5, "groups": 10**400}),
    ("encoding", {"groups": 10**30}), ("model", LAYER | {"direction": [5e-324, 0.0]}),
    ("model", LAYER | {"v": [1e308] * 4}), ("screening", {"X": [[[1e308, 1.0]]], "labels": [1]})]


@pytest.mark.parametrize(("name", "inputs"), EDGES)
def test_the_edges_of_the_numbers_get_an_answer_or_one_sentence(name, inputs):
    try:
        answer = ask(name, **inputs)
    except (Diverged, InvalidInput) as problem:
        assert "\n" not in str(problem) and str(problem).endswith(".")
    else:
        assert all(np.isfinite(value).all() for value in answer.values())


def test_the_late_laws_hold_where_their_products_would_leave_the_numbers():
    """t^(-1/3), t^(1/3) and t^(-2/3) from t = 1 to the smallest time there is."""
    usual, early = (ask("late-laws", **STEP, time=time) for time in (1.0, 5e-324))
    log = lambda name: np.log(early[name] / usual[name]) / np.log(5e-324)  # noqa: E731
    assert [log(name) for name in ("loss", "alpha", "one_minus_attention")] == pytest.approx(
        [-1 / 3, 1 / 3, -2 / 3], rel=1e-9)


def test_a_large_step_warns_with_the_rule_and_the_value():
    with pytest.warns(StepSizeWarning, match=r"= 32 is above the stability rule of 16"):
        answer = ask("position-only", groups=16, step_size=2.0, steps=50, record=[50])
    assert "stability rule of 16" in answer["warning"] and answer["attention"][0] < 1e-6


def test_divergence_names_its_step():
    with pytest.warns(StepSizeWarning), pytest.raises(Diverged, match=r"diverged at step [0-9]+"):
        ask("position-only", groups=8, step_size=1e300, steps=50, record=[50])


def test_whole_numbers_may_be_written_with_a_point():
    assert ask("encoding", groups=3.0) == ask("encoding", groups=3)
