"""The risk of T = sum_l p_l X_l . v in five overlaps, and its exact gradient, from the moments.

Given the scores, tokens are Gaussian, so the risk is a quadratic polynomial in (nu, theta, eta,
rho) whose coefficients are moments of the weights; kappa enters through these alone. Two algebraic
forms of one polynomial: in p where the layer hardly looks at the informative token, in r = 1 - p
where it hardly looks at the others; each is free of cancellation on its side. The functions of
moments take NumPy and JAX arrays. Status: exact, given the moments (quadrature).
"""

from typing import Any, NamedTuple

import numpy as np

from .kernels import FINE, FINEST, Rule
from .moments import Moments, moments
from .setting import Array, Number, Overlaps, Setting


class Value(NamedTuple):
    """The risk and its partial derivatives."""

    risk: Any
    gradient: Overlaps


def derivative(M: Moments, setting: Setting) -> Moments:
    """d/dkappa E[x^j X] = (m/gamma) (E[x^(j+1) X] - j E[x^(j-1) X]), by parts."""
    slope = setting.shift / setting.gamma

    def one(values: Any) -> list[Any]:
        return [
            slope * (values[j + 1] - (j * values[j - 1] if j else 0.0))
            for j in range(len(values) - 1)]

    return Moments(*(one(values) for values in M))


def _p_form(at: Overlaps, s: Setting, M: Moments) -> Any:
    """E[T^2] - 2 E[Y T]."""
    _, nu, theta, eta, rho = at
    g, a = s.gamma, s.shift * theta
    product = (
        g**2 * (nu - eta * rho) * M.p[0] + eta * g * a * M.p[1] + eta * rho * g**2 * M.p[2]
        + eta * rho * g * M.b[1])
    square = (
        a**2 * M.pp[0] + 2 * a * rho * g * M.pp[1] + (rho * g) ** 2 * M.pp[2]
        + 2 * rho * (a * M.pb[0] + rho * g * M.pb[1]) + rho**2 * M.bb[0]
        + (1 - rho**2) * (g**2 * M.pp[0] + M.q[0]))
    return square - 2 * product


def _r_form(at: Overlaps, s: Setting, M: Moments) -> Any:
    """The same plus gamma^2, less what does not depend on kappa: a^2 + 2 gamma^2 (1 - nu)."""
    _, nu, theta, eta, rho = at
    g, a, D = s.gamma, s.shift * theta, rho - eta
    linear = (
        g**2 * ((1 - nu) - rho * D) * M.r[0] + a**2 * M.r[0] + a * g * (D + rho) * M.r[1]
        + D * rho * g**2 * M.r[2] - rho * a * M.b[0] - rho * D * g * M.b[1])
    square = (
        a**2 * M.rr[0] + 2 * a * rho * g * M.rr[1] + (rho * g) ** 2 * M.rr[2]
        - 2 * rho * (a * M.rb[0] + rho * g * M.rb[1]) + rho**2 * M.bb[0]
        + (1 - rho**2) * (g**2 * M.rr[0] + M.q[0]))
    return square - 2 * linear


def _p_slopes(at: Overlaps, s: Setting, M: Moments) -> tuple[Any, Any, Any]:
    """Derivatives by theta, eta, rho of the form in p."""
    _, _, theta, eta, rho = at
    g, a = s.gamma, s.shift * theta
    read = g**2 * M.p[2] - g**2 * M.p[0] + g * M.b[1]
    in_theta = -eta * g * M.p[1] + a * M.pp[0] + rho * g * M.pp[1] + rho * M.pb[0]
    in_rho = (
        -eta * read + a * (g * M.pp[1] + M.pb[0])
        + rho * (g**2 * M.pp[2] + 2 * g * M.pb[1] + M.bb[0] - g**2 * M.pp[0] - M.q[0]))
    return 2 * s.shift * in_theta, -2 * (rho * read + g * a * M.p[1]), 2 * in_rho


def _r_slopes(at: Overlaps, s: Setting, M: Moments) -> tuple[Any, Any, Any]:
    """The same, of the form in r."""
    _, _, theta, eta, rho = at
    g, a, twice = s.gamma, s.shift * theta, 2 * rho - eta  # D + rho
    in_theta = (
        a * (1 - 2 * M.r[0] + M.rr[0]) - g * twice * M.r[1] + rho * M.b[0] + rho * g * M.rr[1]
        - rho * M.rb[0])
    in_eta = -(g**2) * rho * M.r[0] + a * g * M.r[1] + rho * g**2 * M.r[2] - rho * g * M.b[1]
    in_rho = (
        g**2 * twice * (M.r[0] - M.r[2]) + g * twice * M.b[1] - 2 * a * g * M.r[1] + a * M.b[0]
        + a * (g * M.rr[1] - M.rb[0])
        + rho * (g**2 * M.rr[2] - 2 * g * M.rb[1] + M.bb[0] - g**2 * M.rr[0] - M.q[0]))
    return 2 * s.shift * in_theta, 2 * in_eta, 2 * in_rho


def _choose(xp: Any, looks: Any, far: Any, near: Any) -> Any:
    """The form in r where the layer looks at the informative token, E p > 1/2; else that in p."""
    return xp.where(looks, near, far)


def evaluate(
    at: Overlaps, setting: Setting, M: Moments, xp: Any = np, by_kappa: Any = derivative
) -> Value:
    """Risk and gradient from moments at the same kappa; `xp` is numpy or jax.numpy."""
    looks = M.p[0] > 0.5
    constant = (setting.shift * at.theta) ** 2 + 2 * setting.gamma**2 * (1 - at.nu)
    risk = setting.noise**2 + _choose(
        xp, looks, setting.gamma**2 + _p_form(at, setting, M), constant + _r_form(at, setting, M))
    slope = by_kappa(M, setting)
    in_kappa = _choose(xp, looks, _p_form(at, setting, slope), _r_form(at, setting, slope))
    rest = [
        _choose(xp, looks, far, near)
        for far, near in zip(_p_slopes(at, setting, M), _r_slopes(at, setting, M), strict=True)]
    return Value(risk, Overlaps(in_kappa, -2 * setting.gamma**2 * M.p[0], *rest))


def risk(at: Overlaps, setting: Setting, rule: Rule = FINE) -> Value:
    """Risk and gradient at one setting; overlaps may be arrays of one shape."""
    return evaluate(at, setting, moments(setting, at.kappa, rule))


def with_accuracy(function: Any) -> tuple[Any, float]:
    """`function(rule)` by the finest rule, and its largest difference to the fine one relative to
    its largest number, not below rounding: an estimate of the error that errs on the safe side."""
    best, other = function(FINEST), function(FINE)
    numbers, check = (np.ravel(np.asarray(x, float)) for x in (best, other))
    scale = float(np.max(np.abs(numbers), initial=1e-300))
    return best, max(float(np.max(np.abs(numbers - check))) / scale, 4e-16)


def manifold_risk(kappa: Number, nu: Number, setting: Setting) -> Array:
    """On theta = eta = rho = 0: eps^2 + gamma^2 - 2 gamma^2 nu E p + gamma^2 E p^2 + E q."""
    return risk(Overlaps(np.asarray(kappa, float), np.asarray(nu, float)), setting).risk
