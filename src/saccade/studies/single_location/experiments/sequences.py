"""The oracle's excess risk along sequences of (d, L, lambda), by quadrature of its definition, with
true directions that are orthogonal or lean on each other."""

from typing import Any

import numpy as np
import xarray
from scipy.special import erf, erfc

from saccade.lab.experiment import experiment
from saccade.studies.single_location.experiments.closed_forms import gaussian_mean


def _excess(dim: float, length: float, lam: float, gamma: float, lean: float) -> float:
    """E[(Y - T)^2] at (k*, v*) without noise when k*.v* = `lean`. Of the informative token 1 - erf
    is missed; given its score x in deviations, its answer is normal around lean (sqrt(d/2) + gamma
    x). The others let in erf(lambda z) (lean z + ..)."""
    shift, spread, own = lam * np.sqrt(dim / 2), lam * gamma, gamma**2 * (1 - lean**2)

    def answer(score: float) -> float:
        return lean * score / lam

    missed = gaussian_mean(lambda s: erfc(s) ** 2 * (answer(s) ** 2 + own), shift, spread**2)
    bias = gaussian_mean(lambda s: erfc(s) * answer(s), shift, spread**2)
    square = gaussian_mean(lambda s: erf(s) ** 2 * (answer(s) ** 2 + 1 - lean**2), 0.0, lam**2)
    mean = gaussian_mean(lambda s: erf(s) * answer(s), 0.0, lam**2)
    others = (length - 1) * (square + (length - 2) * mean**2)
    return missed + others - 2 * (length - 1) * bias * mean


@experiment("single-location.oracle-sequences")
def oracle_sequences(
    key: Any, *,
    sequences: tuple[tuple[float, float], ...] = ((0.0, 0.2), (0.25, 0.3), (0.5, 0.4), (0.8, 0.45)),
    dims: tuple[float, ...] = (1e6, 1e8, 1e10, 1e12), gamma: float = 0.8, lean: float = 0.0,
    longer: float = 0.0, sharper: float = 0.0,
) -> xarray.Dataset:
    """Excess risks for L = 5 d^a and lambda = d^-b, for each sequence (a, b); `longer` is added to
    a, `sharper` taken from b."""
    rows = [
        [_excess(d, 5 * d ** (a + longer), d ** (sharper - b), gamma, lean) for d in dims]
        for a, b in sequences]
    return xarray.Dataset({"excess": (("sequence", "dim"), np.array(rows))}, {"dim": list(dims)})
