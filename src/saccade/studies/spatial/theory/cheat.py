"""The transformer that generalises without association (Theorem 3.2): every patch reads the set
after its own."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from saccade.errors import require
from saccade.studies.spatial.theory.population import error_of, terms
from saccade.studies.spatial.theory.setting import Setting, check_setting
from saccade.studies.spatial.theory.states import population_states


class Cheat(NamedTuple):
    """Error (a tie counts 1/2), loss, and the probability of thinned states (0: exact)."""

    error: float
    loss: float
    thinned: float


def cheat(setting: Setting, sharpness: float) -> Cheat:
    """v = w*, A_ij = B on the next set, else 0. Status: exact.

    A patch of set l gets z = D (e^B s + K - s) / (C e^B + D - C) with s the sum of set l + 1. The
    sets are exchangeable and each is read by one other, so F is that of a model with a = 0, b = D
    (e^B - 1)/Z, c = D/Z.
    """
    check_setting(setting)
    require(
        setting.sets >= 2, "number of sets", setting.sets,
        "must be at least 2: there is no next set")
    require(bool(sharpness >= 0), "sharpness", sharpness, "must be at least 0")
    states = population_states(
        setting.patches, setting.set_size, setting.spurious_rate, setting.degree, True)
    below = float(
        np.exp(-sharpness / setting.temperature)
    )  # divided by e^B, so that a large B is no overflow
    partition_sum = setting.set_size + (setting.patches - setting.set_size) * below
    abc = jnp.asarray([
        0.0, setting.patches * (1 - below) / partition_sum,
        setting.patches * below / partition_sum])
    F = np.asarray(terms(abc, setting)) @ states.coefficients
    return Cheat(
        error_of(F, states.probability), float(states.probability @ np.logaddexp(0.0, -F)),
        states.thinned)
