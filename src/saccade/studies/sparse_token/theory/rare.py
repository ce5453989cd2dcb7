"""Nodes that see rare errors: noise whose informative tokens are pulled towards the others (misses)
or some of whose tokens are raised (false alarms), and what each node then counts.

2^n plain nodes know nothing of errors below 2^-n: they answered 7e-12 where 6e-8 is right (L = 10,
theta = 11, k = 1). Here every shift s of a ladder from 0 to theta has its nodes, and all are
weighted by the law of the noise over the mean of their laws (the balance heuristic). Status: exact
in law, quadrature. All of it on noise without its mean, whose covariance is I - 11^T/L:
    shifted along m = v - R/L the law gains exp(s m.z - s^2 |m|^2/2), |m|^2 = R (1 - R/L), and
    averaged over all places of R raised tokens exp(-s^2 |m|^2/2) e_R(e^(s z)) / C(L, R).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp


class Nodes(NamedTuple):
    """Token noise without its mean, a row a node, and what each row counts."""

    noise: np.ndarray
    weight: np.ndarray


def log_symmetric_polynomial(u: np.ndarray, count: int) -> np.ndarray:
    """log e_R(e^u) of every row, token by token; e_R(z) = z_1 ... z_L e_{L-R}(1/z), so that the
    smaller of R and L - R is enough (exact)."""
    if count == 1:
        return np.asarray(logsumexp(u, axis=1))
    if 2 * count > u.shape[1]:
        return u.sum(1) + log_symmetric_polynomial(-u, u.shape[1] - count)
    sums = np.full((count + 1, len(u)), -np.inf)
    sums[0] = 0.0
    for token in u.T:
        sums[1:] = np.logaddexp(sums[1:], sums[:-1] + token)
    return sums[count]


def ladder(signal: float) -> np.ndarray:
    """Shifts from 0 to the signal, at most 2 apart up to a signal of 22."""
    return np.linspace(0.0, signal, min(2 + int(signal / 2), 12))


def _weighted(noise: list[np.ndarray], log_gain: list[np.ndarray]) -> Nodes:
    """All shifts' nodes; `log_gain` [shift][node]: by how much each law exceeds the noise's."""
    return Nodes(
        np.concatenate(noise), np.exp(-np.asarray(logsumexp(log_gain, axis=0))) / len(noise[0]))


def missing(noise: np.ndarray, informative: int, shifts: np.ndarray) -> Nodes:
    """Noise of positives, the informative tokens (the first) lowered by each of the shifts."""
    plain, length = noise - noise.mean(1, keepdims=True), noise.shape[1]
    along = (np.arange(length) < informative) - informative / length
    moved = [plain - shift * along for shift in shifts]
    pulled = np.concatenate(moved) @ along
    return _weighted(moved, [-s * pulled - s**2 * (along @ along) / 2 for s in shifts])


def alarming(noise: np.ndarray, raised: int, shifts: np.ndarray) -> Nodes:
    """Noise of negatives, `raised` tokens at random places higher by each of the shifts."""
    plain, length = noise - noise.mean(1, keepdims=True), noise.shape[1]
    if not np.any(shifts):
        return Nodes(plain, np.full(len(plain), 1 / len(plain)))
    order = np.random.default_rng(0).random(plain.shape).argpartition(raised - 1, axis=1)
    along = np.full(plain.shape, -raised / length)
    np.put_along_axis(along, order[:, :raised], 1 - raised / length, axis=1)
    moved = [plain + shift * along for shift in shifts]
    places = gammaln(length + 1) - gammaln(raised + 1) - gammaln(length - raised + 1)
    size, rows = raised * (1 - raised / length), np.concatenate(moved)
    gains = [log_symmetric_polynomial(s * rows, raised) - places - s**2 * size / 2 for s in shifts]
    return _weighted(moved, gains)
