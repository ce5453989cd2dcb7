"""Two explicit full-batch gradient steps of the attention classifier (exact), and gradient descent
of everything together.

Start: q = w = b = 0. With l'(h; y) the derivative of the loss and xbar_i = X_i^T 1/L the mean token
of sample i:

    step 1   w = -(eta_w/n) sum_i l'(0; y_i) xbar_i,     b = -(eta_b/n) sum_i l'(0; y_i),
             q stays 0 (its gradient vanishes at w = 0)
    step 2   q = -(eta_q beta/(n L)) sum_i h_i X_i^T (I - 11^T/L) X_i w,
             h_i = l'(<w, xbar_i> + b; y_i)       (same samples)

Both follow from differentiating (1/n) sum_i l(<w, X_i^T softmax(beta X_i q)> + b; y_i) at q = 0.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import expit

from saccade.errors import require, unknown
from saccade.studies.sparse_token.models import AttentionClassifier

LOSS_DERIVATIVES: dict[str, Callable] = {
    "logistic": lambda h, y: -y * expit(-y * h), "square": lambda h, y: h - y}


class TwoSteps(NamedTuple):
    """w and b after the first step, q after the second."""

    w: Float[Any, " dim"]
    b: Float[Any, ""]
    q: Float[Any, " dim"]


def gradient_steps(
    X, y, eta_w=0.5, eta_b=0.5, eta_q=0.5, beta=1.0, loss: str = "logistic", dtype: Any = np.float64
) -> TwoSteps:
    """The two steps on samples X[sample][token][coordinate] with labels +1 or -1; tokens of
    `dtype=np.float32` halve the memory, the answer is float64 all the same."""
    X, y = np.asarray(X, dtype), np.asarray(y, float)
    matching = X.ndim == 3 and y.shape == X.shape[:1] and len(y) > 0
    require(
        matching, "X", X.shape,
        "must have the shape (samples, tokens, coordinates) with one sample for each of the"
        f" {y.size} labels")
    require(bool(np.all(np.abs(y) == 1)), "y", y.tolist(), "must contain only +1 and -1")
    if loss not in LOSS_DERIVATIVES:
        raise unknown("loss", str(loss), LOSS_DERIVATIVES)
    (n, length, dim), derivative = X.shape, LOSS_DERIVATIVES[loss]
    h = derivative(np.zeros_like(y), y)
    w, b = -eta_w / n * (h @ X.mean(1).astype(float)), -eta_b / n * h.sum()
    scores = (X @ w.astype(dtype)).astype(float)
    h = derivative(scores.mean(1) + b, y)
    weights = h[:, None] * (scores - scores.mean(1, keepdims=True)) / length
    turn = weights.ravel().astype(dtype) @ X.reshape(n * length, dim)
    return TwoSteps(w, b, -eta_q * beta / n * turn.astype(float))


@partial(jax.jit, static_argnames="steps")
def joint_descent(X, y, step_size, decay, steps: int) -> tuple[Any, Any, Any]:
    """(q, w, b) before the first and after each of `steps` gradient steps of all three on the
    logistic loss, from zero, times leading; the step size is eta/(1 + decay t), t = 0, 1, ... The
    inverse temperature is 1."""

    def loss(state):
        return jnp.mean(jnp.logaddexp(0.0, -y * AttentionClassifier(*state)(X)))

    def step(state, t):
        pull, rate = jax.grad(loss)(state), step_size / (1 + decay * t)
        return jax.tree.map(lambda number, way: number - rate * way, state, pull), state

    zero = jnp.zeros(X.shape[-1])
    last, along = jax.lax.scan(step, (zero, zero, jnp.zeros(())), jnp.arange(steps))
    return jax.tree.map(lambda each, end: jnp.concatenate([each, end[None]]), along, last)
