"""The five overlaps that decide everything in single-location regression, their setting, the checks
at the door."""

from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.errors import require

GRAM_TOLERANCE = 1e-9

Number: TypeAlias = Any
"""A float or an array of floats, NumPy or JAX, traced or not."""


class Overlaps(NamedTuple):
    """Inner products of the learned (k, v) with the true orthonormal (k*, v*); each may be an array
    (a batch)."""

    kappa: Number
    """k . k* (kappa)"""
    nu: Number
    """v . v* (nu)"""
    theta: Number = 0.0
    """v . k* (theta)"""
    eta: Number = 0.0
    """k . v* (eta)"""
    rho: Number = 0.0
    """k . v (rho)"""


class Setting(NamedTuple):
    """The task and the temperature. Tokens are N(0, I_d), the informative one is N(sqrt(d/2) k*,
    gamma^2 I_d)."""

    dim: Number
    """d, the size of a token"""
    length: Number
    """L, the number of tokens"""
    inverse_temperature: Number
    """lambda, in the predictor sum_l erf(lambda X_l.k) X_l.v"""
    gamma: Number = 2**-0.5
    """gamma, spread of the informative token around its mean; at 2^-1/2 all tokens have the same
    expected norm"""
    noise: Number = 0.0
    """epsilon, standard deviation of the label noise"""


ORACLE = Overlaps(1.0, 1.0)


def as_arrays(numbers):
    """An `Overlaps` or a `Setting` with float arrays inside, so that a compiled function sees one
    type whatever is given."""
    return type(numbers)(*(jnp.asarray(value, float) for value in numbers))


def gram(overlaps: Overlaps) -> Float[Array, "*batch 4 4"]:
    """Gram matrix of (k*, v*, k, v). Exact."""
    kappa, nu, theta, eta, rho = jnp.broadcast_arrays(
        *(jnp.asarray(value, float) for value in overlaps))
    one, zero = jnp.ones_like(kappa), jnp.zeros_like(kappa)
    rows = [
        [one, zero, kappa, theta], [zero, one, eta, nu], [kappa, eta, one, rho],
        [theta, nu, rho, one]]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def distance_to_manifold(overlaps: Overlaps) -> Float[Array, "*batch"]:
    """sqrt(theta^2 + eta^2 + rho^2): zero exactly on the invariant manifold k.v* = v.k* = k.v = 0
    (M)."""
    return jnp.sqrt(
        jnp.square(overlaps.theta) + jnp.square(overlaps.eta) + jnp.square(overlaps.rho))


def _all_finite(value: Number) -> bool:
    return bool(np.all(np.isfinite(np.asarray(value, float))))


def _is_whole_from(value: Number, least: int) -> bool:
    numbers = np.asarray(value, float)
    return _all_finite(numbers) and bool(
        np.all((numbers >= least) & (numbers == np.floor(numbers))))


def check_setting(setting: Setting) -> Setting:
    """The setting itself, or `InvalidInput` naming the parameter that no task can have."""
    for name, least in (("dim", 2), ("length", 1)):
        value = getattr(setting, name)
        require(
            _is_whole_from(value, least), name, value, f"must be a whole number of at least {least}"
        )
    for name in ("inverse_temperature", "gamma"):
        value = getattr(setting, name)
        above = _all_finite(value) and bool(np.all(np.asarray(value) > 0))
        require(above, name, value, "must be a finite number above 0")
    nonnegative = _all_finite(setting.noise) and bool(np.all(np.asarray(setting.noise) >= 0))
    require(nonnegative, "noise", setting.noise, "must be a finite number of at least 0")
    return setting


def check_overlaps(overlaps: Overlaps) -> Overlaps:
    """The overlaps themselves, or `InvalidInput` when no unit vectors with k*.v* = 0 have these
    inner products."""
    for name, value in overlaps._asdict().items():
        within = _all_finite(value) and bool(
            np.all(np.abs(np.asarray(value)) <= 1 + GRAM_TOLERANCE))
        require(within, name, value, "must be between -1 and 1")
    smallest = float(np.min(np.linalg.eigvalsh(np.asarray(gram(overlaps)))))
    rule = (
        "must be inner products of unit vectors, but their Gram matrix has the eigenvalue"
        f" {smallest:.3g}")
    require(smallest >= -GRAM_TOLERANCE, "overlaps", overlaps, rule)
    return overlaps
