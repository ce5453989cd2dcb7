"""Small parts of the map beside plain versions: measures, where layers start, how a setting is
chosen, and the moments of the split task."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.attention_atlas import measures
from saccade.studies.attention_atlas.learners.erf import Erf
from saccade.studies.attention_atlas.learners.lasso import LASSO, SHARES
from saccade.studies.attention_atlas.learners.linear import LARGEST, RIDGES, read_out
from saccade.studies.attention_atlas.models import Data, Fitted, Tuned, evenly
from saccade.studies.attention_atlas.models.heads import Heads, Tied
from saccade.studies.attention_atlas.models.places import Places
from saccade.studies.attention_atlas.task import Split, generator

SEED = 11
PARTS = (
    "squared error", "wrong labels", "null, numbers", "null, labels", "auroc", "top1",
    "heads' start", "second start", "tied start flat", "places' starts", "erf's starts",
    "group lasso", "read at extremes", "chosen setting")


@experiment("attention-atlas.small-parts")
def small_parts(
    key: Any, *, ties: bool = True, rate: float = 0.3, otherwise: bool = False
) -> xarray.Dataset:
    """By the study and by loops: errors of predictions of which some are 0, looks at weights of
    which some are equal (by hand a tie counts as lost unless `ties`), starts of layers (other heads
    begin at `rate` of the first by hand), and the setting that the last quarter of samples chooses.
    `otherwise`: by hand targets are those of the next sample, a constant is 0 or the more frequent
    label's rival, a second start draws anew, and the tied start is one for another ridge."""
    random = generator(key)
    made, plain = zip(
        *_errors(random, ties, otherwise), *_looks(random, ties), *_starts(random, rate, otherwise),
        _choice(random, ties), strict=True)
    return xarray.Dataset({"made": ("part", np.array(made)), "plain": ("part", np.array(plain))})


def _errors(
    random: np.random.Generator, ties: bool, otherwise: bool
) -> Iterator[tuple[float, float]]:
    F, numbers = random.integers(-2, 3, (2, 23)) * 1.3
    numbers = numbers + 0.8
    labels = np.where(random.random(23) < 0.3, 1.0, -1.0)
    by_label = [
        1.0 if y * f < 0 else (0.5 if ties else 1.0) if f == 0 else 0.0
        for f, y in zip(F, labels, strict=True)]
    shown = np.roll(numbers, int(otherwise))
    yield measures.error(F, numbers, "regression"), sum((F - shown) ** 2) / 23
    yield measures.error(F, labels, "classification"), sum(by_label) / 23
    centre = 0.0 if otherwise else sum(numbers) / 23
    yield measures.null_error(numbers, "regression"), sum((numbers - centre) ** 2) / 23
    counts = [float(np.sum(labels == sign)) for sign in (1, -1)]
    yield measures.null_error(labels, "classification"), sorted(counts)[int(otherwise)] / 23


def _looks(random: np.random.Generator, ties: bool) -> Iterator[tuple[float, float]]:
    """Samples in which all tokens matter, or none, do not count; the sum of two, of which in one
    some tokens are missing."""
    weights = random.integers(0, 4, (40, 5)) / 4.0
    where = random.random((40, 5)) < 0.4
    where[0], where[1], where[2:, 0], where[2:, 1] = True, False, True, False
    half = 0.5 if ties else 0.0
    missing = np.isin((np.arange(40)[:, None] + np.arange(5)) % 5, [0, 2])
    missing[:, :2] = False
    found, by_hand = [], []
    for here in (np.ones((40, 5), bool), ~missing):
        pairs, hits = [], []
        for w, matters, there in zip(weights[2:], where[2:], here[2:], strict=True):
            w, matters = w[there], matters[there]
            pairs.append(np.mean(
                [1.0 if a > b else half * (a == b) for a in w[matters] for b in w[~matters]]))
            best = [token for token in range(len(w)) if w[token] == max(w)]
            hits.append(np.mean([matters[token] for token in (best if ties else best[:1])]))
        by_hand.append([np.mean(pairs), np.mean(hits)])
        mask = None if here.all() else here
        found.append(measures.looking(weights, where & here, mask))
    yield from zip(np.sum(found, axis=0).tolist(), np.sum(by_hand, axis=0).tolist(), strict=True)


def _starts(
    random: np.random.Generator, rate: float, otherwise: bool
) -> Iterator[tuple[float, float]]:
    """Starts as one number each: every entry has a weight of its own."""
    X, y = random.standard_normal((40, 4, 3)) + 0.5, random.standard_normal(40)
    data = Data(X, y + X[:, 1, 0], "regression", SEED)
    layer, chance = Heads(data, 3, True), np.random.default_rng(SEED)
    first, second = layer.starts()
    width = 3 + 4
    tied = first[1 : 1 + width]
    noise = chance.standard_normal((3, width)) / np.sqrt(width)
    queries = [tied, *(rate * tied + noise[h] for h in (1, 2))]
    by_hand = np.concatenate([first[:1], *queries, tied, np.zeros(2 * width)])
    yield _weighed(first), _weighed(by_hand)
    chance = np.random.default_rng(SEED) if otherwise else chance
    yield _weighed(second), _weighed(chance.standard_normal(1 + 6 * width) / np.sqrt(width))
    slope = Tied(layer.tokens, data)(np.append(first[0], tied), 0.2 if otherwise else 0.1)[1]
    yield float(np.abs(slope).max()), 0.0
    yield sum(map(_weighed, Places(data).starts())), _place_starts(data, rate)
    chance = np.random.default_rng(SEED)
    by_hand = [_weighed(np.append(0.0, chance.standard_normal(6) / np.sqrt(3))) for _ in range(2)]
    yield sum(map(_weighed, Erf(data).starts())), 2 * by_hand[0] if otherwise else sum(by_hand)
    yield _off_balance(data, rate / 0.3), 0.0
    yield _at_extremes(data, otherwise)


def _at_extremes(data: Data, otherwise: bool) -> tuple[float, float]:
    """Attention of the linear function of largest and smallest features, one number for all tokens:
    |w| is read where a feature is largest (`otherwise`: smallest), then where it is smallest."""
    ends = [data.X.max(axis=1), data.X.min(axis=1)]
    model = next(iter(LARGEST.make("regression").path(data)))
    w = np.abs(read_out(np.concatenate(ends, axis=1), data, RIDGES[0])[0]).reshape(2, 3)
    reads = np.zeros((40, 4))
    for sample, X in enumerate(data.X):
        for feature in range(3):
            high, low = X[:, feature].argmax(), X[:, feature].argmin()
            reads[sample, low if otherwise else high] += w[0, feature]
            reads[sample, high if otherwise else low] += w[1, feature]
    reads /= reads.sum(axis=1)[:, None]
    return _weighed(model.attention(data.X).ravel()), _weighed(reads.ravel())


def _off_balance(data: Data, factor: float) -> float:
    """How far the models of the group lasso are from their minima, for penalties `factor` times as
    large: at a place in use the slope is -alpha w/|w|, at others it is no longer than alpha."""
    y = (data.y - data.y.mean()) / data.y.std()
    largest = max(
        np.linalg.norm(np.mean(y[:, None] * data.X[:, place], axis=0)) for place in range(4))
    off, nothing, units = [], np.zeros((1, 4, 3)), np.eye(12).reshape(12, 4, 3)
    for share, model in zip(SHARES, LASSO.make("regression").path(data), strict=True):
        w = ((model(units) - model(nothing)) / data.y.std()).reshape(4, 3)
        wrong, alpha = (model(data.X) - data.y) / data.y.std(), factor * share * largest
        for place, own in enumerate(w):
            slope, size = np.mean(wrong[:, None] * data.X[:, place], axis=0), np.linalg.norm(own)
            off.append(
                np.linalg.norm(slope + alpha * own / size) if size > 1e-9
                else max(0.0, np.linalg.norm(slope) - alpha))
    return float(max(off))


def _place_starts(data: Data, rate: float) -> float:
    """All places alike, and nine tenths of the attention at each of the two whose mean of y x is
    longest, tokens and targets standardised, with that mean as value."""
    T = (data.X - data.X.mean((0, 1))) / data.X.std((0, 1))
    y = (data.y - data.y.mean()) / data.y.std()
    means = np.array([np.mean(y[:, None] * T[:, place], axis=0) for place in range(4)])
    order = sorted(range(4), key=lambda place: -np.linalg.norm(means[place]))
    # attention 3 rate at one of four places: odds 3 rate/(1 - 3 rate) over a third for each other
    share = 3 * rate
    score = np.log(3 * share / (1 - share))
    starts = [
        np.concatenate([[0.0], score * np.eye(4)[place], means[place]]) for place in order[:2]]
    return sum(map(_weighed, starts))


def _weighed(start: np.ndarray) -> float:
    return float(start @ np.sqrt(np.arange(1.0, len(start) + 1)))


def _choice(random: np.random.Generator, ties: bool) -> tuple[float, float]:
    """Constants in units of the mean of y, of which the last quarter of the samples likes one best
    (the last third another, and the last quarter too if it joins that mean); in the end the mean is
    that of all samples."""
    y = random.standard_normal(43) + np.repeat([3.0, -13.5, 7.0], [29, 4, 10])
    units = (0.5, 3.0, 1.9, 7.0)

    def path(data: Data) -> Iterator[Fitted]:
        for unit in units:
            level = unit * float(data.y.mean())
            yield Fitted(lambda X, mask, level=level: np.full(len(X), level), evenly)

    model = Tuned("regression", path).fit(np.zeros((43, 2, 1)), y, key=jax.random.key(0))
    losses = [np.mean((unit * y[:33].mean() - y[33:]) ** 2) for unit in units]
    best = units[int(np.argmin(losses))]
    return float(model(np.zeros((1, 2, 1)))[0]), best * float((y if ties else y[:33]).mean())


MOMENTS = (
    "variance of y", "read at the mark", "read at the first", "mark along k", "spread along k",
    "spread off k", "other tokens", "at the second place", "at the last place", "not as said",
    "axes")


@experiment("attention-atlas.split-moments")
def split_moments(
    key: Any, *, share: float = 0.3, length: int = 5, dim: int = 6, samples: int = 4000,
    replicates: int = 32, told: float | None = None,
) -> xarray.Dataset:
    """Moments of the split task, by replicate with its own directions: E y^2; E[y <v, x_J>] and
    E[y <u, x_1>]; mean and variance of <k, x_J>, mean square of its other coordinates, of all other
    tokens; how often J is the second and the last place; how far y and `where` are from what
    is said (with `told` for the share); and how far the directions are from orthonormal."""
    rows = []
    for one in jax.random.split(key, replicates):
        of_task, of_samples = jax.random.split(one)
        task = Split.create(of_task, length, dim, share)
        k, u, v = task.directions
        X, y, where = task.sample(of_samples, samples)
        marked = where.copy()
        marked[:, 0] = False
        J, first, along = X[marked], X[:, 0], X[marked] @ k
        said_share = share if told is None else told
        said = np.sqrt(1 - said_share) * first @ u + np.sqrt(2 * said_share) * J @ v
        wrong = np.abs(y - said) + (where.sum(1) != 2) + ~where[:, 0]
        off = J - along[:, None] * k
        axes = np.abs(task.directions @ task.directions.T - np.eye(3)).max()
        rows.append([
            np.mean(y**2), np.mean(y * (J @ v)), np.mean(y * (first @ u)), along.mean(),
            along.var(), np.sum(off**2) / samples / (dim - 1), np.mean(X[~marked] ** 2),
            marked[:, 1].mean(), marked[:, -1].mean(), wrong.mean(), axes])
    return xarray.Dataset({"moment": (("replicate", "name"), np.array(rows))})
