"""The proximal point of the logistic loss, to rounding, for any step."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from saccade.errors import require


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


def prox_logistic(omega, step, label) -> Float[Array, "..."]:
    """argmin over h of log(1 + e^{-label h}) + (h - omega)^2 / (2 step), elementwise; `step` >= 0,
    `label` +1 or -1."""
    omega, step = np.asarray(omega, float), np.asarray(step, float)
    require(label in (1, -1), "label", label, "must be +1 or -1")
    require(bool(np.all(np.isfinite(omega))), "omega", omega.tolist(), "must be finite")
    require(
        bool(np.all(np.isfinite(step) & (step >= 0))), "step", step.tolist(),
        "must be finite and at least 0")
    same = omega.shape == step.shape or omega.ndim == 0 or step.ndim == 0
    require(
        same, "step", step.shape, f"is its shape and must match the shape {omega.shape} of omega")
    return label * prox_margin(label * omega, step)
