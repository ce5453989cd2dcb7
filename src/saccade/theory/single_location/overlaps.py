"""The five overlaps that decide everything in single-location regression, the setting they live in, and the checks at the door."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from saccade.errors import require

GRAM_TOLERANCE = 1e-9


class Overlaps(NamedTuple):
    """Inner products of the learned (k, v) with the true orthonormal (k*, v*); each may be an array (a batch of states)."""

    kappa: ArrayLike
    """k . k* (kappa)"""
    nu: ArrayLike
    """v . v* (nu)"""
    theta: ArrayLike = 0.0
    """v . k* (theta)"""
    eta: ArrayLike = 0.0
    """k . v* (eta)"""
    rho: ArrayLike = 0.0
    """k . v (rho)"""


class Setting(NamedTuple):
    """The task and the predictor's temperature. Tokens N(0, I_d), the informative one N(sqrt(d/2) k*, gamma^2 I_d)."""

    dim: ArrayLike
    """d, the size of a token"""
    length: ArrayLike
    """L, the number of tokens"""
    inverse_temperature: ArrayLike
    """lambda, in the predictor sum_l erf(lambda X_l.k) X_l.v"""
    gamma: ArrayLike = 2**-0.5
    """gamma, standard deviation of the informative token around its mean; 2^-1/2 gives all tokens the same expected norm"""
    noise: ArrayLike = 0.0
    """epsilon, standard deviation of the label noise"""


ORACLE = Overlaps(1.0, 1.0)


def gram(overlaps: Overlaps) -> Float[Array, "*batch 4 4"]:
    """Gram matrix of (k*, v*, k, v). Exact."""
    kappa, nu, theta, eta, rho = jnp.broadcast_arrays(*(jnp.asarray(value, float) for value in overlaps))
    one, zero = jnp.ones_like(kappa), jnp.zeros_like(kappa)
    rows = [[one, zero, kappa, theta], [zero, one, eta, nu], [kappa, eta, one, rho], [theta, nu, rho, one]]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def distance_to_manifold(overlaps: Overlaps) -> Float[Array, "*batch"]:
    """sqrt(theta^2 + eta^2 + rho^2): zero exactly on the invariant manifold k.v* = v.k* = k.v = 0 (the paper's M)."""
    return jnp.sqrt(
        jnp.square(overlaps.theta) + jnp.square(overlaps.eta) + jnp.square(overlaps.rho),
    )


def _all_finite(value: ArrayLike) -> bool:
    return bool(np.all(np.isfinite(np.asarray(value, float))))


def _is_whole_from(value: ArrayLike, least: int) -> bool:
    numbers = np.asarray(value, float)
    return _all_finite(numbers) and bool(np.all((numbers >= least) & (numbers == np.floor(numbers))))


def check_setting(setting: Setting) -> Setting:
    """The setting itself, or `InvalidInput` naming the parameter that no task can have."""
    require(_is_whole_from(setting.dim, 2), "dim", setting.dim, "must be a whole number of at least 2")
    require(_is_whole_from(setting.length, 1), "length", setting.length, "must be a whole number of at least 1")
    for name in ("inverse_temperature", "gamma"):
        value = getattr(setting, name)
        above = _all_finite(value) and bool(np.all(np.asarray(value) > 0))
        require(above, name, value, "must be a finite number above 0")
    nonnegative = _all_finite(setting.noise) and bool(np.all(np.asarray(setting.noise) >= 0))
    require(nonnegative, "noise", setting.noise, "must be a finite number of at least 0")
    return setting


def check_overlaps(overlaps: Overlaps) -> Overlaps:
    """The overlaps themselves, or `InvalidInput` when no four unit vectors with k*.v* = 0 have these inner products."""
    for name, value in overlaps._asdict().items():
        within = _all_finite(value) and bool(np.all(np.abs(np.asarray(value)) <= 1 + GRAM_TOLERANCE))
        require(within, name, value, "must be between -1 and 1")
    smallest = float(np.min(np.linalg.eigvalsh(np.asarray(gram(overlaps)))))
    rule = "are not inner products of unit vectors: the smallest eigenvalue of their Gram matrix must be at least 0"
    require(smallest >= -GRAM_TOLERANCE, "overlaps", tuple(overlaps), f"{rule}, it is {smallest:.3g}")
    return overlaps
