"""A growing task beside what is written down: how many coordinates and non-zeros there are at every
step, and what a task that is cut down, or a batch to train on, holds."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.networks.training import Problem
from saccade.studies.sparse_recovery.dynamics.curriculum import (
    Curriculum,
    cut_down,
    sizes_at,
    with_curriculum,
)
from saccade.studies.sparse_recovery.task import SparseRecovery

DIM, SPARSITY, FIRST, GROWN, STEPS, COUNT = 7, 3, (4, 1), 0.6, 50, 2000
PARTS = (
    "coordinates", "non-zeros", "non-zeros there", "outside", "support", "values", "query's value",
    "places", "squares", "coordinates of batches", "non-zeros of batches", "rows on supports")


def _grown(first: int, last: int, steps: int) -> np.ndarray:
    """The size at every step: `steps` of them in as many equal stretches as there are sizes."""
    sizes = [first + stretch for stretch in range(last - first + 1)]
    return np.array(
        [sizes[min(len(sizes) * step // steps, len(sizes) - 1)] for step in range(STEPS)])


@experiment("sparse-recovery.curriculum-by-hand")
def curriculum_by_hand(
    key: Any, *, grown: float = GROWN, coordinates: int = 5, non_zeros: int = 2, turned: int = 0,
    longest: bool = False,
) -> xarray.Dataset:
    """By the study: d_t and S_t, one number each for fifty steps (every step has a weight of its
    own), and of 2000 tasks cut down to `coordinates` and `non_zeros` what PARTS names, with the
    vector of the task `turned` places on; and of batches, `_of_batches`; beside it what is written
    down for a share of `grown`, five coordinates and two non-zeros."""
    sample_key, cut_key = jax.random.split(key)
    task = SparseRecovery.create(DIM, 4, SPARSITY)
    curriculum, weights = Curriculum(*FIRST, GROWN), np.sqrt(np.arange(1.0, STEPS + 1))
    at = jax.jit(jax.vmap(lambda step: sizes_at(step, task, curriculum, STEPS)))
    sizes = np.stack(at(np.arange(STEPS)))
    there = jax.jit(cut_down)(cut_key, task.sample(sample_key, COUNT), coordinates, non_zeros)
    X, y, beta, support, _, query, query_y = map(np.asarray, there)
    beta = np.roll(beta, turned, axis=0)
    looped = np.array([[row @ b for row in rows] for rows, b in zip(X, beta, strict=True)])
    made = [
        *(sizes @ weights), (beta != 0).sum(1).mean(),
        sum(np.abs(part[..., 5:]).max() for part in (X, beta, query)),
        np.mean(support != (beta != 0)), np.abs(y - looped).max(),
        np.abs(query_y - [x @ b for x, b in zip(query, beta, strict=True)]).max(),
        (beta != 0)[:, :5].mean(0) @ np.sqrt(np.arange(1.0, 6.0)), np.mean(beta[support] ** 2),
        *_of_batches(cut_key, weights, longest)]
    lasts = (_grown(*pair, round(grown * STEPS)) for pair in ((4, DIM), (1, SPARSITY)))
    places = 2 / 5 * np.sqrt(np.arange(1.0, 6.0)).sum()
    sizes = [weights @ size for size in lasts]
    plain = [*sizes, 2.0, 0.0, 0.0, 0.0, 0.0, places, 1.0, *sizes, 0.0]
    return xarray.Dataset({"made": ("what", made), "plain": ("what", plain)})


def _of_batches(key: Any, weights: np.ndarray, longest: bool) -> list[float]:
    """How many coordinates and non-zeros the batches of fifty steps have, one number each, and the
    mean entry of rows where vectors are not zero (`longest`: at the two largest entries instead) in
    the last: rows are drawn before, and know nothing of supports."""
    task = SparseRecovery.create(DIM, 1, SPARSITY)  # a row has as many numbers as a vector
    plain: Any = Problem(lambda *_: 0.0, lambda key, step, data: task.sample(key, COUNT), None)  # type: ignore[arg-type]
    growing = with_curriculum(plain, task, Curriculum(*FIRST, GROWN), STEPS)
    batch = jax.jit(lambda step: growing.batch(jax.random.fold_in(key, step), step, None))
    drawn = [jax.tree.map(np.asarray, batch(step)) for step in range(STEPS)]
    dims = [(one.X != 0).any((0, 1)).sum() for one in drawn]
    counts = [(one.beta != 0).sum(1).mean() for one in drawn]
    rows, there = drawn[-1].X[:, 0], drawn[-1].beta != 0
    there = rows >= np.sort(rows, axis=1)[:, -2:-1] if longest else there
    return [float(weights @ dims), float(weights @ counts), float(rows[there].mean())]
