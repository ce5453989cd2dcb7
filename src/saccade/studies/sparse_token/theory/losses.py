"""The two losses of the study and their first derivative: logistic log(1 + e^{-yh}) and square
(y - h)^2 / 2 (exact)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from saccade.errors import unknown


class Loss(NamedTuple):
    """l(h; y), its derivative in h, and the offset o for which y*prox > 0 iff y*omega + o*step > 0
    (o = |l'(0; y)|)."""

    value: Callable
    derivative: Callable
    sign_offset: float


LOSSES = {
    "logistic": Loss(lambda h, y: np.logaddexp(0.0, -y * h), lambda h, y: -y * expit(-y * h), 0.5),
    "square": Loss(lambda h, y: 0.5 * (y - h) ** 2, lambda h, y: h - y, 1.0)}


def get_loss(name: str) -> Loss:
    """The loss of that name, or a refusal that lists the known ones."""
    if name not in LOSSES:
        raise unknown("loss", str(name), LOSSES)
    return LOSSES[name]
