"""The spatial calculators: outputs by name against plain NumPy from the definitions, listing every
image; one sentence for bad input."""

import itertools

import numpy as np
import pytest

from saccade.errors import Diverged, InvalidInput
from saccade.lab import registry

CALCULATORS = registry.calculators("spatial")

BY_NAME = {item.id.split(".")[1]: item for item in CALCULATORS}
LISTED = {
    "association": {
        "exact", "row_fraction", "overlap", "off_diagonal_overlap", "off_diagonal_row_fraction",
        "margin"},
    "label": {"value"}, "label-error": {"error"}, "linear-error": {"bayes", "sign"},
    "model": {"output", "loss", "grad_A", "grad_v"},
    "population": {"loss", "error", "grad_same", "grad_other", "grad_alpha"},
    "population-descent": {"alpha", "gamma", "rho", "loss"},
    "attention-weights": {"diagonal_weight", "same_weight", "other_weight", "gain"},
    "cheat": {"error", "loss", "overlap"}, "shuffle": {"image"}}
POPULATION = {
    "patches": 6, "set_size": 3, "spurious_rate": 0.4, "degree": 3, "slope": 0.02, "diagonal": 0.7,
    "alpha": 0.2}


def ask(name: str, **inputs):
    return BY_NAME[name](inputs)


@pytest.mark.parametrize("name", list(LISTED))
def test_every_calculator_answers_its_example_with_the_listed_names(name):
    answer = BY_NAME[name](BY_NAME[name].example)
    assert LISTED[name] <= set(answer) <= set(BY_NAME[name].outputs)


def every_image(labels, q):
    """(signals, y, probability) of all images, by the definition of the data."""
    labels = np.asarray(labels)
    sets = labels.max() + 1
    for y, signal in itertools.product((1, -1), range(sets)):
        for spurious in itertools.product((-1, 0, 1), repeat=int(np.sum(labels != signal))):
            x = np.full(len(labels), float(y))
            x[labels != signal] = spurious
            chance = np.prod([q / 2 if one else 1 - q for one in spurious])
            if chance > 0:
                yield x, y, chance / (2 * sets)


def plain_layer(x, A, alpha, degree, slope):
    S = np.exp(A) / np.exp(A).sum(axis=1, keepdims=True)
    z = len(A) * alpha * S @ x
    return np.sum(z**degree + slope * z)


def plain_population(labels, A, alpha, q, degree, slope):
    images = list(every_image(labels, q))
    margins = np.array([y * plain_layer(x, A, alpha, degree, slope) for x, y, _ in images])
    weights = np.array([chance for *_, chance in images])
    tie = np.abs(margins) <= 1e-9 * np.abs(margins).max()
    return (
        weights @ np.logaddexp(0, -margins),
        weights[(margins < 0) & ~tie].sum() + weights[tie].sum() / 2)


def three_valued(labels, beta, gamma, rho):
    labels = np.asarray(labels)
    A = np.where(labels[:, None] == labels, gamma, rho).astype(float)
    np.fill_diagonal(A, beta)
    return A


@pytest.mark.parametrize("q", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(
    ("labels", "gamma", "rho"),
    [((0, 1, 0, 1, 0, 1), 0.6, -0.2), ((0, 1, 2, 2, 0, 1), 0.0, 0.0), ((0, 1, 2, 3), 0.0, 0.3)])
def test_population_is_the_sum_over_every_image_and_its_gradient_the_difference_quotient(
    labels, gamma, rho, q
):
    D, C = len(labels), len(labels) // (max(labels) + 1)
    setting = POPULATION | {"patches": D, "set_size": C, "spurious_rate": q}
    got = ask("population", **setting, gamma=gamma, rho=rho)

    def loss(alpha=0.2, bump=None, by=0.0):
        A = three_valued(labels, 0.7, gamma, rho)
        if bump:
            A[bump] += by
        return plain_population(labels, A, alpha, q, 3, 0.02)

    plain = loss()
    assert got["loss"] == pytest.approx(plain[0], rel=1e-12) and got["error"] == pytest.approx(
        plain[1], abs=1e-12)
    assert got["thinned"] == 0
    h = 1e-5
    assert got["grad_alpha"] == pytest.approx(
        (loss(0.2 + h)[0] - loss(0.2 - h)[0]) / (2 * h), rel=1e-6, abs=1e-10)
    pairs = {True: None, False: None}
    for i, j in itertools.permutations(range(D), 2):
        pairs[labels[i] == labels[j]] = pairs[labels[i] == labels[j]] or (i, j)
    for same, name in ((True, "grad_same"), (False, "grad_other")):
        slope = (
            (loss(bump=pairs[same], by=h)[0] - loss(bump=pairs[same], by=-h)[0]) / (2 * h)
            if pairs[same] else 0.0)
        assert got[name] == pytest.approx(slope, rel=1e-5, abs=1e-10)


def test_population_descent_takes_the_steps_its_gradients_say():
    sizes = POPULATION | {"alpha": 0.1}
    at = {"alpha": 0.1, "gamma": 0.0, "rho": 0.0}
    for _ in range(3):
        now = ask("population", **(sizes | at))
        at = {
            "alpha": at["alpha"] - 0.05 * now["grad_alpha"],
            "gamma": at["gamma"] - 2.0 * now["grad_same"],
            "rho": at["rho"] - 2.0 * now["grad_other"]}
    got = ask("population-descent", **sizes, eta_v=0.05, eta_a=2.0, steps=3)
    assert {name: got[name] for name in at} == pytest.approx(at, rel=1e-12)
    assert got["loss"] == pytest.approx(now["loss"], rel=1e-12)


def test_population_of_many_states_is_thinned_and_still_close():
    """40 patches in sets of 5 at two lengths of the list: about 1e-4 apart."""
    from saccade.studies.spatial.theory.population import Scalars, Setting, population

    setting, point = Setting(40, 5, 0.3), Scalars(0.05, 1.0, -0.1)
    rows = [population(point, setting, setting.states(most=most)) for most in (20_000, 200_000)]
    np.testing.assert_allclose(np.asarray(rows[0], float), np.asarray(rows[1], float), rtol=5e-3)
    assert setting.states(most=20_000).thinned > 0


@pytest.mark.parametrize(
    ("sizes", "label", "linear"),
    [
        ((64, 4, 0.25), 3.643e-3, 0.15187), ((36, 4, 0.3), 4.029e-3, 0.1002),
        ((144, 4, 0.15), 1.106e-3, 0.1917)])
def test_errors_of_f_star_and_of_equal_weights(sizes, label, linear):
    named = dict(zip(("patches", "set_size", "spurious_rate"), sizes, strict=True))
    assert ask("label-error", **named)["error"] == pytest.approx(label, rel=1e-3)
    assert ask("linear-error", **named)["bayes"] == pytest.approx(linear, rel=1e-3)


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.9, 1.0])
def test_small_errors_by_listing(threshold):
    labels = (0, 0, 0, 1, 1, 1)
    images = list(every_image(labels, 0.4))
    wrong = sum(
        chance for x, y, chance in images if y
        * ask("label", x=[x.astype(int).tolist()], labels=list(labels), threshold=threshold)[
            "value"][0]
        <= 0)
    sizes = {"patches": 6, "set_size": 3, "spurious_rate": 0.4}
    assert ask("label-error", **sizes, threshold=threshold)["error"] == pytest.approx(
        wrong, abs=1e-12)
    sums = {}
    for x, y, chance in images:
        sums[x.sum(), y] = sums.get((x.sum(), y), 0) + chance
    best = sum(min(sums.get((k, 1), 0), sums.get((k, -1), 0)) for k in range(-6, 7))
    assert ask("linear-error", **sizes)["bayes"] == pytest.approx(best, abs=1e-12)


def test_cheat_is_the_sum_over_every_image():
    labels, B = (0, 1, 2, 0, 1, 2), 1.3
    A = np.array(
        [[B if labels[j] == (labels[i] + 1) % 3 else 0.0 for j in range(6)] for i in range(6)])
    loss, error = plain_population(labels, A, 1.0, 0.3, 3, 0.1)
    got = ask("cheat", labels=list(labels), sharpness=B, spurious_rate=0.3, degree=3, slope=0.1)
    assert (got["loss"], got["error"], got["overlap"]) == pytest.approx(
        (loss, error, 0.0), abs=1e-12)


def test_model_by_hand():
    rng = np.random.default_rng(0)
    X, A, v, y = (
        rng.normal(size=(3, 4, 2)), rng.normal(size=(4, 4)), rng.normal(size=2),
        np.array([1.0, -1.0, 1.0]))
    got = ask(
        "model", X=X.tolist(), y=y.tolist(), A=A.tolist(), v=v.tolist(), degree=3, slope=0.2,
        temperature=1.5)

    def value(A, v):
        S = np.exp(A / 1.5) / np.exp(A / 1.5).sum(axis=1, keepdims=True)
        z = 4 * np.einsum("ij,njd,d->ni", S, X, v)
        return np.sum(z**3 + 0.2 * z, axis=1)

    np.testing.assert_allclose(got["output"], value(A, v), rtol=1e-12)
    h = 1e-6
    for i, j in itertools.product(range(4), repeat=2):
        up, down = A.copy(), A.copy()
        up[i, j], down[i, j] = A[i, j] + h, A[i, j] - h
        slope = np.mean(
            np.logaddexp(0, -y * value(up, v)) - np.logaddexp(0, -y * value(down, v))) / (2 * h)
        assert got["grad_A"][i][j] == pytest.approx(0.0 if i == j else slope, rel=1e-5, abs=1e-7)


def test_association_by_its_definition():
    matrix = [[9, 5, 1, 1], [2, 9, 2, 1], [0, 0, 9, 3], [4, 0, 3, 9]]
    got = ask("association", matrix=matrix, labels=[0, 0, 1, 1])
    assert got["row_fraction"] == 0.5 and got["exact"] is False and got["margin"] == -1
    assert got["overlap"] == pytest.approx((2 + 1.5 + 2 + 1) / 8)
    assert got["off_diagonal_overlap"] == pytest.approx((1 + 0.5 + 1 + 0) / 4)
    assert ask("association", matrix=[[1, 0], [0, 1]], labels=[7, 7])["margin"] is None


def test_weights_sum_to_one_and_shuffle_shows_the_old_cell():
    got = ask(
        "attention-weights", diagonal=1.0, gamma=800.0, rho=-0.2, set_size=4, patches=12,
        temperature=2.0)
    assert got["diagonal_weight"] + 3 * got["same_weight"] + 8 * got[
        "other_weight"] == pytest.approx(1)
    assert got["gain"] == pytest.approx(12)
    assert ask("shuffle", image=[[0, 1, 2, 3], [4, 5, 6, 7]], cell=2, permutation=[1, 0])[
        "image"] == [[2, 3, 0, 1], [6, 7, 4, 5]]


BAD = [
    ("population", {"set_size": 4}, "set_size = 4 must divide patches = 6"),
    ("population", {"spurious_rate": 1.5}, "spurious_rate"),
    ("population", {"degree": 4}, "degree = 4 must be an odd whole number"),
    ("population", {"slope": -1.0}, "slope"), ("population", {"temperature": 0.0}, "temperature")]


@pytest.mark.parametrize(("name", "change", "says"), BAD)
def test_bad_populations_are_refused_by_name(name, change, says):
    with pytest.raises(InvalidInput, match=says):
        ask(name, **(POPULATION | {"gamma": 0.0, "rho": 0.0} | change))


@pytest.mark.parametrize(
    ("name", "inputs", "says"),
    [
        ("association", {"matrix": [[1, 2], [3]], "labels": [0, 1]}, "matrix"),
        ("association", {"matrix": [[1.0] * 3] * 3, "labels": [0, 0, 1]}, "labels.*equal size"),
        (
            "cheat",
            {"labels": [0, 0], "sharpness": 1.0, "spurious_rate": 0.1, "degree": 3, "slope": 0.0},
            "labels.*two sets"),
        ("label", {"x": [[1, 0, 1]], "labels": [0, 0, 1, 1]}, "number of patches in x"),
        (
            "model",
            {"X": [[[1.0]]], "y": [0.5], "A": [[1.0]], "v": [1.0], "degree": 3, "slope": 0.0},
            "y = "),
        ("shuffle", {"image": [[1, 2, 3]], "cell": 2, "permutation": [0]}, "cell"),
        ("shuffle", {"image": [[1, 2]], "cell": 1, "permutation": [0, 0]}, "permutation")])
def test_other_bad_input_is_refused_by_name(name, inputs, says):
    with pytest.raises(InvalidInput, match=says):
        ask(name, **inputs)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (
            "population", {"patches": 10_000, "set_size": 1000},
            "set_size = 1000 must be at most 100"),
        (
            "population", {"patches": 1000, "set_size": 100, "degree": 15},
            "degree = 15 must be at most"),
        ("cheat", {"labels": [n % 2 for n in range(400)]}, "set_size = 200 must be at most 100"),
        ("population", {"alpha": 1e308}, "not a finite number"),
        ("population-descent", {"alpha": 1e100}, "at step 1; try a smaller eta_v"),
        ("population-descent", {"eta_a": 1e308}, "eta_a = 1e.308: a parameter is above"),
        ("attention-weights", {"gamma": 1e308, "temperature": 5e-324}, "not a finite number"),
        (
            "association", {"matrix": [[1e308, -1e308]] * 2, "labels": [0, 1]},
            "margin is not a finite"),
        ("cheat", {"slope": 1.7e308}, "not a finite number"),
        ("model", {"slope": 1e308, "v": [1e308, 1e308]}, "not a finite number")])
def test_extreme_input_gets_one_sentence(name, change, says):
    with pytest.raises((InvalidInput, Diverged), match=says):
        ask(name, **(BY_NAME[name].example | change))


@pytest.mark.slow
def test_large_populations_take_seconds_not_minutes():
    """200 sets of 50 patches have 1326 types of sets each; the list is cut short."""
    answer = ask(
        "population", **(BY_NAME["population"].example | {"patches": 10_000, "set_size": 50}))
    assert answer["states"] == 100 and answer["thinned"] > 0


def test_a_diverging_descent_says_when_and_what_to_try():
    with pytest.raises(Diverged, match=r"at step \d+; try a smaller eta_v"):
        ask(
            "population-descent", **(POPULATION | {"patches": 16, "set_size": 4, "slope": 1e-4}),
            eta_v=100.0, eta_a=1.0, steps=40)
