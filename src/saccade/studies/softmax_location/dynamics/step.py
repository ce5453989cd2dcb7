"""One projected-gradient step on two spheres, seen by the five overlaps: exact in any dimension.

A risk that depends on (k, v) through the overlaps alone has its gradients in span(k*, v*, k, v), so
the step maps overlaps to overlaps; only the gradient knows the risk. Status: exact.
"""

from typing import Any

import numpy as np

from saccade.studies.softmax_location.theory import Overlaps


def projected_step(at: Overlaps, gradient: Overlaps, step_size: Any, xp: Any = np) -> Overlaps:
    """k' = (k - alpha p)/sqrt(1 + alpha^2 |p|^2), p = (I - k k^T) grad_k, and v' with q
    likewise."""
    return step_and_length(at, gradient, (step_size, step_size), xp)[0]


def step_and_length(
    at: Overlaps, gradient: Overlaps, step_sizes: tuple[Any, Any], xp: Any = np
) -> tuple[Overlaps, Any]:
    """The step, with its own size for k and for v, and the length of k before it is normalised.

    p has the coefficients (R_kappa, R_eta, -s_k, R_rho) on (k*, v*, k, v), q has (R_theta, R_nu,
    R_rho, -s_v); s_k and s_v are the radial parts that the projection removes. NumPy or JAX (`xp`).
    """
    kappa, nu, theta, eta, rho = at
    g, (k_step, v_step) = gradient, step_sizes
    s_k = g.kappa * kappa + g.eta * eta + g.rho * rho
    s_v = g.theta * theta + g.nu * nu + g.rho * rho
    p, q = (g.kappa, g.eta, -s_k, g.rho), (g.theta, g.nu, g.rho, -s_v)
    p_on, q_on = _on_basis(p, at), _on_basis(q, at)
    k_length, v_length = (
        xp.sqrt(1 + step**2 * xp.maximum(_dot(x, on), 0.0))
        for step, x, on in ((k_step, p, p_on), (v_step, q, q_on)))
    k_moved = [(x - k_step * on) / k_length for x, on in zip((kappa, eta), p_on, strict=False)]
    v_moved = [(x - v_step * on) / v_length for x, on in zip((theta, nu), q_on, strict=False)]
    product = rho - k_step * p_on[3] - v_step * q_on[2] + k_step * v_step * _dot(p, q_on)
    kappa, eta, theta, nu, rho = (
        xp.clip(x, -1.0, 1.0) for x in (*k_moved, *v_moved, product / (k_length * v_length)))
    return Overlaps(kappa, nu, theta, eta, rho), k_length


def _on_basis(c: tuple, at: Overlaps) -> tuple[Any, Any, Any, Any]:
    """Inner products of c_1 k* + c_2 v* + c_3 k + c_4 v with k*, v*, k and v."""
    kappa, nu, theta, eta, rho = at
    return (
        c[0] + c[2] * kappa + c[3] * theta, c[1] + c[2] * eta + c[3] * nu,
        c[0] * kappa + c[1] * eta + c[2] + c[3] * rho, c[0] * theta + c[1] * nu + c[2] * rho + c[3])


def _dot(c: tuple, on: tuple) -> Any:
    return sum(a * b for a, b in zip(c, on, strict=True))
