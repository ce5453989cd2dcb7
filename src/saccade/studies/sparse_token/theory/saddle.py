"""The potential whose saddle point is the fitted logistic classifier, with exact first and second
derivatives.

With overlaps m_q = <w, q^>, m_o = <w, e_o>, intercept b, the rest r = |w - m_q q^ - m_o e_o|, s =
sqrt(m_o^2 + r^2) and V > 0:
    omega = m_q A + m_o S + b + tau s G,       eta = argmin_h l(h; y) + (h - omega)^2 / (2 tau^2 V)
    phi = E[ l(eta) + (eta - omega)^2/(2 tau^2 V) ] + lambda/2 (m_q^2 + s^2) - r^2/(2 alpha V).
In (m_q, m_o, b, r) and beta = r/V it is convex in the first four and concave in beta, so the saddle
is unique (status: asymptotic, n and d to infinity with n/d = alpha; the expectation is a
quadrature). Its value at the saddle is the regularised training objective. Setting the derivatives
to zero gives  lambda m_q = -E[l'A],  E[l'] = 0,  m_o = -alpha V E[l'S],  r^2 = alpha V^2 E[tau^2
l'^2]  and 1/alpha = lambda V + E[tau^2 V l''/(1 + tau^2 V l'')].
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from saccade.studies.sparse_token.theory.law import FeatureLaw, Overlaps
from saccade.studies.sparse_token.theory.losses import prox_margin


class Problem(NamedTuple):
    """A law with its Gaussian grid, samples per (effective) dimension alpha and ridge lambda."""

    law: FeatureLaw
    gauss: Float[Array, "node grid"]
    gauss_weight: Float[Array, "node grid"]
    samples_per_dim: float
    ridge: float


def make_problem(
    law: FeatureLaw, samples_per_dim: float, ridge: float, grid_points: int, reach: float
) -> Problem:
    """Attach to every node of the law a trapezoid grid of `grid_points` Gaussian nodes on [-reach,
    reach], shifted by the node's offset."""
    step = 2 * reach / grid_points
    gauss = -reach + step * (np.arange(grid_points) + law.grid_offset[:, None])
    density = np.exp(-0.5 * gauss**2)
    return Problem(
        law, gauss, density / density.sum(1, keepdims=True), samples_per_dim * law.sample_factor,
        ridge)


class Derivatives(NamedTuple):
    """phi, gradient, Hessian in (m_q, m_o, b, s, V); the size of what cancels in the gradient."""

    value: float
    gradient: Float[Array, "5"]
    hessian: Float[Array, "5 5"]
    size: Float[Array, "5"]
    train_loss: float


def potential(problem: Problem, point: Overlaps) -> Derivatives:
    """phi and its derivatives at a point.

    Given a node of the law, omega = centre + deviation G with deviation^2 = tau^2 s^2 + m_q^2/L
    (the common shift of the tokens joins G). The envelope M(omega, gamma), gamma = tau^2 V, has
    dM/domega = l'(eta), dM/dgamma = -l'^2/2 and Hessian e (1, -l')(1, -l')^T with e = l''/(1 +
    gamma l''); the chain rule with d(omega, gamma)/d(m_q, m_o, b, s, V) does the rest.
    """
    law, alpha, ridge = problem.law, problem.samples_per_dim, problem.ridge
    q, o, s, V, r2 = point.query, point.across, point.orthogonal_norm, point.variance, point.rest**2
    centre = q * law.along + o * law.across + point.intercept
    deviation = np.sqrt((law.spread * s) ** 2 + q * q * law.shift_variance)
    step = law.spread**2 * V
    z = prox_margin(
        law.label[:, None] * (centre[:, None] + deviation[:, None] * problem.gauss), step[:, None])
    small = np.exp(-np.abs(z))
    pull = np.where(z > 0, small, 1.0) / (1 + small)
    curve = small / (1 + small) ** 2
    curve /= 1 + step[:, None] * curve
    moments = _grid_moments(problem, pull, curve)
    loss = law.weight @ np.einsum(
        "ng,ng->n", problem.gauss_weight, np.log1p(small) + np.maximum(-z, 0.0))
    gradient, hessian, size = _expected_derivatives(law, moments, q, s, deviation)
    value = (
        loss + 0.5 * (law.weight @ (step * moments.pull2)) + 0.5 * ridge * (q * q + s * s)
        - r2 / (2 * alpha * V))
    extra = np.array(
        [ridge * q, o / (alpha * V), 0.0, ridge * s - s / (alpha * V), r2 / (2 * alpha * V**2)])
    hessian[np.diag_indices(5)] += [
        ridge, 1 / (alpha * V), 0.0, ridge - 1 / (alpha * V), -r2 / (alpha * V**3)]
    hessian[[3, 4], [4, 3]] += s / (alpha * V**2)
    hessian[[1, 4], [4, 1]] -= o / (alpha * V**2)
    return Derivatives(float(value), gradient + extra, hessian, size + np.abs(extra), float(loss))


class _Moments(NamedTuple):
    """Grid averages of p = -y l', p G, p^2; of the curvature e times 1, G, G^2, p, p G, p^2."""

    pull: Array
    pull_g: Array
    pull2: Array
    curve: Array
    curve_g: Array
    curve_g2: Array
    curve_p: Array
    curve_pg: Array
    curve_p2: Array


def _grid_moments(problem: Problem, pull: Array, curve: Array) -> _Moments:
    weight, gauss = problem.gauss_weight, problem.gauss
    wp, we = weight * pull, weight * curve
    wep, weg = we * pull, we * gauss

    def dot(a, b):
        return np.einsum("ng,ng->n", a, b)

    return _Moments(
        wp.sum(1), dot(wp, gauss), dot(wp, pull), we.sum(1), weg.sum(1), dot(weg, gauss),
        wep.sum(1), dot(wep, gauss), dot(wep, pull))


def _expected_derivatives(law: FeatureLaw, m: _Moments, q: float, s: float, deviation: Array):
    """Gradient, Hessian and cancelling size of E[M]: j = steady + wobble G + recoil p is d(omega,
    gamma) as seen by (1, -l')."""
    nodes, label, spread2 = len(law.weight), law.label, law.spread**2
    steady, wobble, recoil = np.zeros((5, nodes)), np.zeros((5, nodes)), np.zeros((5, nodes))
    steady[0], steady[1], steady[2] = law.along, law.across, 1.0
    wobble[0], wobble[3] = q * law.shift_variance / deviation, spread2 * s / deviation
    recoil[4] = label * spread2
    first = -label * m.pull * steady - label * m.pull_g * wobble
    first[4] = -0.5 * spread2 * m.pull2
    size = np.abs(first) @ law.weight
    # A direction without signal (S = 0 at alignment +-1) still carries noise tau: without this
    # floor its residual would be 0/0.
    size[:2] += law.weight @ (law.spread * m.pull)

    def paired(left, factor, right):
        product = (left * (law.weight * factor)) @ right.T
        return product if left is right else product + product.T

    hessian = (
        paired(steady, m.curve, steady) + paired(wobble, m.curve_g2, wobble)
        + paired(recoil, m.curve_p2, recoil))
    hessian += (
        paired(steady, m.curve_g, wobble) + paired(steady, m.curve_p, recoil)
        + paired(wobble, m.curve_pg, recoil))
    bend = law.weight * -label * m.pull_g / deviation
    hessian[0, 0] += bend @ (law.shift_variance - wobble[0] ** 2)
    hessian[3, 3] += bend @ (spread2 - wobble[3] ** 2)
    hessian[0, 3] -= bend @ (wobble[0] * wobble[3])
    hessian[3, 0] -= bend @ (wobble[0] * wobble[3])
    return first @ law.weight, hessian, size
