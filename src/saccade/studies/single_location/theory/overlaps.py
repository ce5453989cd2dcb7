"""The five overlaps that decide everything, their setting, and the checks of both."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float

from saccade.arrays import Array, floats, namespace
from saccade.errors import require

GRAM_TOLERANCE = 1e-9

Number: TypeAlias = Any
"""A float or an array of floats, NumPy or JAX, traced or not."""
Scalars = Float[Array, "..."]


class Overlaps(NamedTuple):
    """Inner products of the learned (k, v) with the true orthonormal (k*, v*), or batches of them:
    kappa = k.k*, nu = v.v*, theta = v.k*, eta = k.v*, rho = k.v."""

    kappa: Number
    nu: Number
    theta: Number = 0.0
    eta: Number = 0.0
    rho: Number = 0.0


class Setting(NamedTuple):
    """The task and the temperature: L tokens of size d, N(0, I_d), the informative one N(sqrt(d/2)
    k*, gamma^2 I_d) (at gamma = 2^-1/2 all have the same expected norm); lambda, in the predictor
    sum_l erf(lambda X_l.k) X_l.v; epsilon, standard deviation of the label noise."""

    dim: Number
    length: Number
    inverse_temperature: Number
    gamma: Number = 2**-0.5
    noise: Number = 0.0


ORACLE = Overlaps(1.0, 1.0)


def as_arrays(numbers):
    """An `Overlaps` or a `Setting` of float arrays: a compiled function sees one type."""
    return type(numbers)(*floats(*numbers))


def gram(overlaps: Overlaps) -> Float[Array, "*batch 4 4"]:
    """Gram matrix of (k*, v*, k, v). Exact."""
    xp = namespace(*overlaps)
    kappa, nu, theta, eta, rho = xp.broadcast_arrays(*as_arrays(overlaps))
    one, zero = xp.ones_like(kappa), xp.zeros_like(kappa)
    rows = [
        [one, zero, kappa, theta], [zero, one, eta, nu], [kappa, eta, one, rho],
        [theta, nu, rho, one]]
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def distance_to_manifold(overlaps: Overlaps) -> Scalars:
    """sqrt(theta^2 + eta^2 + rho^2): zero exactly on the invariant manifold (M)."""
    xp = namespace(*overlaps[2:])
    return xp.sqrt(sum(xp.square(value) for value in overlaps[2:]))


def _all(name: str, value: Number, holds: Any, rule: str) -> None:
    """`InvalidInput` unless `value` is finite throughout and `holds(value)` everywhere."""
    numbers = np.asarray(value, float)
    require(bool(np.all(np.isfinite(numbers) & holds(numbers))), name, value, rule)


def check_setting(setting: Setting) -> Setting:
    """The setting itself, or `InvalidInput` naming the parameter that no task can have."""
    for name, least in (("dim", 2), ("length", 1)):
        _all(
            name, getattr(setting, name), lambda x, least=least: (x >= least) & (x == np.floor(x)),
            f"must be a whole number of at least {least}")
    for name in ("inverse_temperature", "gamma"):
        _all(name, getattr(setting, name), lambda x: x > 0, "must be a finite number above 0")
    _all("noise", setting.noise, lambda x: x >= 0, "must be a finite number of at least 0")
    return setting


def check_overlaps(overlaps: Overlaps) -> Overlaps:
    """The overlaps themselves, or `InvalidInput` when no unit vectors have them."""
    for name, value in overlaps._asdict().items():
        _all(name, value, lambda x: np.abs(x) <= 1 + GRAM_TOLERANCE, "must be between -1 and 1")
    smallest = float(np.min(np.linalg.eigvalsh(np.asarray(gram(overlaps)))))
    rule = (
        "must be inner products of unit vectors, but their Gram matrix has the eigenvalue"
        f" {smallest:.3g}")
    require(smallest >= -GRAM_TOLERANCE, "overlaps", overlaps, rule)
    return overlaps
