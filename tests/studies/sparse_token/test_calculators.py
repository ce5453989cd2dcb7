"""The sparse-token calculators: outputs by name, against definitions computed here, and one
sentence for every bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, stats

from saccade.errors import InvalidInput
from saccade.lab import registry

CALCULATORS = registry.calculators("sparse-token")

BY_NAME = {item.id.split(".")[1]: item for item in CALCULATORS}
SETTING = {"length": 10, "informative": 1, "positive_rate": 0.5, "signal": 5.0}
STEPS = {"eta_w": 0.7, "eta_b": 0.3, "eta_q": 2.0, "beta": 0.8}
FIT = SETTING | {"samples_per_dim": 3.0, "ridge": 0.01, "loss": "logistic"}
QUERY = {"model": "attention", "alignment": 0.8, "sharpness": 1.0}


def ask(name: str, **inputs):
    return BY_NAME[name](inputs)


def listed_outputs():
    return {
        "oracle-error": {"pooled", "hardmax", "bayes", "softmax"},
        "bayes": {"error", "log_odds", "accuracy"}, "gradient-steps": {"w", "b", "q"},
        "features": {"features"},
        "alignment": {"b", "w_signal", "w_norm", "w_cosine", "q_signal", "q_norm", "q_cosine"},
        "fit": {"b", "w_norm", "train_loss", "train_error", "test_error", "w_query"},
        "capacity": {"samples_per_dim"}, "prox-logistic": {"prox"}}


@pytest.mark.parametrize("name", list(listed_outputs()))
def test_every_calculator_answers_its_own_example_with_the_listed_names(name):
    calculator = BY_NAME[name]
    answer = calculator(calculator.example)
    assert listed_outputs()[name] <= set(answer)
    assert set(answer) <= set(calculator.outputs)


def test_pooled_and_hardmax_are_the_minima_of_error_curves():
    answer = ask("oracle-error", length=7, informative=2, positive_rate=0.3, signal=3.0)
    t = np.linspace(-8, 14, 200_001)
    cdf, shifted = stats.norm.cdf(t), stats.norm.cdf(t - 3.0)
    snr = 3.0 * 2 / np.sqrt(7)
    assert answer["pooled"] == pytest.approx(
        np.min(0.3 * stats.norm.cdf(t - snr) + 0.7 * stats.norm.cdf(-t)), abs=1e-8)
    assert answer["hardmax"] == pytest.approx(
        np.min(0.3 * shifted**2 * cdf**5 + 0.7 * (1 - cdf**7)), abs=1e-8)
    assert "bayes" not in answer and "informative = 1" in answer["status"]["bayes"]


def test_softmax_and_bayes_match_a_large_sample():
    answer = ask(
        "oracle-error", length=4, informative=1, positive_rate=0.4, signal=3.0, sharpness=1.5)
    rng = np.random.default_rng(5)
    n = 400_000
    positive = rng.random(n) < 0.4
    u = rng.normal(size=(n, 4))
    u[:, 0] += 3.0 * positive
    says = np.log(np.exp(3.0 * u - 4.5).mean(1)) > np.log(0.6 / 0.4)
    # A frequency of about 0.1 on 4e5 samples has a standard error of 5e-4; 5 of them.
    assert answer["bayes"] == pytest.approx(np.mean(says != positive), abs=2.5e-3)
    weights = np.exp(1.5 * u)
    statistic = (weights * u).sum(1) / weights.sum(1)
    order = np.argsort(statistic)
    errors = (np.cumsum(positive[order]) + (~positive).sum() - np.cumsum(~positive[order])) / n
    assert answer["softmax"] == pytest.approx(errors.min(), abs=2.5e-3)
    assert answer["bayes"] <= answer["softmax"] + 1e-4


def test_bayes_answers_for_several_informative_tokens():
    rng, n = np.random.default_rng(6), 200_000
    positive = rng.random(n) < 0.4
    X = rng.normal(size=(n, 4, 3))
    X[:, :2] += 1.5 * positive[:, None, None] * np.array([0.6, 0.0, 0.8])
    setting = {"length": 4, "informative": 2, "positive_rate": 0.4, "signal": 1.5}
    few = ask("bayes", **setting, X=X[:500].tolist(), direction=[0.6, 0.0, 0.8])
    u = X @ np.array([0.6, 0.0, 0.8])
    ratio = np.mean(
        [np.exp(1.5 * (u[:, i] + u[:, j]) - 1.5**2) for i in range(4) for j in range(i)], axis=0)
    odds = np.log(ratio * 0.4 / 0.6)
    assert np.allclose(few["log_odds"], odds[:500])
    # A frequency of about 0.2 on 2e5 samples has a standard error of 9e-4; 5 of them.
    assert few["error"] == pytest.approx(np.mean((odds > 0) != positive), abs=4.5e-3)


def test_a_million_tokens_are_no_trouble_for_the_exact_formulas():
    answer = ask(
        "oracle-error", length=10**6, informative=1, positive_rate=0.5,
        signal=float(np.sqrt(2 * np.log(1e6)) + 3))
    assert answer["hardmax"] == pytest.approx(0.0052, abs=1e-4)
    assert "lengths up to" in answer["status"]["bayes"]


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_gradient_steps_are_gradients_of_the_stated_loss(loss, getkey):
    X = jax.random.normal(getkey(), (5, 3, 4))
    y = jnp.array([1.0, -1.0, 1.0, 1.0, -1.0])

    def objective(w, b, q):
        weights = jax.nn.softmax(STEPS["beta"] * jnp.einsum("nld,d->nl", X, q), axis=1)
        margin = jnp.einsum("nl,nld,d->n", weights, X, w) + b
        return jnp.mean(
            jnp.log1p(jnp.exp(-y * margin)) if loss == "logistic" else (y - margin) ** 2 / 2)

    zero = jnp.zeros(4)
    gw, gb = jax.grad(objective, (0, 1))(zero, 0.0, zero)
    w, b = -STEPS["eta_w"] * gw, -STEPS["eta_b"] * gb
    q = -STEPS["eta_q"] * jax.grad(objective, 2)(w, b, zero)
    answer = ask("gradient-steps", X=X.tolist(), y=y.tolist(), loss=loss, **STEPS)
    np.testing.assert_allclose(answer["w"], w, atol=1e-12)
    np.testing.assert_allclose(answer["b"], b, atol=1e-12)
    np.testing.assert_allclose(answer["q"], q, atol=1e-12)


def test_features_are_weighted_token_means():
    X, q = [[[1.0, 2.0], [0.0, 1.0], [3.0, 0.5]]], [0.5, -1.0]
    scores = [np.exp(2.0 * (row[0] * 0.5 - row[1])) for row in X[0]]
    expected = sum(s * np.array(row) for s, row in zip(scores, X[0], strict=True)) / sum(scores)
    np.testing.assert_allclose(
        ask("features", X=X, q=q, beta=2.0)["features"][0], expected, atol=1e-13)


def test_alignment_of_the_paper_setting_and_its_negative_trap():
    paper = {"length": 10, "informative": 3, "positive_rate": 0.2, "signal": 6.0}
    steps = {"eta_w": 0.5, "eta_b": 0.5, "eta_q": 0.5, "beta": 1.0, "loss": "logistic"}
    answer = ask("alignment", samples_per_dim=1000.0, **paper, **steps)
    assert 1000 * (1 - answer["q_cosine"]) == pytest.approx(0.1996, abs=2e-4)
    rare = SETTING | {"positive_rate": 0.2, "signal": 2.0}
    assert ask("alignment", samples_per_dim=1e3, **rare, **steps)["q_cosine"] == pytest.approx(
        -0.96, abs=0.01)


def test_fit_carries_status_residual_and_accuracy():
    answer = ask("fit", **FIT, **QUERY)
    assert answer["status"] == "converged" and answer["residual"] < 1e-8
    assert set(answer["accuracy"]) == {"b", "w_norm", "train_loss", "train_error", "test_error"}
    assert answer["train_loss"] == pytest.approx(0.0506, abs=4e-4)
    assert answer["test_error"] == pytest.approx(0.0381, abs=2e-4)


@pytest.mark.parametrize("model", ["pooled", "vectorised"])
def test_square_fits_of_the_linear_models_match_one_large_draw(model):
    """alpha = 6 on d = 300 (pooled), d = 120 with 3 tokens (vectorised): one draw fluctuates by a
    few per cent."""
    rng = np.random.default_rng(3)
    setting = {"length": 3, "informative": 1, "positive_rate": 0.5, "signal": 4.0}
    dim, alpha, ridge = (300 if model == "pooled" else 120), 6.0, 0.1
    n = int(alpha * dim)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(n, 3, dim))
    X[np.arange(n), rng.integers(0, 3, n), 0] += 4.0 * (y > 0)
    F = X.mean(1) if model == "pooled" else X.reshape(n, -1)
    centred = F - F.mean(0)
    w = np.linalg.solve(
        centred.T @ centred / n + ridge * np.eye(F.shape[1]), centred.T @ (y - y.mean()) / n)
    margin = centred @ w + y.mean()
    answer = ask("fit", **setting, model=model, samples_per_dim=alpha, ridge=ridge, loss="square")
    along = w[0] if model == "pooled" else w.reshape(3, dim)[:, 0].sum() / np.sqrt(3)
    assert answer["w_norm"] == pytest.approx(np.linalg.norm(w), rel=0.05)
    assert answer["w_signal"] == pytest.approx(along, rel=0.1)
    assert answer["train_loss"] == pytest.approx(np.mean((y - margin) ** 2) / 2, rel=0.08)


def test_capacity_without_signal_is_covers_two():
    silent = SETTING | {"signal": 0.0}
    assert ask("capacity", **silent, model="pooled")["samples_per_dim"] == pytest.approx(
        2.0, abs=1e-6)
    assert ask("capacity", **silent, model="vectorised")["samples_per_dim"] == pytest.approx(
        20.0, abs=1e-5)
    answer = ask("capacity", **(SETTING | {"signal": 3.0}), **(QUERY | {"alignment": 1.0}))
    assert (
        answer["samples_per_dim"] == pytest.approx(3.65, rel=0.01)
        and answer["status"] == "converged")


@pytest.mark.parametrize("label", [1, -1])
def test_prox_minimises_its_objective(label):
    omega, step = [-3.0, 0.2, 40.0], [0.5, 80.0, 1e4]
    for point, w, s in zip(
        ask("prox-logistic", omega=omega, step=step, label=label)["prox"], omega, step, strict=True
    ):
        best = optimize.minimize_scalar(
            lambda h, w=w, s=s: np.logaddexp(0, -label * h) + (h - w) ** 2 / (2 * s),
            bounds=(w - s - 1, w + s + 1), method="bounded", options={"xatol": 1e-10})
        assert point == pytest.approx(float(best.x), abs=1e-4 * max(1.0, abs(point)))


BAD = [
    ("oracle-error", SETTING | {"informative": 11}, ("informative = 11", "length = 10")),
    ("oracle-error", SETTING | {"positive_rate": 1.0}, ("positive_rate = 1.0", "between 0 and 1")),
    ("oracle-error", SETTING | {"signal": -1.0}, ("signal = -1.0", "at least 0")),
    ("oracle-error", SETTING | {"sharpness": -0.5}, ("sharpness = -0.5", "at least 0")),
    ("oracle-error", SETTING | {"length": 2.5}, ("length = 2.5", "whole number")),
    ("oracle-error", {k: v for k, v in SETTING.items() if k != "signal"}, ("signal", "missing")),
    ("oracle-error", SETTING | {"colour": 1}, ("colour",)),
    ("fit", FIT | QUERY | {"ridge": -1.0}, ("ridge = -1.0", "above 0")),
    ("fit", FIT | QUERY | {"samples_per_dim": -2.0}, ("samples_per_dim = -2.0", "above 0")),
    ("fit", FIT | QUERY | {"loss": "hinge"}, ("loss", "'hinge'")),
    ("fit", FIT | QUERY | {"model": "poled"}, ("model", "'poled'", "'pooled'")),
    ("fit", FIT | {"model": "attention", "alignment": 0.5}, ("sharpness", "needed")),
    ("fit", FIT | QUERY | {"alignment": 1.5}, ("alignment = 1.5", "-1 and 1")),
    ("fit", FIT | QUERY | {"model": "pooled"}, ("alignment", "attention")),
    ("capacity", SETTING | {"model": "attention", "sharpness": 1.0}, ("alignment", "needed")),
    (
        "alignment", SETTING | STEPS | {"loss": "logistic", "samples_per_dim": 0.0},
        ("samples_per_dim = 0.0",)),
    ("alignment", SETTING | STEPS | {"loss": "log", "samples_per_dim": 1.0}, ("loss", "'log'")),
    (
        "prox-logistic", {"omega": [0.0], "step": [-1.0], "label": 1},
        ("step = [-1.0]", "at least 0")),
    ("prox-logistic", {"omega": [0.0, 1.0], "step": [1.0], "label": 1}, ("step",)),
    ("prox-logistic", {"omega": [0.0], "step": [1.0], "label": 2}, ("label = 2",)),
    (
        "gradient-steps", {"X": [[[1.0], [2.0]], [[1.0]]], "y": [1, -1], "loss": "square"} | STEPS,
        ("X", "tokens")),
    ("gradient-steps", {"X": [[[1.0]]], "y": [0.5], "loss": "square"} | STEPS, ("y = [0.5]",)),
    ("gradient-steps", {"X": [[[1.0]]], "y": [1, 1], "loss": "square"} | STEPS, ("y", "labels")),
    ("features", {"X": [[[1.0, 2.0]]], "q": [1.0], "beta": 1.0}, ("q", "2 entries"))]


@pytest.mark.parametrize(("name", "inputs", "words"), BAD)
def test_bad_input_is_refused_with_one_sentence(name, inputs, words):
    with pytest.raises(InvalidInput) as refusal:
        ask(name, **inputs)
    text = str(refusal.value)
    assert all(word in text for word in words), text
    assert "\n" not in text and text.count(". ") == 0


EXTREME = [
    ("alignment", SETTING | STEPS | {"loss": "logistic", "samples_per_dim": 4.0, "signal": 1e308}),
    ("capacity", SETTING | QUERY | {"sharpness": 1e308}),
    ("fit", FIT | QUERY | {"positive_rate": 5e-324}), ("fit", FIT | QUERY | {"signal": 5e100}),
    ("fit", FIT | QUERY | {"ridge": 1e300}), ("fit", FIT | QUERY | {"samples_per_dim": 1e-300})]


@pytest.mark.parametrize(("name", "inputs"), EXTREME)
def test_extreme_numbers_are_refused_by_name_and_range(name, inputs):
    [changed] = [
        key for key, value in inputs.items()
        if isinstance(value, float) and not 1e-3 <= value <= 1e3]
    with pytest.raises(InvalidInput, match=f"^{changed} = .* must be .*(1e-09|1e\\+09)"):
        ask(name, **inputs)
