"""Where searches of the estimators begin, beside plain versions: groups that screening ranks first,
an undecided mean bag, tokens that tell classes apart together, and the sets found in a matrix."""

from itertools import combinations
from typing import Any

import numpy as np
import xarray

from saccade.estimators import AttentionClassifier, EvidenceClassifier
from saccade.estimators.evidence import undecided
from saccade.estimators.fitting import Problem
from saccade.estimators.group import GroupObjective
from saccade.estimators.heads import LogMeanExp, Softmax
from saccade.estimators.objective import Data, Objective, logistic
from saccade.estimators.patch_layer import Layer, PatchObjective
from saccade.estimators.patches import partition
from saccade.estimators.prototypes import prototypes
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.experiments.by_hand import (
    DIM,
    PLACES,
    Drawn,
    draw,
    shares_of,
    standardising,
)
from saccade.studies.bag_estimators.task import generator

PARTS = (
    "screened groups", "their attention", "undecided", "prototypes", "sets", "heads", "tied slope",
    "radii", "patches")
RIDGE = 0.3
COUNT, SIZE, MATRICES = 16, 9, 6


def _screening(drawn: Drawn, attention: float) -> tuple[float, float]:
    """How far the starts at two groups are from sum_i s_i y_i T_ij of the two where that is
    longest, and from so much attention to each."""
    objective = GroupObjective(Data(drawn.bags, drawn.weight), drawn.target, PLACES, 0.3, logistic)
    standard, means = standardising(drawn), np.zeros((PLACES, DIM))
    for (places, x), y, share in zip(drawn.listed, *drawn.target, strict=True):
        means[places] += share * y * standard(x)
    best = sorted(range(PLACES), key=lambda place: -np.linalg.norm(means[place]))[:2]
    values, looks = [], []
    for group, (_, scores, value) in zip(
        best, map(objective.parts, objective.starts(2)[1:]), strict=True
    ):
        values.append(np.abs(value - means[group]).max())
        looks.append(abs(shares_of(scores)[group] - attention))
    return float(max(values)), float(max(looks))


def _undecided(drawn: Drawn, random: np.random.Generator, bags: Drawn) -> float:
    """The mean decision over `bags`, by share, at the start of two heads."""
    W = random.standard_normal((2, DIM))
    objective = Objective(Data(drawn.bags, drawn.weight), *drawn.target, LogMeanExp(2, 1.6, False))
    b = undecided(objective, W)[0]
    standard = standardising(drawn)
    said = [
        b + sum(np.log(np.exp(1.6 * standard(x) @ w).sum()) / 1.6 for w in W)
        for _, x in bags.listed]
    return abs(float(bags.target.share @ said))


def _fisher(peaks: np.ndarray, drawn: Drawn) -> float:
    """(Difference of class means)^2 with its sign over the variances within classes."""
    means, variances = [], []
    for side in (1.0, -1.0):
        inside = drawn.target.y == side
        own, share = peaks[inside], drawn.target.share[inside] / drawn.target.share[inside].sum()
        means.append(share @ own)
        variances.append(share @ (own - share @ own) ** 2)
    gap = means[0] - means[1]
    return float(np.sign(gap) * gap**2 / sum(variances))


def _prototypes(drawn: Drawn, random: np.random.Generator, heads: int) -> float:
    """By how much two prototypes tell classes apart otherwise than the best `heads` tokens of
    positive bags, found by going through all."""
    objective = Objective(Data(drawn.bags, drawn.weight), *drawn.target, LogMeanExp(2))
    standard = standardising(drawn)
    tokens = np.concatenate(
        [standard(x) for (_, x), y in zip(drawn.listed, drawn.target.y, strict=True) if y > 0])
    directions = tokens / np.linalg.norm(tokens, axis=1)[:, None]

    def told(chosen: np.ndarray) -> float:
        peaks = [sum((standard(x) @ u).max() for u in chosen) for _, x in drawn.listed]
        return _fisher(np.array(peaks), drawn)

    best = max(told(np.array(chosen)) for chosen in combinations(directions, heads))
    found = prototypes(objective, 2, random)
    assert found is not None
    return abs(told(found) - best)


def _merged(distance: np.ndarray, count: int, single: bool) -> list[list[int]]:
    """Clusters, the nearest two joined until `count` are left: by mean or by smallest distance."""
    clusters = [[place] for place in range(len(distance))]
    size = np.min if single else np.mean
    while len(clusters) > count:
        a, b = min(
            combinations(range(len(clusters)), 2),
            key=lambda pair: size(distance[np.ix_(clusters[pair[0]], clusters[pair[1]])]))
        clusters[a] += clusters.pop(b)
    return clusters


def _silhouette(distance: np.ndarray, clusters: list[list[int]]) -> float:
    """The mean over places of (b - a)/max(a, b): a the mean distance inside the own cluster, b to
    the nearest other one; 0 for who is alone."""
    values = []
    for own in clusters:
        for place in own:
            others = [distance[place, one].mean() for one in clusters if one is not own]
            a = distance[place, own].sum() / max(1, len(own) - 1)
            values.append(0.0 if len(own) == 1 else (min(others) - a) / max(a, min(others)))
    return float(np.mean(values))


def _sets(random: np.random.Generator, single: bool) -> float:
    """The share of pairs of places that are together here and not there, over cuts into two, three,
    and as many sets as the silhouette likes best."""
    apart = []
    for _ in range(MATRICES):
        A = random.standard_normal((SIZE, SIZE))
        likeness = (A + A.T) / 2
        np.fill_diagonal(likeness, -np.inf)
        distance = likeness.max() - likeness
        np.fill_diagonal(distance, 0.0)
        cuts = [_merged(distance, count, single) for count in range(2, SIZE)]
        best = max(cuts, key=lambda clusters: _silhouette(distance, clusters))
        for clusters, number in ((cuts[0], 2), (cuts[1], 3), (best, None)):
            sets = partition(A, number)
            own = {place: at for at, cluster in enumerate(clusters) for place in cluster}
            apart += [
                (sets[i] == sets[j]) != (own[i] == own[j]) for i, j in combinations(range(SIZE), 2)]
    return float(np.mean(apart))


def _heads(drawn: Drawn, rate: float, ridge: float) -> tuple[float, float]:
    """How far the start of three heads is from q_1 = w_1, w_h = 0 and q_h = `rate` q_1 + N(0, I/d)
    by the same generator; and the steepest slope of log-mean-exp at w_1."""
    data, model = Data(drawn.bags, drawn.weight), AttentionClassifier(3, max_iter=200)
    objective = Objective(data, *drawn.target, Softmax(3))
    problem, draw_by = Problem(drawn.bags, drawn.weight, [drawn.target]), np.random.default_rng
    b, W, _ = objective.parts(model._start(objective, drawn.target, problem, RIDGE, draw_by(3)))
    noise = draw_by(3).standard_normal((3, DIM)) / np.sqrt(DIM)
    queries = [W[0], *(rate * W[0] + noise[h] for h in (1, 2))]
    by_hand = np.array([*queries, W[0], *np.zeros((2, DIM))])
    slope = Objective(data, *drawn.target, LogMeanExp())(np.append(b, W[0]), ridge)[1]
    return float(np.abs(W - by_hand).max()), float(np.abs(slope).max())


def _radii(drawn: Drawn, random: np.random.Generator, rate: float) -> float:
    """How far the lengths of random heads are from 5, 1, 5 in turn; 1 is `rate`/.3 by hand."""
    objective = Objective(Data(drawn.bags, drawn.weight), *drawn.target, LogMeanExp(2))
    starts = EvidenceClassifier(2, n_starts=3, radius=5.0)._starts(objective, random)
    lengths = [np.linalg.norm(objective.parts(one)[1], axis=1) for one in starts]
    return float(np.abs(np.array(lengths) - [[5.0], [rate / 0.3], [5.0]]).max())


def _patches(drawn: Drawn, shown: Drawn) -> float:
    """How far the first value of patches is from the direction of sum_i s_i y_i mean(T_i)."""
    data, layer = Data(drawn.bags, drawn.weight), Layer(3, 0.2)
    objective = PatchObjective(data, drawn.target, PLACES, layer, 0.3, logistic)
    standard = standardising(shown)
    pairs = zip(shown.listed, *shown.target, strict=True)
    gap = sum(share * y * standard(x).mean(axis=0) for (_, x), y, share in pairs)
    value = objective.parts(objective.start())[1]
    return float(np.abs(value - gap / np.sqrt(np.sum(gap**2))).max())


@experiment("bag-estimators.starts-by-hand")
def starts_by_hand(
    key: Any, *, attention: float = 0.9, other_bags: bool = False, heads: int = 2,
    single: bool = False, rate: float = 0.3, ridge: float = RIDGE,
) -> xarray.Dataset:
    """The differences of PARTS. By hand: `attention` on a screened group; `other_bags` for the mean
    bag and for screening; the best `heads` tokens; `single` linkage; further heads at
    `rate` of the first; a `ridge` for the tied layer."""
    random = generator(key)
    drawn, fresh = (draw(random, True, COUNT) for _ in range(2))
    shown = fresh._replace(bags=drawn.bags, weight=drawn.weight) if other_bags else drawn
    off = [
        *_screening(shown, attention), _undecided(drawn, random, fresh if other_bags else drawn),
        max(_prototypes(draw(random, True, 10), random, heads) for _ in range(6)),
        _sets(random, single), *_heads(drawn, rate, ridge), _radii(drawn, random, rate),
        _patches(drawn, fresh if other_bags else drawn)]
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
