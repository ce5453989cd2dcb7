"""Who finds the group from n samples: the layer trained from scratch on a fixed sample, against
screening, group lasso and best subset on the same draws.

celer and abess come with the extra `bench`. adelie asks for numpy below 2, which JAX refuses, so
pip will not install the two together; it works with newer numpy all the same: `pip install
--no-deps adelie`. skglm compiles at its first fit.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
import xarray

from saccade.errors import unknown
from saccade.lab.experiment import experiment
from saccade.studies.group_sparse.dynamics import plan_record
from saccade.studies.group_sparse.dynamics.full import full_run
from saccade.studies.group_sparse.experiments.common import along
from saccade.studies.group_sparse.models import at_zero, encoding, screen
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task


def _fit_layer(key: Any, task: Any, data: Any, step_size: Any, stops: Any, held_out: int) -> Any:
    """The layer after full-batch descent from zero on `data`, and what is watched meanwhile."""
    start = at_zero(task.dim, encoding("sine", task.length))
    ended, watched = full_run(key, task, start, step_size, stops, data, held_out=held_out)
    return start.at(ended.state), watched


@partial(jax.jit, static_argnames=("samples", "held_out"))
def _from_scratch(
    keys: Any, task: GroupSparseTask, step_size: Any, stops: Any, samples: int, held_out: int
) -> Any:
    """For each key descent on a fixed sample, its training loss, and what screening says."""

    def one(key: Any) -> Any:
        data_key, run_key = jax.random.split(key)
        data = task.sample(data_key, samples)
        layer, watched = _fit_layer(run_key, task, data, step_size, stops, held_out)
        best = screen(data.X, data.y).best
        return watched.attention[-1, 0], watched.error[-1], layer.loss(data.X, data.y), best

    return jax.lax.map(one, keys)


@experiment(
    "group-sparse.from-scratch",
    scales={"standard": {"draws": 200, "samples": (16, 32, 64, 128, 256), "steps": 400}})
def from_scratch(
    key: Any, *, groups: int = 16, group_dim: int = 8, relevant: int = 5,
    samples: tuple[int, ...] = (32,), step_size: float = 0.05, steps: int = 80, draws: int = 40,
    informative: bool = True, held_out: int = 500,
) -> xarray.Dataset:
    """Whether the layer trained on n samples, and screening on the same samples, rank the relevant
    group first (`informative` False replaces the labels by those of another group); attention and
    error are those on `held_out` samples."""
    task = group_sparse_task(groups, group_dim, relevant=relevant if informative else 0)
    stops = plan_record(steps).stops
    rows = [
        _from_scratch(
            jax.random.split(jax.random.fold_in(key, number), draws), task, step_size, stops, count,
            held_out)
        for number, count in enumerate(samples)]
    attention, error, train, best = (np.stack(parts) for parts in zip(*rows, strict=True))
    return xarray.Dataset(
        along(
            ("samples", "draw"), layer_finds=(attention.argmax(-1) == relevant).astype(float),
            screening_finds=(best == relevant).astype(float), attention=attention[..., relevant],
            test_error=error, train_loss=train),
        {"samples": list(samples)})


Finder = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
"""(rows[sample][group and coordinate], labels, group size) -> the weight of every group."""
PENALTY = 0.7
"""The group lasso's penalty, as a share of the one above which it is empty; fixed, so that no
method is tuned on the truth."""


def _sizes(coefficients: np.ndarray, group_dim: int) -> np.ndarray:
    return np.linalg.norm(np.reshape(coefficients, (-1, group_dim)), axis=1)


def _largest_penalty(rows: np.ndarray, labels: np.ndarray, group_dim: int) -> float:
    """max_g |X_g^T y| / n: the group lasso is empty there (with logistic loss at half of it)."""
    return float(_sizes(rows.T @ labels, group_dim).max() / len(labels))


def by_celer(rows: np.ndarray, labels: np.ndarray, group_dim: int) -> np.ndarray:
    """Group lasso with square loss."""
    from celer import GroupLasso

    penalty = PENALTY * _largest_penalty(rows, labels, group_dim)
    fit: Any = GroupLasso(groups=group_dim, alpha=penalty, fit_intercept=False).fit(
        np.asfortranarray(rows), labels)
    return _sizes(fit.coef_, group_dim)


def by_abess(rows: np.ndarray, labels: np.ndarray, group_dim: int) -> np.ndarray:
    """The best single group for logistic loss, by splicing."""
    from abess import LogisticRegression

    members = np.repeat(np.arange(rows.shape[1] // group_dim), group_dim)
    fit: Any = LogisticRegression(support_size=[1], group=members).fit(
        rows, (labels > 0).astype(int))
    return _sizes(fit.coef_, group_dim)


def by_adelie(rows: np.ndarray, labels: np.ndarray, group_dim: int) -> np.ndarray:
    """Group lasso with logistic loss, at the end of a short path."""
    import adelie

    starts = np.arange(0, rows.shape[1], group_dim)
    fit: Any = adelie.grpnet(
        X=np.asfortranarray(rows), glm=adelie.glm.binomial(y=(labels + 1) / 2), groups=starts,
        lmda_path_size=15, min_ratio=PENALTY, early_exit=False, intercept=False, progress_bar=False)
    return _sizes(fit.betas.toarray()[-1], group_dim)


def by_skglm(rows: np.ndarray, labels: np.ndarray, group_dim: int) -> np.ndarray:
    """Group lasso with logistic loss, by proximal Newton steps."""
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import LogisticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupProxNewton

    width = rows.shape[1]
    ends, order = (
        np.arange(0, width + 1, group_dim, dtype=np.int32), np.arange(width, dtype=np.int32))
    penalty = PENALTY * _largest_penalty(rows, labels, group_dim) / 2
    weights = np.ones(width // group_dim)
    fit: Any = GeneralizedLinearEstimator(
        LogisticGroup(ends, order), WeightedGroupL2(penalty, weights, ends, order),
        GroupProxNewton(fit_intercept=False)).fit(np.asfortranarray(rows), labels)
    return _sizes(fit.coef_, group_dim)


def by_screening(rows: np.ndarray, labels: np.ndarray, group_dim: int) -> np.ndarray:
    """|X_g^T y|, one product."""
    return _sizes(rows.T @ labels, group_dim)


FINDERS: dict[str, Finder] = {
    "screening": by_screening, "celer": by_celer, "abess": by_abess, "adelie": by_adelie,
    "skglm": by_skglm}


@partial(jax.jit, static_argnames=("samples",))
def _by_layer(keys: Any, task: GroupSparseTask, step_size: Any, stops: Any, samples: int) -> Any:
    """For each key the group that the layer looks at most, trained on that key's sample."""

    def one(key: Any) -> Any:
        data = task.sample(key, samples)
        return _fit_layer(key, task, data, step_size, stops, 200)[1].attention[-1, 0].argmax()

    return jax.lax.map(one, keys)


def _best_layer(
    keys: Any, task: GroupSparseTask, step_sizes: tuple[float, ...], steps: int, samples: int,
    relevant: int,
) -> tuple[np.ndarray, float]:
    """Hits of the layer at its best step size, and the seconds of one fit."""
    stops = plan_record(steps).stops
    hits = [
        np.asarray(_by_layer(keys, task, eta, stops, samples)) == relevant for eta in step_sizes]
    start = time.perf_counter()
    jax.block_until_ready(_by_layer(keys, task, step_sizes[0], stops, samples))
    return max(hits, key=np.mean), (time.perf_counter() - start) / len(keys)


def _search(
    finder: Finder, keys: Any, task: GroupSparseTask, samples: int, relevant: int
) -> tuple[list[bool], float]:
    """Whether the group has the largest weight, draw by draw, and the median seconds a fit."""
    hits, seconds = [], []
    for key in keys:
        data = task.sample(key, samples)
        rows, labels = np.asarray(data.X).reshape(samples, -1), np.asarray(data.y)
        start = time.perf_counter()
        weights = finder(rows, labels, task.dim)
        seconds.append(time.perf_counter() - start)
        hits.append(bool(weights.any() and weights.argmax() == relevant))
    return hits, float(np.median(seconds))


@experiment(
    "group-sparse.peers",
    scales={"standard": {"samples": (8, 12, 16, 24, 32, 48, 64, 96, 128), "draws": 200}})
def peers(
    key: Any, *, finders: tuple[str, ...] = ("screening", "celer", "abess"), groups: int = 16,
    group_dim: int = 8, relevant: int = 5, samples: tuple[int, ...] = (32,), draws: int = 64,
    step_sizes: tuple[float, ...] = (0.01, 0.03, 0.1), steps: int = 80, informative: bool = True,
) -> xarray.Dataset:
    """Whether each method ranks the relevant group first, draw by draw; the layer at the step size
    that does best at this n, chosen with the truth in hand (no step sizes: no layer). `seconds` per
    fit are wall time, without compilation. `informative` False: another group's labels."""
    for name in finders:
        if name not in FINDERS:
            raise unknown("finder", name, tuple(FINDERS))
    task = group_sparse_task(groups, group_dim, relevant=relevant if informative else 0)
    results = []
    for place, count in enumerate(samples):
        keys = jax.random.split(jax.random.fold_in(key, place), draws)
        for name in finders:  # the first fit of a library loads and compiles
            _search(FINDERS[name], keys[:1], task, count, relevant)
        row: list[Any] = [_search(FINDERS[name], keys, task, count, relevant) for name in finders]
        if step_sizes:
            row.append(_best_layer(keys, task, step_sizes, steps, count, relevant))
        results.append(row)
    axes = ("samples", "finder", "draw")
    return xarray.Dataset(
        along(axes, found=np.array([[hits for hits, _ in row] for row in results], float))
        | along(axes[:2], seconds=[[spent for _, spent in row] for row in results]),
        {"samples": list(samples), "finder": [*finders, *(["layer"] if step_sizes else [])]})
