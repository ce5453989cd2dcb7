"""Who finds the group from n samples: screening, group lasso, best subset, and the layer trained
from scratch, on the same draws.

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
from saccade.studies.group_sparse import dynamics
from saccade.studies.group_sparse.experiments.compiling import QUICKLY
from saccade.studies.group_sparse.models import PAPER_LAYER, Encoding, encoding, zeros
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

Finder = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
"""(rows[sample][group and coordinate], labels, group size) -> the weight of every group."""
PENALTY = 0.7
"""The group lasso's penalty, as a share of the one above which it is empty; fixed, so that no
method is tuned on the truth."""


def _sizes(coefficients: np.ndarray, group_dim: int) -> np.ndarray:
    return np.linalg.norm(np.reshape(coefficients, (-1, group_dim)), axis=1)


def _largest_penalty(rows: np.ndarray, labels: np.ndarray, group_dim: int) -> float:
    """max_g |X_g^T y| / n: where the group lasso with square loss becomes empty (with logistic
    loss: half of it)."""
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


@partial(jax.jit, static_argnames=("samples",), compiler_options=QUICKLY)
def _by_layer(
    keys: Any, task: GroupSparseTask, made: Encoding, step_size: Any, gaps: Any, samples: int
) -> Any:
    """For each key the group that the layer looks at most, after full-batch descent from zero on
    that key's sample."""

    def one(key: Any) -> Any:
        start = zeros(task.group_dim + made.matrix.shape[0])
        _, seen = dynamics.full_run(
            key, task, made.matrix, start, step_size, gaps, task.sample(key, samples),
            architecture=PAPER_LAYER, batch=1, held_out=200)
        return seen.attention[-1, 0].argmax()

    return jax.lax.map(one, keys)


def _largest(weights: np.ndarray) -> int:
    """The group with the largest weight; -1 when all are empty."""
    return int(np.argmax(weights)) if np.any(weights > 0) else -1


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def _search(
    finder: Finder, keys: Any, task: GroupSparseTask, samples: int
) -> tuple[list[int], list[float]]:
    """The group found on every draw, and the seconds each fit took."""
    answers = []
    for key in keys:
        batch = task.sample(key, samples)
        rows = np.ascontiguousarray(
            np.asarray(batch.inputs).transpose(0, 2, 1).reshape(samples, -1))
        labels = np.asarray(batch.labels)
        answers.append(
            _timed(lambda rows=rows, labels=labels: _largest(finder(rows, labels, task.group_dim))))
    found, seconds = zip(*answers, strict=True)
    return list(found), list(seconds)


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
    task, made = (
        group_sparse_task(groups, group_dim, relevant=relevant if informative else 0),
        encoding("sine", groups))
    gaps = dynamics.plan_record(steps, None).gaps
    names = (*finders, "layer") if step_sizes else finders
    found = np.zeros((len(samples), len(names), draws))
    seconds = np.zeros((len(samples), len(names)))
    for place, count in enumerate(samples):
        keys = jax.random.split(jax.random.fold_in(key, place), draws)
        for number, name in enumerate(finders):
            _search(
                FINDERS[name], keys[:1], task, count
            )  # the first fit of a library loads and compiles
            chosen, spent = _search(FINDERS[name], keys, task, count)
            found[place, number], seconds[place, number] = (
                np.array(chosen) == relevant, np.median(spent))
        if step_sizes:
            found[place, -1], seconds[place, -1] = _best_layer(
                keys, task, made, step_sizes, gaps, count, relevant)
    axes = ("samples", "finder", "draw")
    return xarray.Dataset(
        {"found": (axes, found), "seconds": (axes[:2], seconds)},
        {"samples": list(samples), "finder": list(names)})


def _best_layer(
    keys: Any, task: GroupSparseTask, made: Encoding, step_sizes: tuple[float, ...], gaps: Any,
    samples: int, relevant: int,
) -> tuple[np.ndarray, float]:
    """Hits of the layer at its best step size, and the seconds of one fit."""
    hits = [
        np.asarray(_by_layer(keys, task, made, eta, gaps, samples)) == relevant
        for eta in step_sizes]
    _, spent = _timed(
        lambda: jax.block_until_ready(_by_layer(keys, task, made, step_sizes[0], gaps, samples)))
    return max(hits, key=np.mean), spent / len(keys)
