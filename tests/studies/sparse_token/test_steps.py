"""The two gradient steps: automatic differentiation of the loss itself, and the theory of
alignment against simulation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.sparse_token.dynamics import gradient_steps
from saccade.studies.sparse_token.experiments.steps import overlaps, repeated_steps
from saccade.studies.sparse_token.models import attention_features
from saccade.studies.sparse_token.task import SparseToken, SparseTokenSetting
from saccade.studies.sparse_token.theory import alignment_after_two_steps

LOSS_VALUES = {
    "logistic": lambda h, y: jnp.log1p(jnp.exp(-y * h)), "square": lambda h, y: 0.5 * (y - h) ** 2}


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_steps_are_gradients_of_the_loss(loss):
    X = jax.random.normal(jax.random.key(0), (12, 4, 5))
    y = jnp.where(jnp.arange(12) % 3 == 0, 1.0, -1.0)

    def total(parameters):
        q, w, b = parameters
        return LOSS_VALUES[loss](attention_features(X, q, 1.3) @ w + b, y).mean()

    zero = (jnp.zeros(5), jnp.zeros(5), jnp.array(0.0))
    dq, dw, db = jax.grad(total)(zero)
    np.testing.assert_allclose(dq, 0.0, atol=1e-15)
    w, b = -0.5 * dw, -0.2 * db
    q = -3.0 * jax.grad(total)((jnp.zeros(5), w, b))[0]
    ours = gradient_steps(X, y, eta_w=0.5, eta_b=0.2, eta_q=3.0, beta=1.3, loss=loss)
    for a, e in zip(ours, (w, b, q), strict=True):
        np.testing.assert_allclose(a, e, atol=1e-14)


def test_single_precision_tokens_change_the_steps_by_rounding():
    X, y, _ = SparseToken.create(dim=6, length=4).sample(jax.random.key(1), 50)
    for single, double in zip(
        gradient_steps(X, y, dtype=jnp.float32), gradient_steps(X, y), strict=True
    ):
        assert single.dtype == double.dtype == jnp.float64
        np.testing.assert_allclose(single, double, atol=1e-6)


@pytest.mark.parametrize(
    ("rate", "signal", "informative", "sign"), [(0.2, 6.0, 3, 1), (0.2, 2.0, 1, -1)])
def test_alignment_theory_against_simulation(rate, signal, informative, sign):
    """Eight trials at d = 200: within 5 standard errors plus a finite-size 4 % (label noise falls
    as n^-1/2, bias as 1/d)."""
    setting, dim, alpha = SparseTokenSetting(10, informative, rate, signal), 200, 4.0
    task = SparseToken.create(dim, 10, informative, rate, signal)
    theory = alignment_after_two_steps(setting, alpha)
    rows = []
    for trial in range(8):
        X, y, _ = task.sample(jax.random.key(100 + trial), int(alpha * dim), jnp.float32)
        state = gradient_steps(X, y, dtype=jnp.float32)
        w_norm, q_norm = np.linalg.norm(state.w), np.linalg.norm(state.q)
        rows.append([state.b, w_norm, state.w[0] / w_norm, q_norm, state.q[0] / q_norm])
    mean, error = np.mean(rows, 0), np.std(rows, 0, ddof=1) / np.sqrt(8)
    predicted = np.array([theory.b, theory.w_norm, theory.w_cosine, theory.q_norm, theory.q_cosine])
    assert np.all(np.abs(mean - predicted) < 5 * error + 0.04 * np.abs(predicted)), (
        mean, error, predicted)
    assert np.sign(theory.q_cosine) == sign


@pytest.mark.parametrize(
    ("change", "word"),
    [({"loss": "hinge"}, "loss"), ({"y": [1.0, 2.0]}, "y"), ({"X": [[1.0]]}, "X")])
def test_bad_input_is_refused(change, word):
    with pytest.raises(InvalidInput, match=word):
        gradient_steps(**({"X": np.ones((2, 3, 4)), "y": [1.0, -1.0]} | change))


def test_steps_by_scores_have_the_law_of_steps_on_tokens():
    """Means and spreads of all overlaps over 3000 trials at n = 9, d = 4: five standard errors."""
    task = SparseToken.create(4, 5, 2, 0.4, 2.0)
    options = {"eta_w": 0.9, "eta_b": 0.6, "eta_q": 5.0, "beta": 0.7}
    found = [
        overlaps(
            repeated_steps(task, np.random.SeedSequence(3), 3000, 9, whole, **options),
            task.direction)
        for whole in (True, False)]
    for values in (found, [(item - item.mean(0)) ** 2 for item in found]):
        gap = values[0].mean(0) - values[1].mean(0)
        noise = np.sqrt((values[0].var(0) + values[1].var(0)) / 3000)
        assert np.all(np.abs(gap) < 5 * noise)
