"""Layers of the estimators beside plain versions of them, on bags of different lengths: objectives
and their slopes, what fitted layers say of fresh bags, and how they weigh tokens."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xarray
from scipy.special import erf

from saccade.estimators.bags import Bags
from saccade.estimators.group import GroupObjective
from saccade.estimators.heads import LogMeanExp, Softmax
from saccade.estimators.held_out import Target
from saccade.estimators.objective import Data, Objective, logistic, squared
from saccade.estimators.patch_layer import Layer, PatchObjective, TiedObjective
from saccade.estimators.two_step import first_query
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators import models
from saccade.studies.bag_estimators.task import generator

COUNT, PLACES, DIM, RIDGE, RATIO, DIFFERENCE = 9, 4, 3, 0.2, 0.4, 1e-5
SETS = np.array([0, 1, 0, 1])
LAYERS = (
    "log-mean-exp", "log-sum-exp", "softmax", "softmax and statistics", "groups", "patches", "sets")


class Drawn(NamedTuple):
    """Bags, as they are and as a list of (places, tokens); targets and weights."""

    bags: Bags
    listed: list[tuple[np.ndarray, np.ndarray]]
    target: Target
    weight: np.ndarray


def draw(random: np.random.Generator, labels: bool, count: int = COUNT) -> Drawn:
    X = random.standard_normal((count, PLACES, DIM)) * [1.0, 2.0, 0.5] + [0.5, -1.0, 2.0]
    here = random.random((count, PLACES)) < 0.7
    here[np.arange(count), np.arange(count) % PLACES] = True
    weight, y = random.uniform(0.5, 2.0, count), random.standard_normal(count)
    listed = [(np.flatnonzero(row), x[row]) for x, row in zip(X, here, strict=True)]
    target = Target(np.sign(y) if labels else y, weight / weight.sum())
    return Drawn(Bags.from_array(X, here), listed, target, weight)


class Plain(NamedTuple):
    """F of a bag from its places and standardised tokens, its weights, and the ridge's weights."""

    says: Callable[[np.ndarray, np.ndarray, np.ndarray], float]
    weighs: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    penalties: np.ndarray


def shares_of(scores: np.ndarray) -> np.ndarray:
    return np.exp(scores) / np.exp(scores).sum()


def _level(scores: np.ndarray, sharp: float, mean: bool) -> float:
    total = np.sum(np.exp(sharp * scores))
    return float(np.log(total / len(scores) if mean else total) / sharp)


def log_mean_exp(sharp: float, mean: bool, heads: int = 2) -> Plain:
    """F = b + sum_h (1/beta) log mean_l (or sum_l) exp(beta T_l . w_h)."""

    def says(theta: np.ndarray, places: np.ndarray, T: np.ndarray) -> float:
        return theta[0] + sum(_level(T @ w, sharp, mean) for w in theta[1:].reshape(heads, DIM))

    def weighs(theta: np.ndarray, places: np.ndarray, T: np.ndarray) -> np.ndarray:
        return np.mean([shares_of(sharp * T @ w) for w in theta[1:].reshape(heads, DIM)], axis=0)

    return Plain(says, weighs, np.append(0.0, np.ones(heads * DIM)))


def softmax(features: Callable[[np.ndarray], np.ndarray] | None = None) -> Plain:
    """Two heads, and a linear function of `features` of the bag."""
    more = 4 * DIM if features else 0

    def says(theta: np.ndarray, places: np.ndarray, T: np.ndarray) -> float:
        queries, values = theta[1 : 1 + 4 * DIM].reshape(2, 2, DIM)
        F = theta[0] + sum(shares_of(T @ q) @ (T @ w) for q, w in zip(queries, values, strict=True))
        return F + (features(T) @ theta[1 + 4 * DIM :] if features else 0.0)

    def weighs(theta: np.ndarray, places: np.ndarray, T: np.ndarray) -> np.ndarray:
        queries, values = theta[1 : 1 + 4 * DIM].reshape(2, 2, DIM)
        sizes = [np.sqrt(w @ w) for w in values]
        looks = [size * shares_of(T @ q) for q, size in zip(queries, sizes, strict=True)]
        return np.sum(looks, axis=0) / sum(sizes)

    penalties = np.repeat([0.0, RATIO, 1.0], [1, 2 * DIM, 2 * DIM + more])
    return Plain(says, weighs, penalties)


def groups() -> Plain:
    def weighs(theta: np.ndarray, places: np.ndarray, T: np.ndarray) -> np.ndarray:
        return shares_of(theta[1 + places])

    def says(theta: np.ndarray, places: np.ndarray, T: np.ndarray) -> float:
        return theta[0] + weighs(theta, places, T) @ (T @ theta[1 + PLACES :])

    return Plain(says, weighs, np.repeat([0.0, RATIO, 1.0], [1, PLACES, DIM]))


def _patches(tied: bool) -> Plain:
    """z_i = sum_j S_ij u_j over the patches that are there; F = b + sum_i z_i^3 + z_i/5."""

    def mixed(theta: np.ndarray, places: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, ...]:
        A = np.eye(PLACES)
        for place, (i, j) in enumerate((i, j) for i in range(4) for j in range(4) if i != j):
            together = float(SETS[i] == SETS[j])
            A[i, j] = theta[-1] * together if tied else theta[1 + DIM + place]
        S = np.array([shares_of(A[i, places]) for i in places])
        return S, S @ (T @ theta[1 : 1 + DIM])

    def says(theta: np.ndarray, places: np.ndarray, T: np.ndarray) -> float:
        z = mixed(theta, places, T)[1]
        return theta[0] + float(np.sum(z**3 + z / 5))

    def weighs(theta: np.ndarray, places: np.ndarray, T: np.ndarray) -> np.ndarray:
        S, z = mixed(theta, places, T)
        strength = np.abs(z * (3 * z**2 + 1 / 5))
        return strength @ S / strength.sum()

    pairs = 1 if tied else PLACES * (PLACES - 1)
    return Plain(says, weighs, np.repeat([0.0, 1.0, RATIO], [1, DIM, pairs]))


def standardising(drawn: Drawn) -> Callable[[np.ndarray], np.ndarray]:
    """Tokens less their mean over their deviation, each token with the weight of its bag."""
    rows = np.concatenate([x for _, x in drawn.listed])
    weight = np.repeat(drawn.weight, [len(x) for _, x in drawn.listed])
    mean = weight @ rows / weight.sum()
    deviation = np.sqrt(weight @ (rows - mean) ** 2 / weight.sum())
    return lambda x: (x - mean) / deviation


def statistics_of(drawn: Drawn) -> Callable[[np.ndarray], np.ndarray]:
    """Mean, maximum, minimum and deviation of standardised tokens, themselves standardised."""

    def raw(T: np.ndarray) -> np.ndarray:
        return np.concatenate([T.mean(0), T.max(0), T.min(0), T.std(0)])

    standard = standardising(drawn)
    table = np.array([raw(standard(x)) for _, x in drawn.listed])
    mean = np.average(table, axis=0, weights=drawn.weight)
    deviation = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=drawn.weight))
    deviation = np.where(deviation > 1e-9, deviation, np.inf)
    return lambda T: (raw(T) - mean) / deviation


def _layers(drawn: Drawn, numbers: Drawn) -> list[tuple[Drawn, Any, Plain]]:
    data, plain = Data(drawn.bags, drawn.weight), Data(numbers.bags, numbers.weight)
    whole = Data(drawn.bags, drawn.weight, "all")
    free = PatchObjective(data, drawn.target, PLACES, Layer(3, 0.2), RATIO, logistic)
    soft = Softmax(2)
    return [
        (drawn, Objective(data, *drawn.target, LogMeanExp(2, 1.6)), log_mean_exp(1.6, True)),
        (
            numbers, Objective(plain, *numbers.target, LogMeanExp(2, 1.0, False), loss=squared),
            log_mean_exp(1.0, False)),
        (numbers, Objective(plain, *numbers.target, soft, RATIO, squared), softmax()),
        (drawn, Objective(whole, *drawn.target, soft, RATIO), softmax(statistics_of(drawn))),
        (drawn, GroupObjective(data, drawn.target, PLACES, RATIO, logistic), groups()),
        (drawn, free, _patches(False)), (drawn, TiedObjective(free, SETS, RATIO), _patches(True))]


def objective(theta: np.ndarray, drawn: Drawn, plain: Plain, ridge: float) -> float:
    standard, losses = standardising(drawn), []
    for (places, x), y in zip(drawn.listed, drawn.target.y, strict=True):
        F = plain.says(theta, places, standard(x))
        is_label = abs(y) == 1
        losses.append(np.log1p(np.exp(-y * F)) if is_label else (F - y) ** 2 / 2)
    return float(drawn.target.share @ losses + ridge / 2 * np.sum(plain.penalties * theta**2))


def slopes(function: Callable[[np.ndarray], float], at: np.ndarray) -> np.ndarray:
    sides = DIFFERENCE * np.eye(len(at))
    return np.array([function(at + one) - function(at - one) for one in sides]) / (2 * DIFFERENCE)


@experiment("bag-estimators.layers-by-hand")
def layers_by_hand(key: Any, *, ridge_by_hand: float = RIDGE, moved: float = 0.0) -> xarray.Dataset:
    """By layer, the largest difference between the estimators and what is written out: of the
    objective, its slopes, decisions and weights on fresh bags; by hand the ridge is `ridge_by_hand`
    and parameters are larger by `moved` of their size."""
    random, rows = generator(key), []
    for drawn, layer, plain in _layers(draw(random, True), draw(random, False)):
        theta = 0.6 * random.standard_normal(len(plain.penalties))
        by_hand, fresh = (1 + moved) * theta, draw(random, True)
        value, gradient = layer(theta, RIDGE)
        J = partial(objective, drawn=drawn, plain=plain, ridge=ridge_by_hand)
        standard, model = standardising(drawn), layer.model(theta)
        said = [plain.says(by_hand, places, standard(x)) for places, x in fresh.listed]
        weights = [plain.weighs(by_hand, places, standard(x)) for places, x in fresh.listed]
        rows.append([
            abs(value - J(by_hand)), np.abs(gradient - slopes(J, by_hand)).max(),
            np.abs(model.decision(fresh.bags) - said).max(),
            np.abs(model.attention(fresh.bags) - np.concatenate(weights)).max()])
    return xarray.Dataset({"off": (("layer", "what"), np.array(rows))}, {"layer": list(LAYERS)})


@experiment("bag-estimators.yardsticks-by-hand")
def yardsticks_by_hand(
    key: Any, *, ridge_by_hand: float = RIDGE, moved: float = 0.0, half: float = 0.5
) -> xarray.Dataset:
    """Of erf attention: objective, slopes, predictions and weights; and the query of two gradient
    steps; by the study, and by hand with the ridge `ridge_by_hand`, parameters larger by `moved` of
    their size, and `half` of the mean of y T for the first value."""
    random = generator(key)
    X, y = random.standard_normal((COUNT, PLACES, DIM)) + 0.3, random.standard_normal(COUNT)
    theta = random.standard_normal(2 * DIM)
    by_hand = (1 + moved) * theta

    def says(at: np.ndarray) -> np.ndarray:
        return np.array([sum(erf(x @ at[:DIM]) * (x @ at[DIM:]) for x in bag) for bag in X])

    def J(at: np.ndarray) -> float:
        return float(np.mean((says(at) - y) ** 2) / 2 + ridge_by_hand / 2 * np.sum(at**2))

    value, gradient = models.objective(theta, X, y, RIDGE)
    model = models.ErfModel(*np.split(theta, 2))
    gates = np.array([[abs(erf(x @ by_hand[:DIM])) for x in bag] for bag in X])
    drawn = draw(random, True)
    query = first_query(Objective(Data(drawn.bags, drawn.weight), *drawn.target, Softmax(1)))
    pairs = (
        (value, J(by_hand)), (gradient, slopes(J, by_hand)), (model.predict(X), says(by_hand)),
        (model.attention(X), gates / gates.sum(axis=1)[:, None]), (query, query_of(drawn, half)))
    return xarray.Dataset(
        {"off": ("part", np.array([np.abs(np.subtract(*pair)).max() for pair in pairs]))})


def query_of(drawn: Drawn, half: float) -> np.ndarray:
    """q = -sum_i s_i l'_i Cov_i w_1, of length one, with l' the slope of the loss at b_1 + w_1 .
    mean(T_i), b_1 = sum_i s_i y_i/2, w_1 = sum_i s_i y_i mean(T_i)/2."""
    standard = standardising(drawn)
    bags, pairs = [standard(x) for _, x in drawn.listed], np.transpose(drawn.target)
    b = half * sum(y * s for y, s in pairs)
    w = half * sum(y * s * T.mean(0) for T, (y, s) in zip(bags, pairs, strict=True))
    q = np.zeros(DIM)
    for T, (y, s) in zip(bags, pairs, strict=True):
        pull = -y / (1 + np.exp(y * (b + T.mean(0) @ w)))
        q -= s * pull * (T - T.mean(0)).T @ (T - T.mean(0)) @ w / len(T)
    return q / np.sqrt(q @ q)
