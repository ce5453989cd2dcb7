"""How many samples can be separated perfectly: the largest n/d below which a hyperplane in feature
space exists (status: asymptotic).

With Q(t) = E (G - t)_+^2 = (1 + t^2) Phi(-t) - t phi(t), phi the normal density,
    1/alpha_c = min over (m_q, m_o, b) of E[s^2 Q( y (m_q A + m_o S + b) / (tau s) )],
    s^2 = 1 + m_o^2,
a jointly convex function (F(c, s) = s^2 Q(c/s) is convex and rises with s). Pooled and vectorised
drop m_q, and alpha_vec = L alpha_pool exactly. Without signal and with balanced labels it is
Cover's 2 (2 L for the vectorised model). The order vectorised > attention > pooled holds in common
settings only: poor alignment puts attention below pooling, a strong signal puts it above the
vectorised model.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, ndtr

from saccade.studies.sparse_token.task import SparseTokenSetting
from saccade.studies.sparse_token.theory.law import FeatureLaw, feature_law
from saccade.studies.sparse_token.theory.saddle import positive_solve


class Capacity(NamedTuple):
    """The largest separable n/d, the relative gradient there, and what finer quadrature changed."""

    samples_per_dim: float
    status: str
    residual: float
    accuracy: float


def capacity(
    setting: SparseTokenSetting, model: str, alignment: float | None = None,
    sharpness: float | None = None,
) -> Capacity:
    """alpha_c = n/d of a model (d is the token dimension, also for the vectorised one)."""
    start, answers, residual = np.zeros(3), [], np.inf
    for log2_points in (12, 14):
        law = feature_law(setting, model, alignment, sharpness, log2_points)
        start, violation, residual = minimise_violation(law, start)
        answers.append(1 / (violation * law.sample_factor))
    status = "converged" if residual < 1e-8 else "not converged"
    return Capacity(float(answers[1]), status, float(residual), float(abs(answers[1] - answers[0])))


def shortfall(t):
    """Q(t) = E (G - t)_+^2, Q' = -2 E(G - t)_+ and Q'' = 2 Phi(-t); nothing cancels at large t."""
    density = np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi)
    with np.errstate(over="ignore", invalid="ignore"):
        mills = np.sqrt(np.pi / 2) * erfcx(t / np.sqrt(2))
        tail = (density * ((1 + t * t) * mills - t), -2 * density * (1 - t * mills))
    below = ndtr(-t)
    body = ((1 + t * t) * below - t * density, -2 * (density - t * below))
    return np.where(t > 2, tail[0], body[0]), np.where(t > 2, tail[1], body[1]), 2 * below


def violation_derivatives(law: FeatureLaw, x):
    """Value, gradient, Hessian and cancelling size of E[F(c, s)], F = s^2 Q(c/s), at x = (m_q, m_o,
    b).

    c = y (m_q A + m_o S + b)/tau and s^2 = 1 + m_o^2 + m_q^2/(L tau^2): the common shift of the
    tokens in A joins the Gaussian of Q.
    """
    design = np.array([law.along, law.across, np.ones_like(law.along)]) * (law.label / law.spread)
    stiff = np.array(
        [law.shift_variance / law.spread**2, np.ones_like(law.along), np.zeros_like(law.along)])
    s = np.sqrt(1 + (x**2) @ stiff)
    ratio = (x @ design) / s
    Q, Q1, Q2 = shortfall(ratio)
    weight, ds = law.weight, stiff * x[:, None] / s
    by_norm = s * (2 * Q - ratio * Q1)
    gradient = design @ (weight * s * Q1) + ds @ (weight * by_norm)
    size = np.abs(design) @ (weight * s * np.abs(Q1)) + np.abs(ds) @ (weight * np.abs(by_norm))
    # A direction without signal still carries unit noise: without this floor its relative gradient
    # would be 0/0.
    size[:2] += weight @ (s * np.abs(Q1))
    cross = (design * (weight * (Q1 - ratio * Q2))) @ ds.T
    hessian = (design * (weight * Q2)) @ design.T + cross + cross.T
    hessian += (ds * (weight * (2 * Q - 2 * ratio * Q1 + ratio**2 * Q2 - by_norm / s))) @ ds.T
    hessian[np.diag_indices(3)] += stiff @ (weight * by_norm / s)
    return weight @ (s * s * Q), gradient, hessian, np.maximum(size, 1e-300)


def minimise_violation(law: FeatureLaw, start, limit: int = 200):
    """Damped Newton on the convex violation: (minimiser, value, relative gradient)."""
    x = np.array(start, float)
    value, gradient, hessian, size = violation_derivatives(law, x)
    for _ in range(limit):
        if np.max(np.abs(gradient) / size) < 1e-11:
            break
        move = -positive_solve(hessian, gradient)
        damping = 1.0
        for _ in range(40):
            trial = violation_derivatives(law, x + damping * move)
            if trial[0] <= value + 1e-4 * damping * (gradient @ move) + 1e-15 * value:
                break
            damping *= 0.5
        else:
            break
        x = x + damping * move
        value, gradient, hessian, size = trial
    return x, value, float(np.max(np.abs(gradient) / size))
