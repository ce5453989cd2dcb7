"""A growing task beside what is written down: how many coordinates and non-zeros there are at every
step, and what a task that is cut down holds."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.dynamics.curriculum import Curriculum, cut_down, sizes_at
from saccade.studies.sparse_recovery.task import SparseRecovery

DIM, SPARSITY, FIRST, GROWN, STEPS, COUNT = 7, 3, (4, 1), 0.6, 50, 2000
PARTS = (
    "coordinates", "non-zeros", "non-zeros there", "outside", "support", "values", "query's value",
    "places", "squares")


def _grown(first: int, last: int, steps: int) -> np.ndarray:
    """The size at every step: `steps` of them in as many equal stretches as there are sizes."""
    sizes = [first + stretch for stretch in range(last - first + 1)]
    return np.array(
        [sizes[min(len(sizes) * step // steps, len(sizes) - 1)] for step in range(STEPS)])


@experiment("sparse-recovery.curriculum-by-hand")
def curriculum_by_hand(
    key: Any, *, grown: float = GROWN, coordinates: int = 5, non_zeros: int = 2, turned: int = 0
) -> xarray.Dataset:
    """By the study: d_t and S_t, one number each for fifty steps (every step has a weight of its
    own), and of 2000 tasks cut down to `coordinates` and `non_zeros` what PARTS names, with the
    vector of the task `turned` places on; beside it what is written down for a share of `grown`,
    five coordinates and two non-zeros."""
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
        (beta != 0)[:, :5].mean(0) @ np.sqrt(np.arange(1.0, 6.0)), np.mean(beta[support] ** 2)]
    lasts = (_grown(*pair, round(grown * STEPS)) for pair in ((4, DIM), (1, SPARSITY)))
    places = 2 / 5 * np.sqrt(np.arange(1.0, 6.0)).sum()
    plain = [*(weights @ size for size in lasts), 2.0, 0.0, 0.0, 0.0, 0.0, places, 1.0]
    return xarray.Dataset({"made": ("what", made), "plain": ("what", plain)})
