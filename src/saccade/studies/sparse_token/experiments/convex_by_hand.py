"""Convex fits of read-outs beside their definitions: slopes, losses and steps of the fit, and sets
of which it is known whether a plane separates them."""

from typing import Any

import numpy as np
import xarray

from saccade import convex
from saccade.arrays import generator
from saccade.lab.experiment import experiment

RIDGE = 0.07
SHAPES = ((40, 5), (12, 20))
LOSSES = ("logistic", "square")
PARTS = (
    "slope", "training loss", "objective", "slope elsewhere", "steps", "separable", "not separable",
    "margin", "error")


def _plain(F: np.ndarray, y: np.ndarray, loss: str, ridge: float, at: np.ndarray) -> np.ndarray:
    """Mean loss, objective, and the length of the objective's slope by (w, b)."""
    w, b = at[:-1], at[-1]
    losses, slopes = [], np.append(ridge * w, 0.0)
    for f, label in zip(F, y, strict=True):
        h = f @ w + b
        losses.append((label - h) ** 2 / 2 if loss == "square" else np.log1p(np.exp(-label * h)))
        pull = h - label if loss == "square" else -label / (1 + np.exp(label * h))
        slopes += pull * np.append(f, 1.0) / len(y)
    mean = np.mean(losses)
    return np.array([mean, mean + ridge / 2 * w @ w, np.sqrt(slopes @ slopes)])


def _fits(random: np.random.Generator, ridge: float, exchanged: bool) -> list[list[float]]:
    """For each shape and loss: what is left of the slope at the fit, what is reported less what is
    written out there and elsewhere, and Newton's steps. `exchanged` writes out the other loss."""
    rows = []
    for (n, p), loss in ((shape, loss) for shape in SHAPES for loss in LOSSES):
        F = random.standard_normal((n, p)) * np.linspace(0.5, 2, p) + 0.4
        y = np.where(F[:, 0] + random.standard_normal(n) > 0.3, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        made = convex.fit_readout(F, y, RIDGE, loss)
        by_hand = LOSSES[1 - LOSSES.index(loss)] if exchanged else loss
        mean, objective, slope = _plain(F, y, by_hand, ridge, np.append(made.w, made.b))
        at = 0.5 * random.standard_normal(p + 1)
        there = convex._certify(F, y, RIDGE, loss, at[:-1], at[-1], 0, 1e-10)
        elsewhere = there.gradient_norm - _plain(F, y, by_hand, ridge, at)[2]
        rows.append(
            [slope, made.train_loss - mean, made.objective - objective, elsewhere, made.iterations])
    return rows


def _separations(random: np.random.Generator, turned: bool, reach: float) -> list[float]:
    """Of sets with a gap, and of such with a point amid the others: how often the answer is wrong;
    the largest margin of weights in a square less that of a grid of them, up to `reach`; the error
    of a read-out that has two samples of either label on its plane. `turned` exchanges the two
    kinds."""
    wrong = np.zeros((2, 12))
    for number in range(12):
        F = random.standard_normal((30, 3))
        y = np.sign(F @ [1.0, -2.0, 0.5] + 0.3)
        F = F + 0.2 * y[:, None] * [1.0, -2.0, 0.5]
        hidden = F[y > 0].mean(axis=0)
        more, labels = np.vstack([F, hidden]), np.append(y, -1.0)
        if turned:
            F, y, more, labels = more, labels, F, y
        wrong[:, number] = not convex.is_separable(F, y), convex.is_separable(more, labels)
    side = np.linspace(-reach, reach, 201)
    grid = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    away = []
    for centre in ([2.4, -1.8], [0.7, -0.8], [-0.6, -0.7], [0.9, 0.6]):  # the first reaches 1
        rows = 0.2 * random.standard_normal((9, 2)) + centre
        margin = min(1.0, float((grid @ rows.T).min(axis=1).max()))
        away.append(abs(convex.largest_margin(-rows) - margin))
    w = np.array([0.5, -0.25])
    on_plane = [[1.0, 0.0], [0.0, -2.0], [2.0, 2.0], [0.5, -1.0]]
    points, y = np.vstack([rows, on_plane]), np.append(np.sign(rows[:, 0] - 1.2), [1, -1, 1, -1])
    errors = [0.0 if label * (x @ w - 0.5) > 0 else 1.0 for x, label in zip(points, y, strict=True)]
    share = float(np.mean(errors[1:] if turned else errors))
    return [
        float(wrong[0].mean()), float(wrong[1].mean()), max(away),
        convex.readout_error(points, y, w, -0.5) - share]


@experiment("sparse-token.convex-by-hand")
def convex_by_hand(
    key: Any, *, ridge_by_hand: float = RIDGE, most_steps: int = 12, turned: bool = False,
    exchanged: bool = False, reach: float = 1.0,
) -> xarray.Dataset:
    """What is reported of fits and separations less what is written out, with the ridge
    `ridge_by_hand`, the losses `exchanged` and weights up to `reach`; Newton's steps beyond
    `most_steps` count."""
    random = generator(key)
    fits = np.array(_fits(random, ridge_by_hand, exchanged))
    steps = max(float(fits[:, 4].max()) - most_steps, 0.0)
    off = [*np.abs(fits[:, :4]).max(axis=0), steps, *_separations(random, turned, reach)]
    return xarray.Dataset({"off": ("part", np.array(off))})
