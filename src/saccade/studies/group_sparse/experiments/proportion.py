"""Transfer with samples in proportion to d: batch refits of v, online fine-tuning with and without
the position part of v, and the second sample of a stream. Sizes change, n/d does not."""

import dataclasses
from functools import partial
from typing import Any

import jax
import numpy as np
import xarray
from scipy.special import ndtr

from saccade.convex import ConvexFit, fit_readout
from saccade.lab.experiment import Run, experiment
from saccade.studies.group_sparse.dynamics import plan_record
from saccade.studies.group_sparse.dynamics import transfer as online
from saccade.studies.group_sparse.experiments.common import along
from saccade.studies.group_sparse.experiments.transfer import (
    Pair,
    Reader,
    features,
    joint_exponents,
    selecting,
    sizes_of,
)

PAIRS: tuple[Pair, ...] = ((10, 3), (40, 3), (10, 15))
ONLINE_PAIRS: tuple[Pair, ...] = ((8, 4), (24, 4), (24, 12))
MODES = {"v2 frozen": True, "v2 free": False}
NODES = np.polynomial.legendre.leggauss(48)


def _flat(reader: Reader, fit: ConvexFit, start: Any, X: Any) -> tuple[np.ndarray, float]:
    """What a fit gives to every number of X, [group][coordinate], and its constant."""
    dim, shares = X.shape[2], np.asarray(start.attention(X[:1]))[0]
    if reader == "flattened":
        return fit.w.reshape(-1, dim), fit.b
    return np.outer(shares, fit.w[:dim]), fit.b + fit.w[dim:] @ start.matrix @ shares


def chance_of_error(weights: np.ndarray, constant: float) -> float:
    """P(y (<weights, X> + constant) <= 0) for the task with v* the first axis, group 0 and sigma =
    1: u = |N(0, 1)| by quadrature, everything across it one Gaussian."""
    u = 4.5 * (NODES[0] + 1)
    density = 4.5 * NODES[1] * np.sqrt(2 / np.pi) * np.exp(-(u**2) / 2)
    along_u, spread = weights[0, 0] * u, np.sqrt(np.sum(weights**2) - weights[0, 0] ** 2)
    return sum(density @ ndtr((side - along_u) / spread) for side in (constant, -constant)) / 2


@experiment("group-sparse.refit-in-proportion")
def refit_in_proportion(
    key: Any, *, pairs: tuple[Pair, ...] = PAIRS, per_dim: int = 8, samples: int | None = None,
    penalty: float = 0.02, attention: float | None = 0.97, reader: Reader = "features",
    draws: int = 192,
) -> xarray.Dataset:
    """The chance that a logistic fit of n = `per_dim` d samples [or `samples`, whatever d] errs on
    the next one, at every size; `penalty`/2 |w|^2 stands beside the mean loss."""
    errors = []
    for number, pair in enumerate(pairs):
        task, start = selecting(pair, attention, 0.0)
        count = per_dim * pair[0] if samples is None else samples
        drawn = task.sample(jax.random.fold_in(key, number), draws * count)
        rows = features(reader, drawn.X, start).reshape(draws, count, -1)
        labels = np.asarray(drawn.y).reshape(draws, count)
        fits = [
            fit_readout(*one, penalty, tolerance=1e-6) for one in zip(rows, labels, strict=True)]
        errors.append([chance_of_error(*_flat(reader, fit, start, drawn.X)) for fit in fits])
    return xarray.Dataset(along(("pair", "draw"), error=errors), sizes_of(pairs))


@partial(jax.jit, static_argnames=("draws",))
def _streams(
    key: Any, task: Any, start: Any, step_sizes: Any, frozen: Any, stops: Any, draws: int
) -> Any:
    """Average online errors [mode][stream][learner][stop], all modes on the same streams."""
    learn = partial(
        online.transfer, task=task, start=start, step_sizes=step_sizes, factor=1 / task.length,
        stops=stops, test_samples=1)

    def one(stream: Any, still: Any) -> Any:
        return jax.numpy.stack(
            [run.errors[0] for run in learn(stream, freeze_position_value=still)])

    keys = jax.random.split(key, draws)
    return jax.vmap(lambda still: jax.vmap(lambda stream: one(stream, still))(keys))(frozen)


@experiment("group-sparse.online-in-proportion")
def online_in_proportion(
    key: Any, *, pairs: tuple[Pair, ...] = ONLINE_PAIRS, per_dim: int = 30,
    samples: int | None = None, rates: tuple[float, float] = (1.5, 1.0),
    attention: float | None = 0.97, draws: int = 128,
) -> xarray.Dataset:
    """The average online error over n = `per_dim` d samples [or `samples`, whatever d] for W frozen
    at this `attention`, v2 frozen at zero or free, with steps of `rates`[0] / d; and for logistic
    regression, with steps of `rates`[1] / (d D)."""
    errors = []
    for number, (dim, groups) in enumerate(pairs):
        task, start = selecting((dim, groups), attention, 0.0)
        stops = plan_record(per_dim * dim if samples is None else samples).stops
        step_sizes = np.array([rates[0] / dim, rates[1] / (dim * groups)])
        errors.append(_streams(
            jax.random.fold_in(key, number), task, start, step_sizes,
            np.array(list(MODES.values())), stops, draws)[..., 0])
    return xarray.Dataset(
        along(("pair", "mode", "draw", "learner"), error=errors),
        {"mode": list(MODES), "learner": ["attention", "logistic"], **sizes_of(pairs)})


@experiment("group-sparse.second-sample")
def second_sample(
    key: Any, *, pairs: tuple[Pair, ...] = ((5, 9), (9, 4)), attention: float | None = 0.8,
    margin: float = 0.7, scale: float = 1.3, step_size: float = 0.2, draws: int = 20_000,
) -> xarray.Dataset:
    """Whether the layer errs on the second sample of a stream, having learned from the first;
    v2 frozen at zero or free."""
    wrong = []
    for number, pair in enumerate(pairs):
        task, start = selecting(pair, attention, margin)
        task = dataclasses.replace(task, scale=jax.numpy.asarray(scale))
        first, both = np.moveaxis(
            np.asarray(_streams(
                jax.random.fold_in(key, number), task, start, np.array([step_size] * 2),
                np.array(list(MODES.values())), plan_record(2, [1, 2]).stops, draws))[:, :, 0],
            -1, 0)
        wrong.append(2 * both - first)
    return xarray.Dataset(
        along(("pair", "mode", "draw"), wrong=wrong), {"mode": list(MODES), **sizes_of(pairs)})


def block_means(errors: np.ndarray, block: int = 4) -> np.ndarray:
    """Means over blocks of draws, so that an error of zero is rare: [pair][block]."""
    return errors.reshape(len(errors), -1, block).mean(axis=-1)


def error_exponents(run: Run, errors: np.ndarray) -> np.ndarray:
    """Exponents of d and D in errors [pair][draw], from means over blocks of draws: [block][2]."""
    return joint_exponents(block_means(errors), run).T
