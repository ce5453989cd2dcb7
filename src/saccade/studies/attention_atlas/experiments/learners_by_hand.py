"""Learners of the map beside plain versions of them: linear functions of pooled and of all tokens
where some are missing, the transformer's layer, and estimators that are given bags."""

import warnings
from typing import Any

import jax
import numpy as np
import xarray
from sklearn.linear_model import LogisticRegression, Ridge

from saccade.estimators import TwoStepAttentionClassifier
from saccade.lab.experiment import experiment
from saccade.studies.attention_atlas.learners import linear, transformer
from saccade.studies.attention_atlas.learners.two_step import TWO_STEPS
from saccade.studies.attention_atlas.models import Data
from saccade.studies.attention_atlas.task import generator

COUNT, LENGTH, DIM = 40, 4, 3
PARTS = (
    "pooled", "largest", "flattened", "transformer says", "transformer weighs", "two steps say",
    "two steps weigh")


def _drawn(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tokens, numbers, and which tokens are there."""
    X = random.standard_normal((COUNT, LENGTH, DIM)) * [1.0, 2.0, 0.5] + [0.5, -1.0, 2.0]
    mask = random.random((COUNT, LENGTH)) < 0.6
    mask[:, 0] = True
    return X, X[:, 0, 0] + random.standard_normal(COUNT), mask


def _peer(table: np.ndarray, data: Data, ridge: float) -> np.ndarray:
    """Ridge or logistic regression on standardised features, by scikit-learn."""
    Z = (table - table.mean(axis=0)) / table.std(axis=0)
    if data.kind == "regression":
        return Ridge(alpha=ridge * COUNT).fit(Z, data.y).predict(Z)
    peer = LogisticRegression(C=1 / (ridge * COUNT), tol=1e-10, max_iter=2000)
    return peer.fit(Z, data.y).decision_function(Z)


def _linear(random: np.random.Generator, factor: float) -> list[float]:
    """By learner, how far it is from its peer with ridges `factor` times as large."""
    X, y, mask = _drawn(random)
    listed = [x[here] for x, here in zip(X, mask, strict=True)]
    means = np.array([x.sum(axis=0) / len(x) for x in listed])
    ends = np.array([[*x.max(axis=0), *x.min(axis=0)] for x in listed])
    learners = ((linear.POOLED, means), (linear.LARGEST, ends), (linear.FLAT, X.reshape(COUNT, -1)))
    off = []
    for learner, table in learners:
        here = mask if learner.ragged else None
        apart = []
        for kind in ("regression", "classification"):
            target = y if kind == "regression" else np.where(y > 0.5, 1.0, -1.0)
            data = Data(
                X if here is None else np.where(here[:, :, None], X, 0), target, kind, 3, here)
            for ridge, model in zip(linear.RIDGES, learner.make(kind).path(data), strict=True):
                apart.append(np.abs(model(X, here) - _peer(table, data, factor * ridge)).max())
        off.append(float(max(apart)))
    return off


def _transformer(random: np.random.Generator, heads: int) -> list[float]:
    """How far predictions and received attention are from loops over heads, whose scores are
    products over sqrt(16/`heads`)."""
    X = random.standard_normal((3, LENGTH, DIM))
    shapes = jax.eval_shape(lambda: transformer.start(jax.random.key(0), LENGTH, DIM))
    made = {
        name: random.standard_normal(one.shape) / np.sqrt(max(1, *one.shape[:1] or (1,)))
        for name, one in shapes.items()}
    F, looks = transformer.apply({k: np.float32(v) for k, v in made.items()}, np.float32(X))
    said, weights = [], []
    for x in X:
        Z, received = x @ made["embed"] + made["places"], np.zeros(LENGTH)
        mixed = np.zeros((LENGTH, 16))
        for head in range(2):
            q, k, v = (Z @ made["qkv"][:, one, head] for one in range(3))
            scores = np.exp(q @ k.T / np.sqrt(16 / heads))
            S = scores / scores.sum(axis=1)[:, None]
            mixed[:, 8 * head : 8 * head + 8] = S @ v
            received += S.sum(axis=0) / (2 * LENGTH)
        Z = Z + mixed @ made["out"]
        up = Z @ made["up"]
        gelu = up / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (up + 0.044715 * up**3)))
        Z = Z + gelu @ made["down"]
        said.append(Z.mean(axis=0) @ made["read"] + made["bias"])
        weights.append(received)
    return [float(np.abs(np.subtract(a, b)).max()) for a, b in ((F, said), (looks, weights))]


def _two_steps(random: np.random.Generator, key: Any, sharpness: tuple[float, ...]) -> list[float]:
    """How far the learner of samples with missing tokens is from the estimator of a list of bags,
    of which the last quarter chooses."""
    X, y, mask = _drawn(random)
    labels = np.where(y > 0.5, 1.0, -1.0)
    listed = [x[here] for x, here in zip(X, mask, strict=True)]
    model: Any = TWO_STEPS.make("classification")
    fitted = model.fit(np.where(mask[:, :, None], X, np.nan), labels, mask, key=key)
    cut = [(np.arange(30), np.arange(30, 40))]
    settings: Any = {"sharpness": sharpness, "ridges": (0.1, 0.01), "class_weight": None, "cv": cut}
    peer = TwoStepAttentionClassifier(**settings).fit(listed, labels)
    with warnings.catch_warnings():  # forty bags teach nothing, and attention warns of that
        warnings.simplefilter("ignore", UserWarning)
        weights = np.concatenate(peer.attention(listed))
    return [
        float(np.abs(fitted(X, mask) - peer.decision_function(listed)).max()),
        float(np.abs(fitted.attention(X, mask)[mask] - weights).max())]


@experiment("attention-atlas.learners-by-hand")
def learners_by_hand(
    key: Any, *, factor: float = 1.0, heads: int = 2, sharpness: tuple[float, ...] = (1.0, 4.0)
) -> xarray.Dataset:
    """The differences of PARTS; by hand ridges are `factor` times as large, scores are over
    sqrt(16/`heads`), and two steps choose among these degrees of `sharpness`."""
    random = generator(key)
    off = [*_linear(random, factor), *_transformer(random, heads)]
    off += _two_steps(random, jax.random.fold_in(key, 1), sharpness)
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
