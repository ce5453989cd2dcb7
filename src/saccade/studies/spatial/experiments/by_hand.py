"""The task, the models and the population beside plain loops and lists that know nothing of the
code they judge: the layer patch by patch, Bayes from all images, the law of both samplers."""

from collections import defaultdict
from itertools import product
from math import comb
from typing import Any

import jax
import numpy as np
import xarray

from saccade.arrays import generator
from saccade.lab.experiment import experiment
from saccade.studies.spatial import models
from saccade.studies.spatial import task as tasks
from saccade.studies.spatial.dynamics import descent
from saccade.studies.spatial.dynamics.descent import Layer, Scalars, Setting, States
from saccade.studies.spatial.task import Spatial, all_images, interleaved

LAYER = Layer(3, 0.2, 1.4)


def _largest(one: Any, other: Any) -> float:
    return float(np.max(np.abs(np.asarray(one, float) - np.asarray(other, float))))


def _looped(X: Any, A: Any, v: Any, there: Any, layer: Layer) -> tuple[float, np.ndarray]:
    """Output of the layer of the patches that are there, and what each receives on average."""
    places = np.flatnonzero(there)
    total, received = 0.0, np.zeros(len(A))
    for i in places:
        raised = {j: np.exp(A[i, j] / layer.temperature) for j in places}
        share = {j: value / sum(raised.values()) for j, value in raised.items()}
        z = len(places) * sum(share[j] * float(X[j] @ v) for j in places)
        total += z * z * z + layer.slope * z
        for j in places:
            received[j] += share[j] / len(places)
    return total, received


def _cosine(one: Any, other: Any) -> float:
    lengths = sum(a * a for a in one) * sum(b * b for b in other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / np.sqrt(lengths)


SINGLE = (0, 1, 2)  # sets of one patch
FIVES = (0, 1, 1, 0, 1, 0, 0, 1, 1, 0)  # four that agree are not yet a set


@experiment("spatial.layer-by-hand")
def layer_by_hand(
    key: Any, *, patches: int = 5, dim: int = 3, samples: int = 6, masked: bool = True,
    temperature: float = LAYER.temperature, tie: float = 0.5, turned: float = 0.0,
) -> xarray.Dataset:
    """Largest gaps between the models and loops over patches, some of which are missing: of one
    sample all but one, of the last all; the same of a layer that is told nothing but A and v; the
    error of five outputs 1, -1, 0, 2 and -1e-15 (a zero up to rounding), of which zeros count
    `tie`; and the cosine of two vectors, the second of which is moved by `turned`.
    `temperature` is that of the models, `masked` whether they are told what is missing."""
    random = generator(key)
    X: Any = random.normal(size=(samples, patches, dim))
    A = random.normal(size=(patches, patches))
    v, w = random.normal(size=dim), 0.05 * random.normal(size=(patches, dim))
    there = random.uniform(size=(samples, patches)) < 0.6
    there[0], there[-2], there[-1] = True, np.arange(patches) == 1, False
    looped = [_looped(X[n], A, v, there[n], LAYER) for n in range(samples)]
    outputs, received = (np.array(part) for part in zip(*looped, strict=True))
    mask: Any = there if masked else None
    layer = models.PositionalAttention(A, v, LAYER.degree, LAYER.slope, temperature)
    usual, linear = models.PositionalAttention(A, v), models.GeneralisedLinear(w)
    untold = [_looped(X[n], A, v, there[n], Layer(3, 1e-4, 1.0))[0] for n in range(samples)]
    lengths = there * np.sqrt(np.sum(w * w, axis=1))
    sums = [sum(X[n, j] @ w[j] for j in range(patches) if there[n, j]) for n in range(samples)]
    plain = models.output(X[:1], A, v, LAYER.degree, LAYER.slope, temperature)
    shares = lengths / np.maximum(lengths.sum(axis=1, keepdims=True), 1e-300)
    tied = np.array([1.0, -1.0, 0.0, 2.0, -1e-15])[:, None, None]
    rate = descent.error_rate(tied, np.ones(5), np.zeros((1, 1)), np.ones(1), LAYER)
    gaps = {
        "layer": _largest(layer(X, mask), outputs),
        "received": _largest(layer.attention(X, mask), received),
        "plain layer": _largest(plain, outputs[:1]),
        "layer, untold": _largest(usual(X, mask), untold),
        "linear": _largest(linear(X, mask), sums),
        "linear looks": _largest(linear.attention(X, mask), shares),
        "cosine": abs(float(descent.cosine(X[0, 0], X[0, 1])) - _cosine(X[0, 0], X[0, 1] + turned)),
        "errors": _largest(rate, (1 + 2 * tie) / 5)}
    return xarray.Dataset({"gap": ("what", list(gaps.values()))}, coords={"what": list(gaps)})


@experiment("spatial.posterior")
def posterior(
    key: Any, *, labels: tuple[int, ...] = (0, 1, 0, 2, 2, 1), spurious_rate: float = 0.4,
    told: tuple[int, ...] | None = None,
) -> xarray.Dataset:
    """The task's best prediction on every image (with noise), beside the mean label of all listed
    images that look like it, and the same for three sets of one patch and for two of five; on an
    image that cannot be, of nothing but noise, it is 0. `told` is the partition that the prediction
    believes in."""
    gaps = [
        _posterior_gap(key, sets, believed, spurious_rate)
        for sets, believed in ((labels, told or labels), (SINGLE, SINGLE), (FIVES, FIVES))]
    return xarray.Dataset({"gap": ((), max(gaps))})


def _posterior_gap(
    key: Any, labels: tuple[int, ...], told: tuple[int, ...], spurious_rate: float
) -> float:
    images = all_images(labels, spurious_rate)
    mass: dict[Any, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row, y, chance in zip(*images, strict=True):
        mass[tuple(row)][0] += y * chance
        mass[tuple(row)][1] += chance
    mass[(0.0,) * len(labels)] = [0.0, 1.0]
    signals = np.array(list(mass))
    mean = np.array([one / all_of_it for one, all_of_it in mass.values()])
    task = Spatial.create(key, told, 4, spurious_rate)
    noise = generator(key).normal(size=(*signals.shape, 4))
    noise -= (noise @ task.feature)[..., None] * task.feature
    best = np.asarray(task.best(signals[..., None] * task.feature + 0.5 * noise))
    return _largest(best, mean)


def _moments(task: Spatial, sample: Any) -> tuple[list[float], list[float]]:
    """Frequencies and noise of a sample; and how far it is from what holds for every image."""
    X, y, where, x, chosen = map(np.asarray, sample)
    inside = np.asarray(task.labels) == chosen[:, None]
    noise = X - x[..., None] * np.asarray(task.feature)
    outside, last = x[~inside], task.labels.max()
    seen = [
        np.mean(y > 0), np.mean(chosen == 0), np.mean(chosen == last), np.mean(outside > 0),
        np.mean(outside < 0), np.mean(noise**2)]
    return seen, [
        _largest(X @ task.feature, x), _largest(np.where(inside, x, y[:, None]), y[:, None]),
        float(np.sum(where != inside)), _largest(np.abs(x) * (np.abs(x) - 1), 0.0)]


@experiment("spatial.sampler-law")
def sampler_law(
    key: Any, *, patches: int = 6, set_size: int = 2, dim: int = 4, spurious_rate: float = 0.4,
    noise: float | None = None, samples: int = 1000, replicates: int = 32, other_sets: bool = False,
    along: float = 0.0, apart: int = 1, inside: bool = False,
) -> xarray.Dataset:
    """Frequencies of labels, signal sets and spurious features and the size of the noise, from both
    samplers (NumPy's and JAX's); what must hold for every image; and what varies together, see
    `_together`. `other_sets` looks for the signal set in another partition, `along` moves patches
    and signals off by so much of w*."""
    make, *keys = jax.random.split(key, replicates + 1)
    task = Spatial.create(make, interleaved(patches, set_size), dim, spurious_rate, noise)
    looked = (
        task if not other_sets else Spatial.create(make, np.sort(task.labels), dim, spurious_rate))

    def moved(sample: Any) -> Any:
        return sample._replace(
            X=sample.X + 2 * along * task.feature, signals=sample.signals + along)

    def looks(source: Any) -> tuple[list[float], ...]:
        sample = moved(task.sample(source, samples))
        return *_moments(looked, sample), _together(looked, sample, apart, inside)

    rows = [[looks(source) for source in (generator(one), one)] for one in keys]
    seen, gaps, joint = (np.array([[pair[k] for pair in row] for row in rows]) for k in range(3))
    return xarray.Dataset({
        "seen": (("replicate", "sampler", "what"), seen),
        "gap": (("sampler", "rule"), gaps.max(axis=0)),
        "joint": (("replicate", "sampler", "pair"), joint)})


def _together(task: Spatial, sample: Any, apart: int, inside: bool) -> list[float]:
    """Mean products: of the noise of two patches in a row, and of patches of two images (`apart` by
    one); of the spurious features there; of the label and a spurious feature (`inside`: the
    features of the signal set are among them)."""
    X, y, where, x, _ = map(np.asarray, sample)
    noise, spurious = X - x[..., None] * np.asarray(task.feature), np.where(where, 0.0, x)
    pairs = [
        np.mean(part * np.roll(part, apart, axis)) for part in (noise, spurious) for axis in (1, 0)]
    return [float(one) for one in (*pairs, np.mean(y[:, None] * (x if inside else spurious)))]


def _ranked(row: Any, inside: Any, places: int) -> float:
    """Share of the `places` largest entries of a row (of distinct numbers) that lie inside."""
    order = sorted(range(len(row)), key=lambda j: -row[j])
    return sum(bool(inside[j]) for j in order[:places]) / places


def _scores(matrix: np.ndarray, same: np.ndarray) -> list[float]:
    """The scores of association by loops over rows: the smallest entry of the own set less the
    largest of the others, and who is among the largest, with the diagonal and without it."""
    gaps, off_gaps, top, off_top = [], [], [], []
    for i, row in enumerate(matrix):
        others = [j for j in range(len(row)) if j != i]
        own, mates = row[same[i]], [row[j] for j in others if same[i, j]]
        gaps.append(min(own) - max(row[~same[i]]))
        off_gaps.append(min(mates) - max(row[~same[i]]))
        top.append(_ranked(row, same[i], len(own)))
        off_top.append(_ranked(row[others], same[i, others], len(mates)))
    rows, off_rows = np.mean(np.array(gaps) > 0), np.mean(np.array(off_gaps) > 0)
    scores = (rows == 1, rows, np.mean(top), np.mean(off_top), off_rows, min(gaps))
    return [float(score) for score in scores]


@experiment("spatial.definitions-by-hand")
def definitions_by_hand(
    key: Any, *, side: int = 4, block: int = 2, threshold: float = 0.55, read: float = 0.55,
    pull: float = 2.0, seen: float = 2.0, usual: float = 0.9,
) -> xarray.Dataset:
    """The scores of association of a random matrix that leans towards a scattered partition, and
    towards pairs, by `pull`, f* of random signals at a `threshold`, and of two sets of twenty at
    the threshold it has if none is told, beside loops over rows and sets that see a matrix that
    leans by `seen` and read the thresholds `read` and `usual`."""
    random = generator(key)
    labels = tasks.scattered(key, tasks.localised(side, block))
    size, C = side**2, block**2
    noise, off = random.normal(size=(size, size)), []
    for sets in (labels, random.permutation(np.arange(size) // 2)):
        same = sets[:, None] == sets
        scores = models.association(noise + pull * same, sets)
        off.append(
            np.abs(np.subtract(np.asarray(scores, float), _scores(noise + seen * same, same))))
    signals = random.integers(-1, 2, (200, size)).astype(float)
    f = tasks.label_function(signals, labels, threshold)
    full = 1.0 - (np.arange(20) < random.integers(0, 5, (200, 2, 1)))
    full = (full * [[1], [-1]]).reshape(200, 40)  # sums of 16 to 20, and of -16 to -20
    twenty = np.repeat([0, 1], 20)
    gaps = (
        _largest(f, _labelled(signals, labels, read * C)),
        _largest(tasks.label_function(full, twenty), _labelled(full, twenty, 20 * usual)))
    return xarray.Dataset({"gap": ("what", [*np.max(off, axis=0), *gaps])})


def _labelled(signals: np.ndarray, labels: np.ndarray, above: float) -> list[float]:
    """f* set by set: sums whose size is above so much."""
    sums = [[sum(x[labels == one]) for one in range(labels.max() + 1)] for x in signals]
    return [sum(s for s in image if abs(s) > above) for image in sums]


@experiment("spatial.listed-errors")
def listed_errors(
    key: Any, *,
    cases: tuple[tuple[int, int, float], ...] = (
        (8, 2, 0.3), (9, 3, 0.6), (6, 2, 0.7), (4, 2, 0.4)),
    thresholds: tuple[float, ...] = (0.9, 1 / 3, 0.45, 1.0), sizes: tuple[int, ...] = (10, 11),
    rate_of_three: float = 0.9, usual: float = 0.9,
) -> xarray.Dataset:
    """Errors of f* and of linear models with equal weights over every image of small tasks: of f*
    (each task with a threshold of its own), of the best phi and of the sign, ties one half; and of
    f* with the `usual` threshold for three sets of each of `sizes`, over sums of two of them."""
    rows = []
    for (patches, set_size, rate), threshold in zip(cases, thresholds, strict=True):
        labels = interleaved(patches, set_size)
        x, y, probability = all_images(labels, rate)
        total = np.sum(x, axis=1)
        chances = [
            [probability[(total == k) & (y == label)].sum() for label in (-1, 1)]
            for k in np.unique(total)]
        rows.append([
            probability @ (y * tasks.label_function(x, labels, threshold) <= 0),
            np.sum(np.min(chances, axis=1)),
            probability @ ((y * total < 0) + 0.5 * (total == 0))])
    of_three = [_error_of_three(size, rate_of_three, usual * size + 1e-9) for size in sizes]
    return xarray.Dataset(
        {"error": (("case", "what"), np.array(rows)), "of_three": ("size", of_three)})


def _error_of_three(size: int, rate: float, above: float) -> float:
    """P[f* <= 0] where one set of three bears +1 and the others are spurious, both by counting."""
    chance = dict.fromkeys(range(-size, size + 1), 0.0)
    for plus in range(size + 1):
        for minus in range(size - plus + 1):
            ways = comb(size, plus) * comb(size - plus, minus)
            busy = plus + minus
            chance[plus - minus] += ways * (rate / 2) ** busy * (1 - rate) ** (size - busy)
    kept = {s: s if abs(s) > above else 0 for s in chance}
    return sum(
        chance[s] * chance[t] for s, t in product(chance, repeat=2)
        if kept[size] + kept[s] + kept[t] <= 0)


@experiment("spatial.listed-drive")
def listed_drive(
    key: Any, *, sets: int = 4, set_size: int = 3, spurious_rate: float = 0.3,
    diagonal: float = 0.6, gamma: float = 0.7, rho: float = -0.2, temperature: float = 1.4,
) -> xarray.Dataset:
    """What signal patches and all others add to y sum_i (D <w*, O_i>)^3, over every image, and the
    weights of a row of the attention with the gain; the loss of the layer (alpha = 0.2) over the
    same images, equally likely, with sums and busy patches of their random sets."""
    labels = np.repeat(np.arange(sets), set_size)
    S = models.scores(models.three_value_attention(labels, diagonal, gamma, rho), temperature)
    free, D = (sets - 1) * set_size, len(labels)
    spurious = np.array(list(product((-1.0, 0.0, 1.0), repeat=free)))
    chance = np.prod(np.where(spurious == 0, 1 - spurious_rate, spurious_rate / 2), axis=1)
    x = np.concatenate([np.ones((len(spurious), set_size)), spurious], axis=1)
    by_patch = chance @ (D * x @ S.T) ** 3
    row = [S[0, 0], S[0, 1], S[0, -1], D * S[0, :set_size].sum()]
    F = models.output(x[..., None], np.log(S), np.full(1, 0.2), 3, 0.1)
    by_set = x[:, set_size:].reshape(len(x), -1, set_size)
    return xarray.Dataset({
        "loss": ((), np.mean(np.log1p(np.exp(-F)))),
        "set_sums": (("image", "set"), by_set.sum(axis=2).astype(int)),
        "busy": (("image", "set"), np.sum(by_set != 0, axis=2)),
        "drive": ("kind", [by_patch[:set_size].sum(), by_patch[set_size:].sum()]),
        "weights": ("entry", row)})


@experiment("spatial.figure-1b")
def figure_1b(key: Any, *, side: int = 4, block: int = 2, mixed: bool = False) -> xarray.Dataset:
    """The localised partition, and how many neighbours in the row share a set when patches are
    dealt out in turn; or both of a partition with the same sets at random patches (`mixed`)."""
    labels = tasks.localised(side, block)
    labels, dealt = (
        (tasks.scattered(key, labels),) * 2 if mixed else (labels, interleaved(side**2, block**2)))
    return xarray.Dataset(
        {"labels": ("patch", labels), "shared": ((), np.sum(dealt[1:] == dealt[:-1]))})


@experiment("spatial.thinned-states")
def thinned_states(
    key: Any, *, patches: int = 24, set_size: int = 3, spurious_rate: float = 0.4,
    keeps: tuple[int, ...] = (250, 1000, 4000), unlikely: bool = False,
) -> xarray.Dataset:
    """Relative error of the loss at three points on a few states in place of all, and how many were
    kept; the same at one point where states are thinned while they are listed, and the probability
    thinned. `unlikely` drops the unlikely states without weighing the others more."""
    setting = Setting(patches, set_size, spurious_rate, 3, 0.01, 0.5)
    points = [Scalars(*point) for point in ((0.2, 0.0, 0.0), (0.15, 1.0, -0.1), (0.1, 2.0, -0.2))]
    whole = setting.states()
    rows, kept = [], []
    for most in keeps:
        some = descent.thinned(whole, most)
        if unlikely:
            likely = np.argsort(-whole.probability)[: 9 * most // 10]
            some = whole._replace(
                coefficients=whole.coefficients[:, likely], probability=whole.probability[likely])
        rows.append([
            descent.loss(point, setting, *some[:2]) / descent.loss(point, setting, *whole[:2])
            - 1 for point in points])
        kept.append(len(some.probability) / most)
    while_listed = setting.states(most=keeps[1])
    last = descent.loss(points[1], setting, *while_listed[:2])
    return xarray.Dataset(
        {
            "error": (("keep", "point"), np.abs(np.array(rows, float))), "kept": ("keep", kept),
            "listed": ((), abs(last / descent.loss(points[1], setting, *whole[:2]) - 1)),
            "thinned": ("list", [whole.thinned, while_listed.thinned])},
        coords={"keep": list(keeps)})


def _selected(chances: np.ndarray, most: int, begun: float) -> tuple[np.ndarray, float]:
    """The shares of about `most` that stand for all, and the probability of the unlikely ones: who
    is likelier than c stays as it is; the others are passed one by one, each for its share of c,
    and whenever their sum, `begun` at a half, is full, the last one stands for it."""
    falling, sure = np.sort(chances)[::-1], 0
    while falling[sure] * (most - sure) >= falling[sure:].sum():
        sure += 1
    c = falling[sure:].sum() / (most - sure)
    weights, full = np.where(chances >= c, chances, 0.0), begun
    for number in np.flatnonzero(chances < c):
        full += chances[number] / c
        if full >= 1:
            weights[number], full = c, full - 1
    return weights / weights.sum(), float(chances[chances < c].sum())


@experiment("spatial.thinned-by-hand")
def thinned_by_hand(
    key: Any, *, states: int = 400, most: int = 60, asked: int = 60, begun: float = 0.5
) -> xarray.Dataset:
    """Largest gaps between the weights of random states of which `most` are kept, and the
    probability thinned (a tenth before), and those of a loop that keeps `asked`."""
    chances = generator(key).lognormal(0.0, 2.0, states)
    chances /= chances.sum()
    some = descent.thinned(States(np.arange(states)[None], chances, 0.1), most)
    made = np.zeros(states)
    made[some.coefficients[0]] = some.probability
    weights, lost = _selected(chances, asked, begun)
    return xarray.Dataset(
        {"gap": ("what", [_largest(made, weights), abs(some.thinned - 0.1 - lost)])})
