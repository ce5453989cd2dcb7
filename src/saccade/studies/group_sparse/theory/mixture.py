"""The position-only layer at any attention and for any weights of the groups in the label.
Status: exact, up to the one-dimensional quadrature of `theory.position`.

Attention q = softmax(m) is the same for every query, the label is the sign of t = sum_i w_i u_i
with u_i = <v*, x_i>, and f = alpha D sum_i q_i u_i. So f and t are Gaussian with the correlation
rho = q.w / (|q| |w|), and as in `theory.position`, with beta = alpha D sigma |q|,
    L           = loss(beta) + (alpha D sigma / sqrt(2 pi)) (|q| - q.w/|w|)
    -dL/dalpha  = D sigma (|q| slope(beta) - (|q| - q.w/|w|) / sqrt(2 pi))
    -dL/dq_i    = alpha D sigma ((q_i/|q|) (slope(beta) - 1/sqrt(2 pi)) + (w_i/|w|) / sqrt(2 pi))
    -dL/dm_i    = q_i (F_i - sum_k q_k F_k),   F = -dL/dq
    P(y f <= 0) = arccos(rho) / pi   (alpha > 0)
One group in the label and attention (s, (1-s)/(D-1), ..) give `theory.position` again. A selector
that looks at the wrong group, a label made by two groups and a start of any shape are other q and
w.

How long a wrong start lasts, for q_r -> 0 on the deciding group (status: asymptotic). While q_r is
small, alpha follows its balance 4 q_r / (sqrt(2 pi) D sigma |q|^2), of order q_r, and m_r and the
gap move by eta c^2 times something of order alpha q_r. So d(gap)/dt is of order q_r^2, and with q_r
of order e^{-gap} the time to return grows as q_r^{-2}.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.errors import require
from saccade.studies.group_sparse.theory.position import half_normal_loss, half_normal_slope


class MixtureForces(NamedTuple):
    """The loss, -dL/dalpha and -dL/dm for every group."""

    loss: Float[Array, ""]
    alpha_force: Float[Array, ""]
    score_forces: Float[Array, " groups"]


def mixture_forces(
    alpha: Float[Array, ""], shares: Float[Array, " groups"], weights: Float[Array, " groups"],
    scale: Float[Array, ""],
) -> MixtureForces:
    """At alpha, attention q = `shares` and label weights w = `weights` of length one; traceable."""
    size = shares.shape[0] * scale
    length, along = jnp.linalg.norm(shares), shares @ weights
    slope = half_normal_slope(alpha * size * length)
    flat = 1 / math.sqrt(2 * math.pi)
    loss = half_normal_loss(alpha * size * length) + alpha * size * flat * (length - along)
    pull = alpha * size * (shares / length * (slope - flat) + weights * flat)
    alpha_force = size * (length * slope - (length - along) * flat)
    return MixtureForces(loss, alpha_force, shares * (pull - shares @ pull))


def mixture_error(shares: Sequence[float], weights: Sequence[float]) -> float:
    """P(y f <= 0) = arccos(rho)/pi for attention `shares` and label weights `weights`, by the arc
    tangent, which keeps its digits near rho = 1. Status: exact."""
    q, w = np.asarray(shares, float), np.asarray(weights, float)
    require(q.shape == w.shape and q.ndim == 1, "weights", w.shape, f"must be as long as {q.shape}")
    for name, vector in (("shares", q), ("weights", w)):
        require(bool(np.any(vector != 0)), name, vector.tolist(), "must not all be 0")
    q, w = q / np.linalg.norm(q), w / np.linalg.norm(w)
    return math.atan2(float(np.linalg.norm(q - (q @ w) * w)), float(q @ w)) / math.pi
