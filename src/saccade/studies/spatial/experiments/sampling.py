"""Sampled images: errors of f*, linear models, a ternary code and the cheat; the layer's loss. All
in NumPy: a program for every shape would cost more to compile than all images to draw."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import xarray

from saccade.arrays import generator
from saccade.lab.experiment import experiment
from saccade.studies.spatial import models
from saccade.studies.spatial import task as tasks
from saccade.studies.spatial.models import output, three_value_attention
from saccade.studies.spatial.task import Spatial, interleaved, label_function, sample_signals

Case = tuple[int, int, float]  # patches, set size, spurious rate
CASES: tuple[Case, ...] = ((36, 4, 0.3), (64, 4, 0.25), (24, 3, 0.5))
POINTS = ((0.04, 0.0, 0.0), (0.05, 1.0, -0.1), (0.03, 3.0, -0.2))  # alpha, gamma, rho


def _mapped(
    one: Callable[[np.random.Generator], Any], random: np.random.Generator, replicates: int
) -> np.ndarray:
    """`one` of each of so many independent generators."""
    return np.stack([one(child) for child in random.spawn(replicates)])


@experiment("spatial.sampled-errors", scales={"standard": {"samples": 100_000}})
def sampled_errors(
    key: Any, *, cases: tuple[Case, ...] = CASES, threshold: float = 0.9, samples: int = 20_000,
    zeros: bool = True,
) -> xarray.Dataset:
    """Is y f*(X) <= 0 (without `zeros`: below 0), is the sign of the sum of signals wrong (a coin
    decides ties)?"""
    label, linear, random = [], [], generator(key)
    for patches, set_size, rate in cases:
        labels = interleaved(patches, set_size)
        x, y, _ = sample_signals(random, labels, rate, samples)
        margin = y * label_function(x, labels, threshold)
        label.append(margin <= 0 if zeros else margin < 0)
        total, coin = y * np.sum(x, axis=1), random.uniform(size=samples) < 0.5
        linear.append((total < 0) | ((total == 0) & coin))
    return xarray.Dataset({
        "label": (("sample", "case"), np.stack(label, 1)),
        "linear": (("sample", "case"), np.stack(linear, 1))})


@experiment("spatial.logistic-regression")
def logistic_regression(
    key: Any, *, patches: int = 64, set_size: int = 4, spurious_rate: float = 0.25,
    train: int = 4000, test: int = 8000,
) -> xarray.Dataset:
    """Wrong answers of logistic regression g with a free weight for each patch, on fresh images:
    against the label, and (Theorem 3.1) whether f* g <= 0."""
    from sklearn.linear_model import LogisticRegression

    labels, random = interleaved(patches, set_size), generator(key)
    x, y, _ = sample_signals(random, labels, spurious_rate, train)
    fresh, truth, _ = sample_signals(random, labels, spurious_rate, test)
    says = LogisticRegression(C=1.0, max_iter=500).fit(x, y).predict(fresh)
    against = says * label_function(fresh, labels) <= 0
    return xarray.Dataset({"wrong": ("sample", says != truth), "against": ("sample", against)})


@experiment("spatial.ternary-code")
def ternary_code(
    key: Any, *, patches: int = 36, set_size: int = 4, spurious_rate: float = 0.5, base: int = 3,
    samples: int = 20_000,
) -> xarray.Dataset:
    """A generalised linear model g with weights base^j w*: is each image read back from the one
    number it sees, is f* of it wrong, and is f* g <= 0, under the phi that reads digits -1, 0, 1
    from the lowest on (int64) and under the sign?"""
    labels = interleaved(patches, set_size)
    x, y, _ = sample_signals(generator(key), labels, spurious_rate, samples)
    signals = x.astype(np.int64)
    weights = np.asarray([base**j for j in range(patches)], np.int64)
    number = signals @ weights
    truth, sign = label_function(signals, labels), np.sign(number)
    digits = np.zeros_like(signals)
    for j in range(patches):
        digits[:, j] = (number + 1) % 3 - 1
        number = (number - digits[:, j]) // 3
    value = label_function(digits, labels)
    judged = {
        "decoded": np.all(digits == signals, axis=1), "wrong": y * value <= 0,
        "against": truth * value <= 0, "against_sign": truth * sign <= 0}
    return xarray.Dataset({name: ("sample", values) for name, values in judged.items()})


@experiment("spatial.cheating")
def cheating(
    key: Any, *, patches: int = 36, set_size: int = 4, spurious_rate: float = 0.5,
    sharpness: float = 5.0, temperature: float = 1.7, own_diagonal: float | None = None,
    degree: int = 3, slope: float = 1e-4, dim: int = 3, samples: int = 50_000,
) -> xarray.Dataset:
    """Wrong signs of the layer (noise included) whose patches read the set after their own, and of
    one that reads its own and gives `own_diagonal` (else B) to the patch itself; the largest gap of
    their outputs."""
    labels = interleaved(patches, set_size)
    make, draw = jax.random.split(key)
    task = Spatial.create(make, labels, dim, spurious_rate)
    sample = task.sample(generator(draw), samples)
    away = models.cheating_attention(labels, sharpness)
    own = three_value_attention(
        labels, sharpness if own_diagonal is None else own_diagonal, sharpness, 0.0)
    F_away, F_own = (
        output(sample.X, A, task.feature, degree, slope, temperature) for A in (away, own))
    gap = np.max(np.abs(F_away - F_own)) / np.max(np.abs(F_away))
    return xarray.Dataset(
        {
            "away": ("sample", sample.y * F_away < 0), "own": ("sample", sample.y * F_own < 0),
            "A": (("i", "j"), away), "gap": ((), gap)},
        coords={"labels": ("i", labels)})


@experiment("spatial.sampled-loss")
def sampled_loss(
    key: Any, *, patches: int = 36, set_size: int = 4, spurious_rate: float = 0.3, degree: int = 3,
    slope: float = 1e-4, diagonal: float = 1.0, dim: int = 3, tilt: float = 0.0, drift: float = 0.0,
    samples: int = 500, replicates: int = 64,
) -> xarray.Dataset:
    """Loss of the layer on raw images at three points (alpha, gamma, rho), and the part of dL/dv
    orthogonal to w*. Two ways to break Lemma 4.2: `tilt` turns v away from w*, `drift` moves the
    noise off mean zero by that much times y."""
    labels = interleaved(patches, set_size)
    make, draw = jax.random.split(key)
    task = Spatial.create(make, labels, dim, spurious_rate)
    side = np.eye(dim)[0] - task.feature[0] * task.feature
    side = side / np.linalg.norm(side)

    def one(random: np.random.Generator) -> Any:
        sample = task.sample(random, samples)
        X = sample.X + drift * sample.y[:, None, None] * side
        rows = []
        for alpha, gamma, rho in POINTS:
            A = three_value_attention(labels, diagonal, gamma, rho)
            v = alpha * (task.feature + tilt * side)
            at = models.gradients(X, sample.y, A, v, degree, slope)
            rows.append([at.loss, at.grad_v @ side, at.grad_v @ task.feature])
        return rows

    table, dims = _mapped(one, generator(draw), replicates), ("replicate", "point")
    names = ("loss", "orthogonal", "along")
    return xarray.Dataset({name: (dims, table[:, :, n]) for n, name in enumerate(names)})


@experiment("spatial.noise-term")
def noise_term(
    key: Any, *, patches: int = 64, set_size: int = 4, spurious_rate: float = 0.25,
    diagonal: float = 1.0, gamma: float = 0.0, rho: float = 0.0, degree: int = 3,
    hidden: bool = False, samples: int = 2000, replicates: int = 64,
) -> xarray.Dataset:
    """What signal patches and the others add to y sum_i (D <w*, O_i>)^p (alpha = 1); `hidden` shows
    the others an image without its signal set."""
    labels = interleaved(patches, set_size)
    S = models.scores(three_value_attention(labels, diagonal, gamma, rho))

    def one(random: np.random.Generator) -> Any:
        x, y, signal_set = sample_signals(random, labels, spurious_rate, samples)
        inside = labels == signal_set[:, None]
        seen = x, np.where(inside, 0.0, x) if hidden else x
        powers = [y[:, None] * (patches * part @ S.T) ** degree for part in seen]
        kinds = zip(powers, (inside, ~inside), strict=True)
        return [np.mean(np.sum(power * kind, axis=1)) for power, kind in kinds]

    table = _mapped(one, generator(key), replicates)
    return xarray.Dataset(
        {"signal": ("replicate", table[:, 0]), "noise": ("replicate", table[:, 1])})


@experiment("spatial.linear-argument")
def linear_argument(
    key: Any, *, patches: int = 36, set_size: int = 4, spurious_rate: float = 0.3,
    gamma: float = 0.0, rho: float = 0.0, samples: int = 20_000,
) -> xarray.Dataset:
    """Do the layer at (gamma, rho) and the plain sum of signals have the same sign?"""
    labels = interleaved(patches, set_size)
    x, _, _ = sample_signals(generator(key), labels, spurious_rate, samples)
    X = x[..., None]
    F = output(X, three_value_attention(labels, 1.0, gamma, rho), np.full(1, 0.05), 3, 1e-4)
    F = np.where(np.abs(F) <= 1e-9 * np.max(np.abs(F)), 0.0, F)
    K = models.GeneralisedLinear(np.ones((patches, 1)))(X)
    return xarray.Dataset({"agree": ("sample", np.sign(F) == np.sign(K))})


@experiment("spatial.pictures")
def pictures(
    key: Any, *, side: int = 6, block: int = 2, spurious_rate: float = 0.4
) -> xarray.Dataset:
    """A localised and a scattered partition, with an image of each (Figures 1b and 3)."""
    square = tasks.localised(side, block)
    kinds = {"localised": square, "scattered": tasks.scattered(jax.random.fold_in(key, 1), square)}
    drawn = [sample_signals(generator(key), labels, spurious_rate, 1) for labels in kinds.values()]
    signals, y, signal_set = (np.concatenate(part) for part in zip(*drawn, strict=True))
    return xarray.Dataset(
        {
            "labels": (("kind", "patch"), np.stack(list(kinds.values()))),
            "signals": (("kind", "patch"), signals), "y": ("kind", y),
            "signal_set": ("kind", signal_set)},
        coords={"kind": list(kinds)})
