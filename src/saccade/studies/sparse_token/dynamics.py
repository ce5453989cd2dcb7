"""Two explicit full-batch gradient steps of the attention classifier, on explicit data or on a
stream too large for memory.

Start: q = w = b = 0. With l'(h; y) the slope of the loss and xbar_i = X_i^T 1/L the mean token of
sample i:
    step 1   w = -(eta_w/n) sum_i l'(0; y_i) xbar_i,     b = -(eta_b/n) sum_i l'(0; y_i),     q
    stays 0 (its gradient vanishes at w = 0) step 2   q = -(eta_q beta/(n L)) sum_i h_i X_i^T (I -
    11^T/L) X_i w,     h_i = l'(<w, xbar_i> + b; y_i)       (same samples)
Both follow from differentiating (1/n) sum_i l(<w, X_i^T softmax(beta X_i q)> + b; y_i) at q = 0.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.errors import require, unknown
from saccade.studies.sparse_token.task import SparseToken, SparseTokenSample

SLOPES: dict[str, Callable] = {
    "logistic": lambda h, y: -y * jax.nn.sigmoid(-y * h), "square": lambda h, y: h - y}


class TwoSteps(NamedTuple):
    """w and b after the first step, q after the second."""

    w: Float[Array, " dim"]
    b: Float[Array, ""]
    q: Float[Array, " dim"]


def gradient_steps(
    X, y, eta_w=0.5, eta_b=0.5, eta_q=0.5, beta=1.0, loss: str = "logistic"
) -> TwoSteps:
    """The two steps on explicit samples X[sample][token][coordinate] with labels +1 or -1."""
    X, y = jnp.asarray(X, float), jnp.asarray(y, float)
    matching = X.ndim == 3 and y.shape == X.shape[:1] and len(y) > 0
    require(
        matching, "X", X.shape,
        "must have the shape (samples, tokens, coordinates) with one sample for each of the"
        f" {y.size} labels")
    require(bool(jnp.all(jnp.abs(y) == 1)), "y", y.tolist(), "must contain only +1 and -1")
    chunk = SparseTokenSample(X, y, jnp.zeros(X.shape[:2], bool))
    return steps_over_chunks(lambda: [chunk], len(y), eta_w, eta_b, eta_q, beta, loss)


def gradient_steps_streaming(
    task: SparseToken, key: Key[Array, ""], samples: int, eta_w=0.5, eta_b=0.5, eta_q=0.5, beta=1.0,
    loss: str = "logistic", chunk: int = 256,
) -> TwoSteps:
    """The two steps on `samples` draws of the task, regenerated chunk by chunk for each step, so
    memory is chunk x L x d."""
    return steps_over_chunks(
        lambda: task.stream(key, samples, chunk), samples, eta_w, eta_b, eta_q, beta, loss)


def steps_over_chunks(
    chunks: Callable[[], Iterable[SparseTokenSample]], samples: int, eta_w, eta_b, eta_q, beta,
    loss: str,
) -> TwoSteps:
    """Both steps as sums over chunks; `chunks()` is called twice and must give the same samples
    both times."""
    if loss not in SLOPES:
        raise unknown("loss", str(loss), SLOPES)
    first = _total(_first_sums(part.X, part.y, loss) for part in chunks())
    w, b = -eta_w / samples * first[0], -eta_b / samples * first[1]
    second = _total((_second_sum(part.X, part.y, w, b, loss),) for part in chunks())
    return TwoSteps(w, b, -eta_q * beta / samples * second[0])


def _total(parts: Iterable[tuple]) -> tuple:
    """Entrywise sum of tuples, kept in float64 whatever the samples are."""
    running: tuple = ()
    for part in parts:
        running = tuple(a + p for a, p in zip(running, part, strict=True)) if running else part
    return running


@jax.jit(static_argnames="loss")
def _first_sums(X: Float[Array, "n token dim"], y: Float[Array, " n"], loss: str):
    slope = SLOPES[loss](jnp.zeros_like(y), y)
    return slope @ X.mean(1).astype(y.dtype), slope.sum()


@jax.jit(static_argnames="loss")
def _second_sum(
    X: Float[Array, "n token dim"], y: Float[Array, " n"], w: Float[Array, " dim"],
    b: Float[Array, ""], loss: str,
):
    """sum_i h_i X_i^T (I - 11^T/L) X_i w / L."""
    scores = X @ w.astype(X.dtype)
    h = SLOPES[loss](scores.mean(1).astype(y.dtype) + b, y)
    centred = scores - scores.mean(1, keepdims=True)
    weights = h.astype(X.dtype)[:, None] * centred / X.shape[1]
    return jnp.einsum("nl,nld->d", weights, X).astype(y.dtype)
