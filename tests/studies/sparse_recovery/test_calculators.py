"""The sparse-recovery calculators: values from independent formulas, edges, refusals."""

import numpy as np
import pytest

import saccade
from saccade.errors import Diverged, InvalidInput
from saccade.lab import registry

CALCULATORS = registry.calculators("sparse-recovery")

RNG = np.random.default_rng(8)
X, Y = RNG.normal(size=(4, 6)), RNG.normal(size=4)
EYE = [[1.0, 0.0], [0.0, 1.0]]


def calc(name, **inputs):
    return saccade.calc(f"sparse-recovery.{name}", **inputs)


@pytest.mark.parametrize("calculator", CALCULATORS, ids=lambda c: c.id)
def test_every_example_answers_what_is_promised(calculator):
    assert set(calculator.outputs) == set(calculator(calculator.example))


def test_soft_threshold_of_numbers_lists_and_matrices():
    assert calc("soft-threshold", u=[1.5, -0.2, -3], threshold=[0.5, 0.1, 0])["value"] == [
        1.0, pytest.approx(-0.1), -3.0]
    assert calc("soft-threshold", u=-2, threshold=0.5)["value"] == -1.5
    assert calc("soft-threshold", u=[[1.0, 2.0], [-3.0, 0.0]], threshold=[0.5, 1.0])["value"] == [
        [0.5, 1.0], [-2.5, 0.0]]
    assert calc("soft-threshold", u=[], threshold=1)["value"] == []


def test_lasso_and_its_edges():
    found = calc("lasso", X=X, y=Y, lam=0.2)
    b = np.array(found["coefficients"])
    assert found["gap"] < 1e-12 and found["lam_max"] == pytest.approx(np.abs(X.T @ Y).max())
    assert found["objective"] == pytest.approx(
        0.5 * ((Y - X @ b) ** 2).sum() + 0.2 * np.abs(b).sum())
    pull = X.T @ (Y - X @ b)  # the conditions of the minimum
    np.testing.assert_allclose(pull[b != 0], 0.2 * np.sign(b[b != 0]), atol=1e-12)
    assert np.abs(pull).max() <= 0.2 + 1e-12
    assert calc("lasso", X=X, y=Y, lam=found["lam_max"])["coefficients"] == [0.0] * 6
    assert calc("lasso", X=X, y=np.zeros(4), lam=0.0)["objective"] == 0.0
    assert calc("lasso", X=[[0.0, 1.0], [0.0, 2.0]], y=[1.0, 2.0], lam=0.5)["coefficients"] == [
        0.0, pytest.approx(0.9)]
    tall = RNG.normal(size=(9, 3))
    np.testing.assert_allclose(
        calc("lasso", X=tall, y=np.ones(9), lam=0)["coefficients"],
        np.linalg.lstsq(tall, np.ones(9), rcond=None)[0], atol=1e-12)


def test_iterates_and_rates():
    found = calc("iterates", algorithm="ista", X=X, y=Y, lam=0.1, record=[2, 0])
    L = np.linalg.norm(X, 2) ** 2
    b = np.zeros(6)
    for _ in range(2):
        u = b - X.T @ (X @ b - Y) / L
        b = np.sign(u) * np.maximum(np.abs(u) - 0.1 / L, 0)
    np.testing.assert_allclose(found["coefficients"], [b, np.zeros(6)], atol=1e-13)
    assert (
        found["lipschitz"] == pytest.approx(L) and found["gap"][0] < found["gap"][1]
        and found["steps"] == [2, 0])
    rates = calc("rates", X=X, y=Y, lam=0.1, record=[0, 1, 50])
    best = calc("lasso", X=X, y=Y, lam=0.1)
    norm = np.square(best["coefficients"]).sum()
    assert rates["ista_bound"] == [None, pytest.approx(L * norm / 2), pytest.approx(L * norm / 100)]
    assert rates["fista_bound"][2] == pytest.approx(2 * L * norm / 51**2)
    start = 0.5 * Y @ Y - best["objective"]
    assert rates["ista_gap"][0] == rates["fista_gap"][0] == pytest.approx(start)
    assert all(g <= b for g, b in zip(rates["fista_gap"], rates["fista_bound"], strict=True))


def test_alista_weight_of_square_wide_and_single_matrices():
    found = calc("alista-weight", X=X)
    W = np.array(found["W"])
    P = np.linalg.pinv(X @ X.T)
    np.testing.assert_allclose(W, np.stack([P @ x / (x @ P @ x) for x in X.T], 1), atol=1e-10)
    product = W.T @ X
    assert found["objective"] == pytest.approx((product**2).sum())
    assert found["coherence"] == pytest.approx(np.abs(product - np.diag(np.diag(product))).max())
    assert calc("alista-weight", X=[[2.0]]) == {"W": [[0.5]], "objective": 1.0, "coherence": 0.0}
    assert calc("alista-weight", X=[[0.0, 1.0]])["W"] == [[0.0, 1.0]]


def test_unrolled_networks_take_shared_and_own_layers():
    W1, W2 = 0.1 * RNG.normal(size=(6, 4)), 0.1 * RNG.normal(size=(6, 6))
    shared = calc("unrolled", algorithm="lista", X=X, y=Y, thresholds=[0.1, 0.1], W1=W1, W2=W2)[
        "iterates"]
    own = calc(
        "unrolled", algorithm="lista", X=X, y=Y, thresholds=[[0.1] * 6, 0.1], W1=[W1] * 2,
        W2=[W2] * 2)["iterates"]
    np.testing.assert_allclose(shared, own)
    shrink = lambda u: np.sign(u) * np.maximum(np.abs(u) - 0.1, 0)  # noqa: E731
    np.testing.assert_allclose(
        shared, [shrink(W1 @ Y), shrink(W1 @ Y + W2 @ shrink(W1 @ Y))], atol=1e-12)
    coupled = calc("unrolled", algorithm="lista-cp", X=X, y=Y, thresholds=[0.1], W=W1.T)["iterates"]
    np.testing.assert_allclose(coupled[0], shrink(W1 @ Y), atol=1e-12)


def test_lista_vm_prompt_and_transformer_agree():
    M, theta = 0.2 * RNG.normal(size=(3, 6, 6)), 0.05 * RNG.random((3, 6))
    query = RNG.normal(size=6)
    rows = np.vstack([X, query])
    found = calc("lista-vm", X=X, y=Y, M=M, thresholds=theta)
    built = calc("transformer", X=rows, y=Y, M=M, thresholds=theta)
    np.testing.assert_allclose(built["beta"], found["final"], atol=1e-12)
    np.testing.assert_allclose(found["final"][-1], found["last_prefix"][-1])
    np.testing.assert_allclose(
        built["quadratic"], (rows * np.array(found["final"])).sum(1), atol=1e-12)
    assert built["linear_last"] == pytest.approx(query @ np.sum(found["final"], 0) / 9, abs=1e-12)
    told = calc("lista-vm", X=X, y=Y, M=M, thresholds=theta, support=[1, 4])
    assert all(row[j] == 0 for row in told["final"] for j in (0, 2, 3, 5))
    assert np.shape(calc("prompt", X=rows, y=Y)["H"]) == (14, 9)
    alone = calc("lista-vm", X=[], y=[], M=M, thresholds=theta)
    assert alone["final"] == [[0.0] * 6] and len(alone["last_prefix"]) == 3


def test_what_relu_heads_add_is_summed():
    random = np.random.default_rng(0)
    H, heads = random.standard_normal((3, 4)), []
    for _ in range(2):
        Q, K, V = random.standard_normal((3, 3, 3))
        heads.append({"Q": Q, "K": K, "V": V})
    added = np.zeros_like(H)
    for i in range(4):
        for head in heads:
            for j in range(i + 1):
                score = max(0.0, (head["Q"] @ H[:, i]) @ (head["K"] @ H[:, j]))
                added[:, i] += score * head["V"] @ H[:, j] / (i + 1)
    lists = [{name: part.tolist() for name, part in head.items()} for head in heads]
    assert np.allclose(calc("relu-attention", H=H.tolist(), heads=lists)["out"], H + added)


def test_a_diverging_network_is_said_to_diverge():
    with pytest.raises(Diverged):
        calc("lista-vm", X=1e200 * np.ones((2, 2)), y=[1.0, 1.0], M=[EYE] * 4, thresholds=[0.0] * 4)


def test_certificate_of_a_known_matrix():
    found = calc(
        "certificate", X=[[1.0, 0.0], [0.0, 2.0]], beta=[3.0, 0.0], noise=[0.0, 0.0], gamma=0.5,
        steps=2)
    assert (found["mu"], found["delta"], found["nu"], found["rate"]) == (0.0, 0.75, 0.0, 0.75)
    assert (
        found["bounds"] == [3.0, 2.25, 1.6875] and found["errors"] == [3.0, 2.25, 1.6875]
        and found["thresholds"] == [0.0, 0.0])


HEAD = {"Q": EYE, "K": EYE, "V": EYE}
BAD = [
    ("soft-threshold", {"u": [1.0, 2.0], "threshold": [1.0, 2.0, 3.0]}, "threshold"),
    ("soft-threshold", {"u": 1.0, "threshold": -0.1}, "threshold"),
    ("soft-threshold", {"u": [[1.0], [1.0, 2.0]], "threshold": 0.1}, "u"),
    ("lasso", {"X": [[1.0], [2.0]], "y": [1.0], "lam": 0.1}, "y"),
    ("lasso", {"X": [[1.0, 2.0], [2.0]], "y": [1.0, 1.0], "lam": 0.1}, "X"),
    ("lasso", {"X": [], "y": [], "lam": 0.1}, "X"),
    ("lasso", {"X": [[1.0]], "y": [1.0], "lam": -1.0}, "lam"),
    ("lasso", {"X": [[float("nan")]], "y": [1.0], "lam": 1.0}, "X"),
    (
        "iterates", {"algorithm": "lista", "X": [[1.0]], "y": [1.0], "lam": 1.0, "record": [1]},
        "ista"),
    (
        "iterates", {"algorithm": "ista", "X": [[1.0]], "y": [1.0], "lam": 1.0, "record": [-1]},
        "record"),
    (
        "iterates", {"algorithm": "ista", "X": [[1.0]], "y": [1.0], "lam": 1.0, "record": []},
        "record"),
    ("rates", {"X": [[1.0]], "y": [1.0], "lam": 1.0, "record": [10**9]}, "record"),
    ("alista-weight", {"X": [[]]}, "X"),
    (
        "unrolled",
        {"algorithm": "alista", "X": [[1.0]], "y": [1.0], "thresholds": [0.1], "steps": [1.0, 1.0]},
        "steps"),
    (
        "unrolled",
        {"algorithm": "alista", "X": [[1.0]], "y": [1.0], "thresholds": [-0.1], "steps": [1.0]},
        "thresholds"),
    (
        "unrolled",
        {"algorithm": "lista", "X": [[1.0]], "y": [1.0], "thresholds": [0.1], "W1": [[1.0]]}, "W2"),
    (
        "unrolled",
        {
            "algorithm": "lista-cp", "X": [[1.0]], "y": [1.0], "thresholds": [0.1], "W": [[1.0]],
            "W2": [[1.0]]},
        "W2"),
    (
        "unrolled",
        {
            "algorithm": "lista-cp", "X": [[1.0, 2.0]], "y": [1.0], "thresholds": [0.1],
            "W": [[1.0], [2.0]]},
        "W"),
    (
        "unrolled", {"algorithm": "tista", "X": [[1.0]], "y": [1.0], "thresholds": [0.1]},
        "algorithm"),
    ("lista-vm", {"X": [[1.0, 2.0]], "y": [1.0], "M": [EYE], "thresholds": [[0.1]]}, "thresholds"),
    (
        "lista-vm", {"X": [[1.0, 2.0]], "y": [1.0], "M": [EYE], "thresholds": [0.1], "support": []},
        "support"),
    (
        "lista-vm",
        {"X": [[1.0, 2.0]], "y": [1.0], "M": [EYE], "thresholds": [0.1], "support": [-1]},
        "support"),
    ("lista-vm", {"X": [[1.0, 2.0, 3.0]], "y": [1.0], "M": [EYE], "thresholds": [0.1]}, "X"),
    ("lista-vm", {"X": [[1.0, 2.0]], "y": [1.0], "M": [[[1.0, 0.0]]], "thresholds": [0.1]}, "M"),
    ("prompt", {"X": [[1.0, 2.0]], "y": [1.0]}, "X"),
    ("transformer", {"X": [[1.0], [2.0]], "y": [1.0], "M": [EYE], "thresholds": [0.1]}, "X"),
    ("relu-attention", {"H": [[1.0]], "heads": [HEAD]}, "heads"),
    ("relu-attention", {"H": EYE, "heads": []}, "heads"),
    (
        "certificate", {"X": EYE, "beta": [1.0], "noise": [0.0, 0.0], "gamma": 1.0, "steps": 1},
        "beta"),
    (
        "certificate", {"X": EYE, "beta": [1.0, 0.0], "noise": [0.0], "gamma": 1.0, "steps": 1},
        "noise"),
    (
        "certificate",
        {"X": EYE, "beta": [1.0, 0.0], "noise": [0.0, 0.0], "gamma": 0.0, "steps": 1}, "gamma"),
    (
        "certificate",
        {"X": EYE, "beta": [1.0, 0.0], "noise": [0.0, 0.0], "gamma": 1.0, "steps": 1.5}, "steps")]


@pytest.mark.parametrize(("name", "inputs", "word"), BAD)
def test_bad_input_is_one_sentence_that_names_it(name, inputs, word):
    with pytest.raises(InvalidInput, match=word) as refused:
        calc(name, **inputs)
    assert "\n" not in str(refused.value)


EXTREME = [
    ("soft-threshold", {"u": [1e308, -1e308], "threshold": 5e-324}),
    ("lasso", {"X": [[1e308, 5e-324], [1.0, -1e308]], "y": [1e308, 1.0], "lam": 1e-308}),
    ("lasso", {"X": [[1e200, 1.0]], "y": [1e200], "lam": 0.0}),
    ("iterates", {"algorithm": "fista", "X": [[1e-200]], "y": [1.0], "lam": 0, "record": [10**6]}),
    ("rates", {"X": [[1e154, 1.0]], "y": [1e154], "lam": 1e308, "record": [0, 10**6]}),
    ("alista-weight", {"X": [[1e308, 1e-308], [5e-324, 1.0]]}),
    ("lista-vm", {"X": [[1e308]], "y": [1e308], "M": [[[1e308]]], "thresholds": [0.0]}),
    ("transformer", {"X": [[1e308], [1.0]], "y": [1.0], "M": [[[1e308]]], "thresholds": [0.0]}),
    (
        "certificate",
        {"X": [[1e200]], "beta": [1e200], "noise": [1e308], "gamma": 1e308, "steps": 1000})]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "inputs"), EXTREME)
def test_extreme_numbers_get_an_answer_or_one_sentence(name, inputs):
    try:
        calc(name, **inputs)
    except (InvalidInput, Diverged) as refused:
        assert "\n" not in str(refused) and str(refused).endswith(".")
