"""How many images transfer needs as the number of patches D grows, at C patches a set and q D busy
ones: with the sets in the attention, and for learners that must find them (Theorems 5.1 and 5.2).
No network is trained on images: v takes one normalised step, sets are found by counting pairs.

Noise enters in two sums only. That over all patches of an image, of which the step is made, is
Gaussian with variance D sigma^2 in every direction orthogonal to w*; that of a patch along v has
variance sigma^2 |v|^2. Both are drawn as such, which is the law of images in d = D dimensions.
"""

from functools import partial
from typing import Any

import jax
import numpy as np
import xarray

from saccade.arrays import generator as generator_of
from saccade.convex import fit_readout
from saccade.lab.experiment import experiment
from saccade.studies.spatial.dynamics import descent as dynamics
from saccade.studies.spatial.dynamics.descent import Layer, Scalars, Setting
from saccade.studies.spatial.models import output, three_value_attention
from saccade.studies.spatial.task import Spatial, sample_signals

SIZES = (16, 36, 64, 100, 144)
RIVALS = ("untrained", "other sets")


def _pretrained(patches: int, set_size: int, rate: float, steps: int) -> tuple[float, float]:
    """gamma and rho at the last step of descent on the population. Step sizes go with D as the
    gradients do: alpha's grows like D, gamma's falls like D^-2."""
    setting = Setting(patches, set_size, rate, 3, 1e-4, 1.0)
    used = dynamics.thinned(setting.states(most=4000), 1000)
    path = dynamics.idealised_descent(
        Scalars(0.01, 0.0, 0.0), setting, 0.064 / patches, 30 * (patches / 64) ** 2,
        np.asarray([steps]), used)
    return float(path.scalars.gamma[-1]), float(path.scalars.rho[-1])


def _weights(patches: int, set_size: int, gamma: float, rho: float) -> np.ndarray:
    """D times the softmax weights of the own patch, its set and all others; the diagonal is 1."""
    raised = np.exp([1.0, gamma, rho])
    return patches * raised / (raised @ [1, set_size - 1, patches - set_size])


def _looked(values: np.ndarray, weights: np.ndarray, set_size: int) -> np.ndarray:
    """What every patch gets from all of them; sets are runs of C patches."""
    own, same, other = weights
    sums = np.repeat(values.reshape(len(values), -1, set_size).sum(axis=2), set_size, axis=1)
    total = values.sum(axis=1, keepdims=True)
    return own * values + same * (sums - values) + other * (total - sums)


def _images(random: np.random.Generator, patches: int, set_size: int, rate: float, n: int) -> tuple:
    signals, y, _ = sample_signals(random, np.arange(patches) // set_size, rate, n)
    return signals, y


def _steps(
    random: np.random.Generator, signals: np.ndarray, y: np.ndarray, few: tuple[int, ...],
    noise: float,
) -> np.ndarray:
    """Cosine with w* of one normalised step from the first N images, for every N in `few`."""
    patches, number = signals.shape[1], np.arange(1, len(y) + 1)
    along = np.cumsum(y * signals.sum(axis=1)) / number
    drawn = np.sqrt(patches) * noise * random.standard_normal((len(y), patches - 1))
    across = np.linalg.norm(np.cumsum(drawn, axis=0), axis=1) / number
    return (along / np.hypot(along, across))[np.asarray(few) - 1]


def _cubes(z: np.ndarray) -> np.ndarray:
    """The sum of z^3 over patches; `z**3` is ten times as slow."""
    return np.einsum("ni,ni,ni->n", z, z, z)


def _wrong(F: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean((y * F < 0) + 0.5 * (F == 0)))


@experiment("spatial.transfer-scaling")
def transfer_scaling(
    key: Any, *, sizes: tuple[int, ...] = SIZES, set_size: int = 4, busy: float = 6.0,
    few: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 16, 32), test: int = 300, steps: int = 1500,
    repetitions: int = 48, loudness: float = 0.0,
) -> xarray.Dataset:
    """Errors on a new feature after one normalised step on N images with the attention of the last
    step of pretraining on the population; and on all of the images with the untrained attention,
    and with one that knows other sets of the same size (windows that do not fit: a convolutional
    layer). sigma^2 = d^(loudness - 1)."""
    random, table, rivals, ends = generator_of(key), [], [], []
    for patches in sizes:
        rate, sigma = busy / patches, patches ** ((loudness - 1) / 2)
        ends.append(_pretrained(patches, set_size, rate, steps))
        known, untrained = (_weights(patches, set_size, *end) for end in (ends[-1], (0.0, 0.0)))
        for _ in range(repetitions):
            shown, labels = _images(random, patches, set_size, rate, max(few))
            cosines = _steps(random, shown, labels, few, sigma)
            signals, y = _images(random, patches, set_size, rate, test)
            fresh = np.stack([signals, sigma * random.standard_normal(signals.shape)])
            mixed = fresh[:, :, random.permutation(patches)]
            table.append([_error(fresh, y, known, set_size, c) for c in cosines])
            last = cosines[-1]
            rivals.append([
                _error(fresh, y, untrained, set_size, last),
                _error(mixed, y, known, set_size, last)])
    shape = (len(sizes), repetitions)
    return xarray.Dataset(
        {
            "error": (("size", "repetition", "few"), np.reshape(table, (*shape, len(few)))),
            "rival": (("size", "repetition", "kind"), np.reshape(rivals, (*shape, 2))),
            "attention": (("size", "scalar"), np.asarray(ends))},
        {"size": list(sizes), "few": list(few), "kind": list(RIVALS), "scalar": ["gamma", "rho"]})


def _error(
    fresh: np.ndarray, y: np.ndarray, weights: np.ndarray, set_size: int, cosine: float
) -> float:
    """Of a layer whose v has length one and that cosine with w*, on signals and noise."""
    seen = cosine * fresh[0] + np.sqrt(1 - cosine * cosine) * fresh[1]
    return _wrong(_cubes(_looked(seen, weights, set_size)), y)


def _paired(signals: np.ndarray, set_size: int) -> np.ndarray:
    """Which patches most often agree with each patch: the C - 1 with the largest sum of x_i x_j
    (ties by place)."""
    agree = signals.T @ signals
    np.fill_diagonal(agree, np.inf)
    chosen = np.argsort(-agree, axis=1, kind="stable")[:, :set_size]
    found = np.zeros_like(agree)
    np.put_along_axis(found, chosen, 1.0, axis=1)
    return found


@experiment("spatial.sets-from-pairs")
def sets_from_pairs(
    key: Any, *, sizes: tuple[int, ...] = SIZES, set_size: int = 4, busy: float = 6.0,
    images: tuple[int, ...] = (16, 32, 48, 64, 96, 128, 192, 256), test: int = 500,
    repetitions: int = 36,
) -> xarray.Dataset:
    """Errors of two learners that know the feature (so they see signals without noise) and not the
    sets: one reads every patch with the C - 1 that most often agree with it, the other, on all
    images, is logistic regression with a weight for each patch."""
    random, paired, linear = generator_of(key), [], []
    for patches in sizes:
        rate = busy / patches
        for _ in range(repetitions):
            order = random.permutation(patches)  # so that ties by place do not tell the sets
            signals, y = _images(random, patches, set_size, rate, max(images))
            fresh, label = _images(random, patches, set_size, rate, test)
            signals, fresh = signals[:, order], fresh[:, order]
            for n in images:
                same = _paired(signals[:n], set_size)
                paired.append(_wrong(_cubes(fresh @ same.T), label))
            weights = fit_readout(signals, y, 0.01, tolerance=1e-4).w
            linear.append(_wrong(fresh @ weights, label))
    shape = (len(sizes), repetitions)
    return xarray.Dataset(
        {
            "paired": (("size", "repetition", "images"), np.reshape(paired, (*shape, len(images)))),
            "linear": (("size", "repetition"), np.reshape(linear, shape))},
        {"size": list(sizes), "images": list(images)})


@partial(jax.jit, static_argnums=4)
def _slopes(X: Any, y: Any, A: Any, v: Any, layer: Layer) -> Any:
    """Gradients in v of the loss on each of several samples."""
    return jax.vmap(jax.grad(dynamics.sample_loss, 3), (0, 0, None, None, None))(X, y, A, v, layer)


@experiment("spatial.reduced-sampler")
def reduced_sampler(
    key: Any, *, patches: int = 12, dim: int = 12, set_size: int = 3, spurious_rate: float = 0.35,
    noise: float = 0.95, told: float = 0.95, few: tuple[int, ...] = (3, 12, 40), gamma: float = 1.1,
    rho: float = -0.3, slope: float = 0.2, test: int = 150, repetitions: int = 300,
) -> xarray.Dataset:
    """Cosines with w* and errors as `transfer_scaling` draws them, with noise `told`, beside those
    of the same signals in whole images of d dimensions: v = -g/|g|, g the gradient at v = 0 by
    automatic differentiation of the layer's loss on N images, and the errors with that v."""
    random, labels = generator_of(key), np.arange(patches) // set_size
    A = three_value_attention(labels, 1.0, gamma, rho)
    weights = _weights(patches, set_size, gamma, rho)
    drawn, tasks = [], []
    for _ in range(repetitions):
        feature = random.standard_normal(dim)
        task = Spatial(labels, feature / np.linalg.norm(feature), spurious_rate, noise)
        shown, fresh = (task.sample(random, n) for n in (max(few), test))
        cosines = _steps(random, shown.signals, shown.y, few, told)
        parts = np.stack([fresh.signals, told * random.standard_normal(fresh.signals.shape)])
        drawn.append([cosines, [_error(parts, fresh.y, weights, set_size, c) for c in cosines]])
        tasks.append((task.feature, shown.X, shown.y, fresh))
    whole = np.zeros((repetitions, 2, len(few)))
    X, y = (np.stack([one[part] for one in tasks]) for part in (1, 2))
    for k, n in enumerate(few):
        steps = -np.asarray(_slopes(X[:, :n], y[:, :n], A, np.zeros(dim), Layer(3, slope)))
        for r, (feature, _, _, fresh) in enumerate(tasks):
            v = steps[r] / np.linalg.norm(steps[r])
            wrong = np.mean(fresh.y * output(fresh.X, A, v, 3, 0.0) < 0)
            whole[r, :, k] = v @ feature, wrong
    dims = ("repetition", "of", "few")
    return xarray.Dataset(
        {"drawn": (dims, np.asarray(drawn)), "whole": (dims, whole)},
        {"few": list(few), "of": ["cosine", "error"]})


@experiment("spatial.pairs-by-hand")
def pairs_by_hand(
    key: Any, *, patches: int = 15, set_size: int = 3, spurious_rate: float = 0.4,
    images: tuple[int, ...] = (4, 12, 40), companions: int = 2, signed: bool = True,
) -> xarray.Dataset:
    """The share of entries in which the patches read by `_paired` differ from those of a loop: the
    patch itself and the `companions` others with the largest sum of x_i x_j (of |x_i x_j| unless
    `signed`), the earlier first among equals; by number of images, in a random order of patches."""
    random, gaps = generator_of(key), []
    for n in images:
        signals, _ = _images(random, patches, set_size, spurious_rate, n)
        signals = signals[:, random.permutation(patches)]
        rows = []
        for i in range(patches):
            agree = {}
            for j in range(patches):
                terms = [float(x[i] * x[j]) for x in signals]
                agree[j] = sum(terms if signed else map(abs, terms))
            others = sorted((j for j in range(patches) if j != i), key=lambda j: (-agree[j], j))
            rows.append([float(j == i or j in others[:companions]) for j in range(patches)])
        gaps.append(np.mean(np.abs(_paired(signals, set_size) - np.asarray(rows))))
    return xarray.Dataset({"gap": ("images", gaps)}, {"images": list(images)})
