"""Two explicit full-batch gradient steps of the attention classifier (exact).

Start: q = w = b = 0. With l'(h; y) the derivative of the loss and xbar_i = X_i^T 1/L the mean token
of sample i:

    step 1   w = -(eta_w/n) sum_i l'(0; y_i) xbar_i,     b = -(eta_b/n) sum_i l'(0; y_i),
             q stays 0 (its gradient vanishes at w = 0)
    step 2   q = -(eta_q beta/(n L)) sum_i h_i X_i^T (I - 11^T/L) X_i w,
             h_i = l'(<w, xbar_i> + b; y_i)       (same samples)

Both follow from differentiating (1/n) sum_i l(<w, X_i^T softmax(beta X_i q)> + b; y_i) at q = 0.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.errors import require, unknown

LOSS_DERIVATIVES: dict[str, Callable] = {
    "logistic": lambda h, y: -y * jax.nn.sigmoid(-y * h), "square": lambda h, y: h - y}


class TwoSteps(NamedTuple):
    """w and b after the first step, q after the second."""

    w: Float[Array, " dim"]
    b: Float[Array, ""]
    q: Float[Array, " dim"]


def gradient_steps(
    X, y, eta_w=0.5, eta_b=0.5, eta_q=0.5, beta=1.0, loss: str = "logistic", dtype=jnp.float64
) -> TwoSteps:
    """The two steps on samples X[sample][token][coordinate] with labels +1 or -1; tokens of
    `dtype=jnp.float32` halve the memory, the answer is float64 all the same."""
    X, y = jnp.asarray(X, dtype), jnp.asarray(y, float)
    matching = X.ndim == 3 and y.shape == X.shape[:1] and len(y) > 0
    require(
        matching, "X", X.shape,
        "must have the shape (samples, tokens, coordinates) with one sample for each of the"
        f" {y.size} labels")
    require(bool(jnp.all(jnp.abs(y) == 1)), "y", y.tolist(), "must contain only +1 and -1")
    if loss not in LOSS_DERIVATIVES:
        raise unknown("loss", str(loss), LOSS_DERIVATIVES)
    token_sum, label_sum = _first_sums(X, y, loss)
    w, b = -eta_w / len(y) * token_sum, -eta_b / len(y) * label_sum
    return TwoSteps(w, b, -eta_q * beta / len(y) * _second_sum(X, y, w, b, loss))


@jax.jit(static_argnames="loss")
def _first_sums(X: Float[Array, "n token dim"], y: Float[Array, " n"], loss: str):
    h = LOSS_DERIVATIVES[loss](jnp.zeros_like(y), y)
    return h @ X.mean(1).astype(y.dtype), h.sum()


@jax.jit(static_argnames="loss")
def _second_sum(
    X: Float[Array, "n token dim"], y: Float[Array, " n"], w: Float[Array, " dim"],
    b: Float[Array, ""], loss: str,
):
    """sum_i h_i X_i^T (I - 11^T/L) X_i w / L."""
    scores = X @ w.astype(X.dtype)
    h = LOSS_DERIVATIVES[loss](scores.mean(1).astype(y.dtype) + b, y)
    centred = scores - scores.mean(1, keepdims=True)
    weights = h.astype(X.dtype)[:, None] * centred / X.shape[1]
    return jnp.einsum("nl,nld->d", weights, X).astype(y.dtype)
