"""Predictors that know the task: without the order of tokens, and the floor of the map itself."""

from typing import Any

import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.experiment import experiment
from saccade.studies.attention_atlas.experiments import (
    DIM,
    LENGTH,
    POOL,
    draw_of,
    find_task,
    homes,
    sizes_of,
    task_of,
)
from saccade.studies.attention_atlas.measures import error

READS_ROOMS = ("charts",)
ORDERLESS = ("split-0", "group-sparse")
"""Tasks in which a fixed, unmarked place decides."""
OTHERWISE = 0.7
"""G is the best predictor of tokens of so much their length: some other function of them."""


@experiment("attention-atlas.without-order", finds=lambda asked: homes(ORDERLESS, ()))
def without_order(
    key, *, among: int = 0, draws: int = 32, length: int = LENGTH, dim: int = DIM, test: int = 8000
) -> xarray.Dataset:
    """Error over that of chance (variance 1, labels 1/2) of the conditional mean given the tokens
    as a set, on the two tasks with a fixed, unmarked place; told that it is `among` so many first
    places, if that is not 0."""
    require(0 <= among <= length, "among", among, f"must lie from 0 to the length {length}")
    sizes, found = sizes_of(key, POOL, length, dim, test), np.empty((len(ORDERLESS), draws))
    for row, name in enumerate(ORDERLESS):
        for number in range(draws):
            draw, task = draw_of(name, number, sizes), task_of(find_task(name), number, sizes)
            wrong = error(_guess(task, draw.fresh.X, among or length), draw.fresh.y, draw.kind)
            found[row, number] = wrong / (1 if draw.kind == "regression" else 0.5)
    return xarray.Dataset({"excess": (("meeting", "draw"), found)}, {"meeting": list(ORDERLESS)})


def _guess(task: Any, X: np.ndarray, among: int) -> np.ndarray:
    """Labels: each of these tokens takes the first place once, and the majority decides."""
    if task.kind == "regression":
        return task.without_order(X, among)
    signs = [np.sign(np.asarray(task.best(np.roll(X, -by, axis=1)))) for by in range(among)]
    return np.sum(signs, axis=0)


@experiment("attention-atlas.floor", finds=lambda asked: homes(asked.tasks, ()))
def floor(
    key, *, tasks: tuple[str, ...] = ("split-25", "split-75"), longer: float = 1.0, draws: int = 32,
    length: int = 6, dim: int = DIM, test: int = 4000,
) -> xarray.Dataset:
    """What the best predictor F leaves, along F itself and along another function G of the tokens:
    E[(y - F) F]/E[F^2] and E[(y - F) G]/E[G^2], by task; F sees tokens `longer` by a factor. And
    the variance of y that is linear in the first token, and the rest of it."""
    require(longer > 0, "longer", longer, "must be above 0")
    sizes, found = sizes_of(key, POOL, length, dim, test), np.empty((draws, len(tasks), 2))
    variance = np.empty_like(found)
    for column, name in enumerate(tasks):
        for number in range(draws):
            fresh = draw_of(name, number, sizes).fresh
            task = task_of(find_task(name), number, sizes)
            F, G = (np.asarray(task.best(by * fresh.X)) for by in (longer, OTHERWISE))
            found[number, column] = [np.mean((fresh.y - F) * g) / np.mean(g * g) for g in (F, G)]
            variance[number, column] = _by_place(fresh.X, fresh.y)
    return xarray.Dataset(
        {
            "left": (("draw", "task", "along"), found),
            "variance": (("draw", "task", "place"), variance)},
        {"task": list(tasks), "along": ["F", "G"], "place": ["first", "rest"]})


def _by_place(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Of least squares on the first token: the variance of what is fitted, and of what is left."""
    fitted = X[:, 0] @ np.linalg.lstsq(X[:, 0], y, rcond=None)[0]
    return fitted.var(), (y - fitted).var()
