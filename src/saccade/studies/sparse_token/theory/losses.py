"""The two losses of the study, logistic log(1 + e^{-yh}) and square (y - h)^2 / 2, and the proximal
point of the logistic one, to rounding, for any step (exact)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array
from scipy.special import expit

from saccade.errors import require, unknown


def prox_margin(
    margin: Float[Array, "..."], step: Float[Array, "..."], sweeps: int = 60
) -> Float[Array, "..."]:
    """z = argmin log(1+e^{-z}) + (z - margin)^2 / (2 step), i.e. the root of F(z) = z - margin -
    step * sigmoid(-z) (exact to rounding).

    F is increasing, convex for z < 0 and concave for z > 0. The root is positive iff margin +
    step/2 > 0. On its own half-line Newton started on the flat side (max(0, margin) where F is
    concave, min(0, margin + step) where it is convex) is monotone, so it can neither leave it,
    cycle, or stop early; mixes of bisection and Newton did both for steps above about 50. About
    log(step) sweeps are needed.
    """
    margin, step = np.asarray(margin, float), np.asarray(step, float)
    z = np.where(margin + 0.5 * step > 0, np.maximum(margin, 0.0), np.minimum(margin + step, 0.0))
    rounding = 4e-15 * (1.0 + np.abs(margin))
    with np.errstate(over="ignore"):  # e^z = inf is the right limit: the sigmoid is then zero
        for _ in range(sweeps):
            sigmoid = 1.0 / (1.0 + np.exp(z))
            pull = step * sigmoid
            move = (z - margin - pull) / (1.0 + pull * (1.0 - sigmoid))
            z -= move
            if np.all(np.abs(move) <= rounding):
                break
    return z


class Loss(NamedTuple):
    """l(h; y), its derivatives in h, prox(omega, step, y), and the offset o = |l'(0; y)| for which
    y*prox > 0 iff y*omega + o*step > 0."""

    value: Callable
    derivative: Callable
    curvature: Callable
    prox: Callable
    sign_offset: float


LOSSES = {
    "logistic": Loss(
        lambda h, y: np.logaddexp(0.0, -y * h), lambda h, y: -y * expit(-y * h),
        lambda h, y: expit(h) * expit(-h), lambda omega, step, y: y * prox_margin(y * omega, step),
        0.5),
    "square": Loss(
        lambda h, y: 0.5 * (y - h) ** 2, lambda h, y: h - y, lambda h, y: np.ones_like(h),
        lambda omega, step, y: (omega + step * y) / (1 + step), 1.0)}


def get_loss(name: str) -> Loss:
    """The loss of that name, or a refusal that lists the known ones."""
    if name not in LOSSES:
        raise unknown("loss", str(name), LOSSES)
    return LOSSES[name]


def prox_logistic(omega, step, label) -> Float[Array, "..."]:
    """argmin over h of log(1 + e^{-label h}) + (h - omega)^2 / (2 step), elementwise."""
    omega, step = np.asarray(omega, float), np.asarray(step, float)
    require(label in (1, -1), "label", label, "must be +1 or -1")
    require(bool(np.all(np.isfinite(omega))), "omega", omega.tolist(), "must be finite")
    allowed = bool(np.all(np.isfinite(step) & (step >= 0)))
    require(allowed, "step", step.tolist(), "must be finite and at least 0")
    same = omega.shape == step.shape or omega.ndim == 0 or step.ndim == 0
    require(
        same, "step", step.shape, f"is its shape and must match the shape {omega.shape} of omega")
    return label * prox_margin(label * omega, step)
