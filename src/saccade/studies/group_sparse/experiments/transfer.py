"""Transfer to a new direction: online learners on the same stream, batch fits beside them."""

from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.convex import fit_readout
from saccade.lab.experiment import Run, experiment
from saccade.studies.group_sparse.dynamics import plan_record, position_map
from saccade.studies.group_sparse.dynamics import transfer as online
from saccade.studies.group_sparse.dynamics.reduced_gradient import selector
from saccade.studies.group_sparse.experiments.common import along, spaced
from saccade.studies.group_sparse.models import encoding, tokens
from saccade.studies.group_sparse.task import group_sparse_task

Pair = tuple[int, int]
FEW_PAIRS: tuple[Pair, ...] = ((8, 8), (4, 16))
PAIRS: tuple[Pair, ...] = ((4, 4), (16, 4), (4, 16), (12, 12))
MORE_PAIRS: tuple[Pair, ...] = (
    (4, 4), (8, 4), (16, 4), (4, 8), (8, 8), (16, 8), (4, 16), (8, 16), (16, 16))
SPREAD_PAIRS: tuple[Pair, ...] = (
    (4, 4), (8, 8), (16, 16), (4, 16), (16, 4), (2, 32), (32, 2), (8, 24), (24, 8))
"""Chosen so that d + D and d D tell apart: five pairs with d D = 64 have d + D from 16 to 34."""
STEP_SIZES = {"attention": (0.03, 0.1, 0.3, 1.0), "logistic": (0.003, 0.01, 0.03, 0.1)}
"""Four candidates each; the features of the layer have about D times less energy than the flattened
input."""


PRETRAINING_STEP = 0.1


def selecting(
    pair: Pair, attention: float | None, margin: float, pretraining: int = 0
) -> tuple[Any, Any]:
    """The task, and a layer with this `attention` on the relevant group [None: uniform, W = 0], or
    with W after `pretraining` population steps of the position-only layer, if that is not 0."""
    group_dim, groups = pair
    task = group_sparse_task(groups, group_dim, margin=margin)
    share = 1 / groups if attention is None else attention
    if pretraining:
        run = position_map.position_trajectory(groups, PRETRAINING_STEP, pretraining)
        share = float(run.attention[-1])
    return task, selector(share, task, encoding("sine", groups))


@partial(jax.jit, static_argnames=("freeze",))
def _online(
    keys: Any, etas: Any, task: Any, start: Any, stops: Any, freeze: bool,
    freeze_position_value: Any,
) -> Any:
    """Both learners, one stream a key, step sizes [learner][lane]:
    [learner][lane][measure][count]."""
    learn = partial(
        online.transfer, task=task, start=start, factor=1 / task.length, stops=stops,
        freeze_attention=freeze, freeze_position_value=freeze_position_value, test_samples=500)
    runs = jax.vmap(lambda key, *pair: learn(key, step_sizes=pair))(keys, *etas)
    return jnp.stack([run.errors for run in runs])


@partial(jax.jit, static_argnames=("tuning", "copies", "draws"))
def _stream_keys(key: Any, tuning: int, copies: int, draws: int) -> Any:
    """Keys of the streams that choose the step, each `copies` times, and of `draws` others."""
    tuning_key, run_key = jax.random.split(key)
    return jnp.repeat(jax.random.split(tuning_key, tuning), copies), jax.random.split(
        run_key, draws)


def tuned(learn: Any, key: Any, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose each learner's step on `draws` / 4 streams, all steps on each; then run `draws`
    others: [learner][draw][measure][count], and the steps."""
    step_sizes = np.array(list(STEP_SIZES.values()))
    tuning = max(1, draws // step_sizes.shape[1])
    keys, others = _stream_keys(key, tuning, step_sizes.shape[1], draws)
    tried = np.asarray(learn(keys, np.tile(step_sizes, tuning)))
    mistakes = tried[:, :, 0, -1].reshape(len(step_sizes), tuning, -1).mean(axis=1)
    places = np.argmin(np.where(np.isfinite(mistakes), mistakes, np.inf), axis=1)
    best = np.take_along_axis(step_sizes, places[:, None], axis=1)
    return np.asarray(learn(others, np.repeat(best, draws, axis=1))), best[:, 0]


@experiment(
    "group-sparse.transfer",
    scales={
        "standard": {"pairs": PAIRS, "samples": 400},
        "paper": {"pairs": MORE_PAIRS, "samples": 4000}})
def transfer(
    key: Any, *, pairs: tuple[Pair, ...] = FEW_PAIRS, samples: int = 300, points: int = 18,
    draws: int = 32, attention: float | None = 0.97, margin: float = 0.0, freeze: bool = True,
    freeze_position_value: bool = False, pretraining: int = 0,
) -> xarray.Dataset:
    """Online and test error against the number of samples for fine-tuned attention and for logistic
    regression on the flattened input, on the same streams; every learner's step size is the best of
    four on other streams. `pretraining` steps of descent on another direction make W, in the place
    of a selector with this `attention`."""
    counts = spaced(4, samples, points)
    stops = plan_record(samples, counts).stops
    errors, chosen = [], []
    for number, pair in enumerate(pairs):
        task, start = selecting(pair, attention, margin, pretraining)
        learn = partial(
            _online, task=task, start=start, stops=stops, freeze=freeze,
            freeze_position_value=freeze_position_value)
        rows, best = tuned(learn, jax.random.fold_in(key, number), draws)
        errors.append(rows)
        chosen.append(best)
    return xarray.Dataset(
        along(("pair", "learner", "draw", "measure", "samples"), error=errors)
        | along(("pair", "learner"), step_size=chosen),
        {
            "learner": list(STEP_SIZES), "measure": ["online", "test"], "samples": counts,
            **sizes_of(pairs)})


def sizes_of(pairs: tuple[Pair, ...]) -> dict[str, Any]:
    dims, sizes = zip(*pairs, strict=True)
    return along("pair", group_dim=dims, groups=sizes)


Reader = Literal["features", "flattened", "oracle"]
READERS: tuple[Reader, ...] = ("features", "flattened", "oracle")


@jax.jit
def _pooled_tokens(start: Any, X: Any) -> Any:
    return jnp.einsum("ni,nim->nm", start.attention(X), tokens(X, start.matrix))


def features(reader: Reader, X: Any, start: Any) -> np.ndarray:
    """What a batch fit reads: pooled tokens, the flattened input, or the relevant group."""
    if reader == "oracle":
        return np.asarray(X)[:, 0]
    if reader == "flattened":
        return np.asarray(X).reshape(len(X), -1)
    return np.asarray(_pooled_tokens(start, X))


def _learning_curve(
    rows: np.ndarray, labels: np.ndarray, samples: int, counts: list[int], ridge: float,
    enough: float,
) -> list[float]:
    """Error on the rows beyond `samples` of fits on the first n rows, for n in `counts`."""
    errors: list[float] = []
    for count in counts:
        if errors and errors[-1] <= enough:
            errors.append(errors[-1])
        elif np.all(labels[:count] == labels[0]):  # nothing to fit, so guess
            errors.append(0.5)
        else:
            fit = fit_readout(rows[:count], labels[:count], ridge / count, tolerance=1e-6)
            errors.append(float(np.mean(labels[samples:] * (rows[samples:] @ fit.w + fit.b) <= 0)))
    return errors


@experiment(
    "group-sparse.batch-transfer",
    scales={"standard": {"pairs": MORE_PAIRS, "draws": 32, "samples": 1500, "points": 14}})
def batch_transfer(
    key: Any, *, pairs: tuple[Pair, ...] = PAIRS, samples: int = 900, points: int = 8,
    draws: int = 20, attention: float | None = 0.97, ridge: float = 1.0, margin: float = 0.0,
    readers: tuple[Reader, ...] = READERS, enough: float = 0.0,
) -> xarray.Dataset:
    """Test error against n of logistic fits (penalty `ridge` over n, that is C = 1/ridge, no
    tuning) on the frozen layer's features, on the flattened input, and on the relevant group alone.
    Once a draw's error is at most `enough`, larger n keep it unfitted.
    """
    counts = spaced(12, samples, points)
    errors = np.full((len(pairs), len(readers), draws, len(counts)), np.nan)
    for number, pair in enumerate(pairs):
        task, start = selecting(pair, attention, margin)
        for draw in range(draws):
            one = jax.random.fold_in(jax.random.fold_in(key, number), draw)
            drawn = task.sample(one, samples + 1000)
            for place, reader in enumerate(readers):
                rows = features(reader, drawn.X, start)
                errors[number, place, draw] = _learning_curve(
                    rows, np.asarray(drawn.y), samples, counts, ridge, enough)
    return xarray.Dataset(
        along(("pair", "reader", "draw", "samples"), error=errors),
        {"reader": list(readers), "samples": counts, **sizes_of(pairs)})


# Reading learning curves: samples needed, power laws in the sizes, what they explain.

LEVEL = 0.1
"""The test error that counts as learned."""


def samples_needed(errors: np.ndarray, counts: np.ndarray, level: float = LEVEL) -> np.ndarray:
    """First n (last axis) with an error of at most `level`, interpolated in log n; else NaN."""
    below = errors <= level
    first = below.argmax(axis=-1)
    before = np.maximum(first - 1, 0)
    high, low = (
        np.take_along_axis(errors, place[..., None], -1)[..., 0] for place in (before, first))
    share = np.where(high > low, (high - level) / np.where(high > low, high - low, 1.0), 1.0)
    logs = np.log(counts)
    crossing = np.exp(logs[before] + np.clip(share, 0, 1) * (logs[first] - logs[before]))
    return np.where(below.any(-1), crossing, np.nan)


def exponents(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Slope of log value against log size for each draw; `values` is [pair][draw]."""
    x = np.log(sizes.astype(float))
    x = x - x.mean()
    return (x[:, None] * np.log(values)).sum(0) / (x**2).sum()


def shares_explained(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """R^2 of a power law in `sizes`, for each draw; `values` is [pair][draw]."""
    x, y = np.log(sizes.astype(float)), np.log(values)
    centred = y - y.mean(axis=0)
    left = centred - np.outer(x - x.mean(), exponents(values, sizes))
    return 1 - (left**2).sum(axis=0) / (centred**2).sum(axis=0)


def last_errors(run: Run, learner: str) -> np.ndarray:
    """The average online error over the whole stream, what Theorem 4.2 bounds; [pair][draw]."""
    return run.data.error.sel(learner=learner, measure="online").isel(samples=-1).values


def online_errors(run: Run, learner: str) -> np.ndarray:
    """The same, of at least one mistake, so that it has a logarithm."""
    return np.maximum(last_errors(run, learner), 1 / run.parameters.samples)


def needed(run: Run, name: str) -> np.ndarray:
    """Samples for 10 % test error by an online learner, or by batch fits of what a reader gives;
    [pair][draw]."""
    error = run.data.error
    online = "learner" in error.dims
    errors = error.sel(learner=name, measure="test") if online else error.sel(reader=name)
    return samples_needed(errors.values, run.data.samples.values)


def sizes(run: Run) -> dict[str, np.ndarray]:
    """d + D and d D of every pair."""
    d, D = run.data.group_dim.values, run.data.groups.values
    return {"d+D": d + D, "dD": d * D}


def joint_exponents(values: np.ndarray, run: Run) -> np.ndarray:
    """Exponents of d and of D in a joint fit, for each draw: [2][draw]."""
    d, D = run.data.group_dim.values, run.data.groups.values
    design = np.stack([np.ones(len(d)), np.log(d), np.log(D)], 1)
    return (np.linalg.pinv(design) @ np.log(values))[1:]
