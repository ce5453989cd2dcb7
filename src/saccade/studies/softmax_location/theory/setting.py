"""The five overlaps that decide everything, the setting, and the checks of both."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float

from saccade.errors import require

Number: TypeAlias = Any
"""A float or an array of floats, NumPy or JAX, traced or not."""
Array = Float[np.ndarray, "..."]

GRAM_TOLERANCE = 1e-9
LARGEST_DIM, LARGEST_LENGTH, LARGEST_NOISE, SMALLEST = 1e15, 1e150, 1e150, 1e-9  # can be squared
LARGEST_SHARPNESS = 400.0  # of lambda max(1, gamma): integrals need some 200 nodes a unit of it


class Overlaps(NamedTuple):
    """Inner products of the learned unit vectors (k, v) with the true orthonormal (k*, v*), or
    batches of them: kappa = k.k*, nu = v.v*, theta = v.k*, eta = k.v*, rho = k.v."""

    kappa: Number
    nu: Number
    theta: Number = 0.0
    eta: Number = 0.0
    rho: Number = 0.0


class Setting(NamedTuple):
    """The task and the temperature: L tokens of size d, N(0, I), the informative one N(sqrt(d/2)
    k*, gamma^2 I); lambda, in softmax(lambda X k); epsilon, the standard deviation of the label
    noise. L may be any real number from 2 on."""

    dim: Number
    length: Number
    inverse_temperature: Number
    gamma: Number = 2**-0.5
    noise: Number = 0.0

    @property
    def shift(self) -> Number:
        """m = sqrt(d/2), the mean of the informative token along k*."""
        return (self.dim / 2) ** 0.5

    @property
    def others(self) -> Number:
        """N = L - 1, the number of uninformative tokens."""
        return self.length - 1


ORACLE = Overlaps(1.0, 1.0)


def gram(overlaps: Overlaps) -> Array:
    """Gram matrix of (k*, v*, k, v). Exact."""
    kappa, nu, theta, eta, rho = np.broadcast_arrays(*(np.asarray(x, float) for x in overlaps))
    one, zero = np.ones_like(kappa), np.zeros_like(kappa)
    rows = [
        [one, zero, kappa, theta], [zero, one, eta, nu], [kappa, eta, one, rho],
        [theta, nu, rho, one]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def in_plane(k_angle: Number, v_angle: Number) -> Overlaps:
    """Both vectors in the plane of k* and v*: k = cos a k* + sin a v*, v = cos b v* + sin b k*, so
    that the oracle is (0, 0)."""
    kappa, eta = np.cos(k_angle), np.sin(k_angle)
    nu, theta = np.cos(v_angle), np.sin(v_angle)
    return Overlaps(kappa, nu, theta, eta, kappa * theta + eta * nu)


def _all(name: str, value: Number, holds: Any, rule: str) -> None:
    """`InvalidInput` unless `value` is finite throughout and `holds(value)` everywhere."""
    numbers = np.asarray(value, float)
    require(bool(np.all(np.isfinite(numbers) & holds(numbers))), name, value, rule)


def check_setting(setting: Setting) -> Setting:
    """The setting itself, or `InvalidInput` naming the parameter that no task can have."""
    _all(
        "dim", setting.dim, lambda x: (x >= 2) & (x == np.floor(x)) & (x <= LARGEST_DIM),
        f"must be a whole number from 2 to {LARGEST_DIM:g}")
    _all(
        "length", setting.length, lambda x: (x >= 2) & (x <= LARGEST_LENGTH),
        f"must be a number from 2 to {LARGEST_LENGTH:g}")
    for name in ("inverse_temperature", "gamma"):
        _all(
            name, getattr(setting, name), lambda x: x >= SMALLEST,
            f"must be a finite number of at least {SMALLEST:g}")
    _all(
        "noise", setting.noise, lambda x: (x >= 0) & (x <= LARGEST_NOISE),
        f"must be a number from 0 to {LARGEST_NOISE:g}")
    sharpness = setting.inverse_temperature * np.maximum(1.0, setting.gamma)
    _all(
        "inverse_temperature * max(1, gamma)", sharpness, lambda x: x <= LARGEST_SHARPNESS,
        f"must be at most {LARGEST_SHARPNESS:g}; argmax is the limit")
    return setting


def check_overlaps(overlaps: Overlaps) -> Overlaps:
    """The overlaps themselves, or `InvalidInput` when no unit vectors have them."""
    for name, value in overlaps._asdict().items():
        _all(name, value, lambda x: np.abs(x) <= 1 + GRAM_TOLERANCE, "must be between -1 and 1")
    smallest = float(np.min(np.linalg.eigvalsh(gram(overlaps))))
    rule = (
        "must be inner products of unit vectors, but their Gram matrix has the eigenvalue"
        f" {smallest:.3g}")
    require(smallest >= -GRAM_TOLERANCE, "overlaps", overlaps, rule)
    return overlaps
