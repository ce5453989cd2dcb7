"""What `saccade.advise` computes with, beside its definitions: the interval over folds, the
likelihood of a mixture, and the signal of drawn bags."""

from typing import Any

import numpy as np
import xarray
from scipy.stats import t

from saccade.estimators.advise import signal
from saccade.estimators.advise.comparing import corrected_interval
from saccade.estimators.advise.signal import Centre, estimate_signal, fit_mixture
from saccade.estimators.bags import Bags
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.task import generator, sparse_tokens

FOLDS, RATIO, SIGNAL, DIFFERENCE = 7, 0.25, 3.0, 1e-4
PARTS = ("interval", "likelihood", "slope in f", "slope in v", "signal", "halves")


def _interval(values: np.ndarray, ratio: float) -> list[float]:
    """Mean and 95 % interval of a resampled mean: s^2 (1/J + test bags/training bags)."""
    mean = values.sum() / FOLDS
    square = ((values - mean) ** 2).sum() / (FOLDS - 1) * (1 / FOLDS + ratio)
    half = t.isf(0.025, FOLDS - 1) * np.sqrt(square)
    return [mean, mean - half, mean + half]


def _likelihood(z: np.ndarray, share: float, shift: np.ndarray) -> float:
    """The mean log of (1 - f) N(z; 0, I) + f N(z; v, I), less that of noise."""
    shifted, plain = (np.exp(-((z - v) ** 2).sum(axis=1) / 2) for v in (shift, 0 * shift))
    return float(np.mean(np.log((1 - share) * plain + share * shifted) - np.log(plain)))


def _halves_apart(random: np.random.Generator, smaller: float) -> float:
    """The product of the shifts of two halves, less the same from two lists of bags of each kind:
    no bag stands in both, and each half is centred by calm bags of its own."""
    inside, calm = (random.standard_normal((count, 4, 3)) for count in (14, 9))
    inside[:, 0] += [2.0, 1.0, -1.0]
    bags, seed = Bags.from_array(inside), int(random.integers(2**31))
    centre = Centre(calm.sum(axis=1), np.full(len(calm), 4))
    product = signal._halves(bags.tokens, bags, centre, np.random.default_rng(seed))
    again, shifts = np.random.default_rng(seed), []
    chosen = [again.permutation(len(kind)) < len(kind) / 2 for kind in (inside, calm)]
    for half in (True, False):
        mine, rest = (
            np.concatenate([bag for bag, here in zip(kind, one, strict=True) if here == half])
            for kind, one in zip((inside, calm), chosen, strict=True))
        shifts.append(smaller * fit_mixture(mine - rest.mean(axis=0), np.ones(len(mine))).shift)
    return float(product - shifts[0] @ shifts[1])


@experiment("bag-estimators.advice-by-hand")
def advice_by_hand(
    key: Any, *, ratio_by_hand: float = RATIO, told: float = SIGNAL, smaller: float = 1.0
) -> xarray.Dataset:
    """The differences of PARTS; by hand folds share `ratio_by_hand`, bags were drawn with the
    signal `told`, and the shifts of mixtures are `smaller`."""
    random = generator(key)
    values = random.standard_normal(FOLDS)
    interval = np.subtract(corrected_interval(values, RATIO), _interval(values, ratio_by_hand))
    z = random.standard_normal((400, 3))
    z[:100] += [1.5, 1.0, -0.5]
    share, shift, gain = fit_mixture(z, np.ones(len(z)))
    shift = smaller * shift
    ways = DIFFERENCE * np.eye(4)
    ends = [
        [_likelihood(z, share + side * way[0], shift + side * way[1:]) for side in (1, -1)]
        for way in ways]
    slopes = np.abs(np.subtract(*np.transpose(ends))) / (2 * DIFFERENCE)
    X, y, _ = sparse_tokens(random, 200, 8, 3, SIGNAL)
    found = estimate_signal(Bags.from_array(X), y == 1).signal.value
    off = [
        np.abs(interval).max(), abs(gain - _likelihood(z, share, shift)), slopes[0],
        slopes[1:].max(), abs(found - told), abs(_halves_apart(random, smaller))]
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
