"""What drives alpha while the sigmoid is still one half: the signal set and everything else, in
closed form for the cubic."""

from typing import NamedTuple

import numpy as np

from saccade.errors import require
from saccade.studies.spatial.theory.setting import Scalars, Setting, mixing


class Drive(NamedTuple):
    """E y sum_i (D <w*, O_i>)^3 over the patches of the signal set, and over all others (the
    paper's noise term)."""

    signal: float
    noise: float


def early_drive(setting: Setting, gamma: float = 0.0, rho: float = 0.0) -> Drive:
    """Both terms for p = 3 at alpha = 1. Status: exact.

    A signal patch gets z = a + b C + c (C + R) with R the sum of D - C spurious signals, so E z^3 =
    m^3 + 3 m c^2 q (D - C), m its mean. Any other gets z = W + c C with W odd: E z^3 = 3 c C E W^2
    + (c C)^3, and E W^2 = q (a^2 + 2 a (b+c) + C (b+c)^2 + c^2 (D - 2C)). Lemma D.6 says that the
    second is zero; it would be without the term c C, by which every patch also sees the signal set.
    """
    require(setting.degree == 3, "degree", setting.degree, "must be 3 for the closed form")
    a, b, c = (float(number) for number in np.asarray(mixing(Scalars(1.0, gamma, rho), setting)))
    D, C, q = setting.patches, setting.set_size, setting.spurious_rate
    mean = a + b * C + c * C
    signal = C * (mean**3 + 3 * mean * c**2 * q * (D - C))
    spread = q * (a**2 + 2 * a * (b + c) + C * (b + c) ** 2 + c**2 * (D - 2 * C))
    return Drive(signal, (D - C) * (3 * c * C * spread + (c * C) ** 3))
