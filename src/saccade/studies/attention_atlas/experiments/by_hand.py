"""Layers of the map beside plain versions of them: objectives and their slopes, what fitted layers
say and how they weigh tokens, sample by sample."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import xarray
from scipy.special import erf

from saccade.lab.experiment import experiment
from saccade.studies.attention_atlas.learners.erf import Erf
from saccade.studies.attention_atlas.models import Data, Fitted
from saccade.studies.attention_atlas.models.heads import Heads, Tied, Tokens
from saccade.studies.attention_atlas.models.places import Places
from saccade.studies.attention_atlas.task import generator

BAGS, LENGTH, DIM, RIDGE, DIFFERENCE = 7, 5, 3, 0.3, 1e-5


class Plain(NamedTuple):
    """A layer of the study, and the same written out: features of tokens, prediction and weights of
    one sample from its features, and what the ridge weighs each parameter by."""

    name: str
    layer: Any
    features: Callable[[np.ndarray, np.ndarray], np.ndarray]
    predicts: Callable[[np.ndarray, np.ndarray], float]
    weighs: Callable[[np.ndarray, np.ndarray], np.ndarray]
    penalties: np.ndarray


def _data(random: np.random.Generator, kind: Any, masked: bool) -> Data:
    X = 1.7 * random.standard_normal((BAGS, LENGTH, DIM)) + np.array([0.4, -1.0, 2.0])
    y = random.standard_normal(BAGS) * 2.5 + 1.2
    mask = random.random((BAGS, LENGTH)) < 0.7 if masked else None
    if mask is not None:
        mask[:, 0] = True
        X = np.where(mask[:, :, None], X, 0.0)
    return Data(X, y if kind == "regression" else np.where(y > 1, 1.0, -1.0), kind, 5, mask)


def _standard(data: Data, places: bool = False) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Tokens of deviation one, and with `places` the standardised one-hot code of each."""
    there = [x for X, here in zip(data.X, _here(data)) for x, is_here in zip(X, here) if is_here]
    mean, deviation = np.mean(there, axis=0), np.std(there, axis=0)
    codes = (np.eye(LENGTH) - 1 / LENGTH) / np.std(np.eye(LENGTH)[0])

    def features(X: np.ndarray, here: np.ndarray) -> np.ndarray:
        T = (X - mean) / deviation
        return (np.concatenate([T, codes], axis=1) if places else T)[here]

    return features


def _here(data: Data) -> np.ndarray:
    return np.ones(data.X.shape[:2], bool) if data.mask is None else data.mask


def _shares(scores: np.ndarray) -> np.ndarray:
    return np.exp(scores) / np.exp(scores).sum()


def _heads(theta: np.ndarray, Z: np.ndarray, sharper: float) -> float:
    queries, values = np.split(theta[1:].reshape(-1, Z.shape[1]), 2)
    pairs = zip(queries, values, strict=True)
    return theta[0] + sum(_shares(sharper * Z @ q) @ (Z @ w) for q, w in pairs)


def _head_weights(theta: np.ndarray, Z: np.ndarray, sharper: float) -> np.ndarray:
    queries, values = np.split(theta[1:].reshape(-1, Z.shape[1]), 2)
    sizes = np.array([np.sqrt(w @ w) for w in values])
    looks = [size * _shares(sharper * Z @ q) for q, size in zip(queries, sizes, strict=True)]
    return np.sum(looks, axis=0) / sizes.sum()


def _plain_layers(random: np.random.Generator, sharper: float) -> list[tuple[Data, Plain]]:
    numbers, labels = (_data(random, kind, False) for kind in ("regression", "classification"))
    ragged, ones = _data(random, "classification", True), np.append(0.0, np.ones(50))
    by_place = np.repeat([0.0, 0.1, 1.0], [1, LENGTH, DIM])

    def tied(theta: np.ndarray, Z: np.ndarray) -> float:
        return theta[0] + np.log(np.mean(np.exp(sharper * Z @ theta[1:])))

    def placed(theta: np.ndarray, Z: np.ndarray) -> float:
        return theta[0] + _shares(sharper * theta[1 : 1 + LENGTH]) @ (Z @ theta[1 + LENGTH :])

    def gated(theta: np.ndarray, Z: np.ndarray) -> float:
        q, v = np.split(theta[1:], 2)
        return theta[0] + np.sum(erf(sharper * Z @ q) * (Z @ v))

    def heads(theta: np.ndarray, Z: np.ndarray) -> float:
        return _heads(theta, Z, sharper)

    def looks(theta: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return _head_weights(theta, Z, sharper)

    def raw(X: np.ndarray, here: np.ndarray) -> np.ndarray:
        return X[here]

    def at_places(theta: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return _shares(sharper * theta[1 : 1 + LENGTH])

    def of_gates(theta: np.ndarray, Z: np.ndarray) -> np.ndarray:
        gates = np.abs(erf(sharper * Z @ theta[1 : 1 + DIM]))
        return gates / gates.sum()

    def two(data: Data, places: bool) -> Plain:
        layer, width = Heads(data, 2, places), DIM + LENGTH * places
        return Plain("", layer, _standard(data, places), heads, looks, ones[: 1 + 4 * width])

    def of_places(data: Data) -> Plain:
        return Plain("", Places(data), _standard(data), placed, at_places, by_place)

    return [
        (numbers, two(numbers, True)._replace(name="heads with places")),
        (ragged, two(ragged, False)._replace(name="heads, tokens missing")),
        (
            ragged,
            Plain(
                "tied", Tied(Tokens(ragged, False), ragged), _standard(ragged), tied, looks,
                ones[: 1 + DIM])),
        (numbers, of_places(numbers)._replace(name="places, numbers")),
        (labels, of_places(labels)._replace(name="places, labels")),
        (numbers, Plain("erf", Erf(numbers), raw, gated, of_gates, ones[: 1 + 2 * DIM]))]


LAYERS = (
    "heads with places", "heads, tokens missing", "tied", "places, numbers", "places, labels",
    "erf")


def _mean_loss(theta: np.ndarray, data: Data, plain: Plain, ridge: float) -> float:
    y, losses = data.y, []
    if data.kind == "regression":
        y = (y - np.mean(y)) / np.std(y)
    for X, here, target in zip(data.X, _here(data), y, strict=True):
        F = plain.predicts(theta, plain.features(X, here))
        losses.append(
            (F - target) ** 2 / 2 if data.kind == "regression" else np.log1p(np.exp(-target * F)))
    return float(np.mean(losses) + ridge / 2 * np.sum(plain.penalties * theta**2))


def _slopes(theta: np.ndarray, data: Data, plain: Plain, ridge: float) -> np.ndarray:
    """Central differences, one parameter after the other."""
    ends = [
        [_mean_loss(theta + side * one, data, plain, ridge) for side in (DIFFERENCE, -DIFFERENCE)]
        for one in np.eye(len(theta))]
    return np.array([(up - down) / (2 * DIFFERENCE) for up, down in ends])


def _fitted(theta: np.ndarray, data: Data, plain: Plain, fresh: Data) -> tuple[np.ndarray, ...]:
    """What the layer says of fresh samples, and how it weighs their tokens, written out."""
    level, spread = (np.mean(data.y), np.std(data.y)) if data.kind == "regression" else (0.0, 1.0)
    said, weights = [], np.zeros(fresh.X.shape[:2])
    for number, (X, here) in enumerate(zip(fresh.X, _here(fresh), strict=True)):
        Z = plain.features(X, here)
        said.append(level + spread * plain.predicts(theta, Z))
        weights[number, here] = plain.weighs(theta, Z)
    return np.array(said), weights


@experiment("attention-atlas.layers-by-hand")
def layers_by_hand(
    key: Any, *, ridge_by_hand: float = RIDGE, sharper: float = 1.0
) -> xarray.Dataset:
    """The largest difference, by layer, between the study and what is written out: of the objective
    and of its slopes; of predictions and of weights on fresh samples, over their size. By hand the
    ridge is `ridge_by_hand` and scores are `sharper` times as large."""
    random, rows = generator(key), []
    for data, plain in _plain_layers(random, sharper):
        theta = 0.8 * random.standard_normal(len(plain.penalties))
        value, gradient = plain.layer(theta, RIDGE)
        slopes = _slopes(theta, data, plain, ridge_by_hand)
        row = [
            abs(value - _mean_loss(theta, data, plain, ridge_by_hand)),
            np.abs(gradient - slopes).max()]
        fresh, model = _data(random, data.kind, data.mask is not None), plain.layer.model(theta)
        if isinstance(model, Fitted):
            said, weights = _fitted(theta, data, plain, fresh)
            row += [
                np.abs(model(fresh.X, fresh.mask) - said).max(),
                np.abs(model.attention(fresh.X, fresh.mask) - weights).max()]
        rows.append([*row, *[0.0] * (4 - len(row))])
    return xarray.Dataset({"off": (("layer", "what"), np.array(rows))}, {"layer": list(LAYERS)})
