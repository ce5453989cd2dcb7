"""Transfer to a new direction: online SGD from learned attention, and logistic regression on the
same stream; batch fits beside them."""

from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.convex import fit_readout
from saccade.lab.experiment import experiment
from saccade.studies.group_sparse.dynamics import transfer as online
from saccade.studies.group_sparse.dynamics.recording import plan_record
from saccade.studies.group_sparse.dynamics.reduced_gradient import selecting_parameters
from saccade.studies.group_sparse.experiments.common import QUICKLY, along, spaced
from saccade.studies.group_sparse.models.encodings import encoding
from saccade.studies.group_sparse.models.explicit import evaluate
from saccade.studies.group_sparse.models.layer import tokens
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


def _selector(pair: Pair, attention: float | None, margin: float) -> tuple[Any, Any, Any]:
    """The task, the encodings, and W of a layer that puts `attention` on the relevant group [None:
    uniform, W = 0]."""
    group_dim, groups = pair
    task = group_sparse_task(groups, group_dim, margin=margin)
    matrix = encoding("sine", groups).matrix
    share = 1 / groups if attention is None else attention
    return task, matrix, selecting_parameters(share, task, matrix).attention[0]


@partial(jax.jit, static_argnames=("freeze", "freeze_position_value"), compiler_options=QUICKLY)
def _by_attention(
    keys: Any, etas: Any, task: Any, matrix: Any, weights: Any, stops: Any, freeze: bool,
    freeze_position_value: bool,
) -> Any:
    """Fine-tuned attention on the stream of each key with the step size of the same place:
    [lane][measure][count]."""

    def one(key: Any, eta: Any) -> Any:
        run = online.transfer_attention(
            key, task, matrix, weights, eta, 1 / task.length, stops, freeze_attention=freeze,
            freeze_position_value=freeze_position_value, test_samples=500)
        return jnp.stack([run.online_error, run.test_error])

    return jax.vmap(one)(keys, etas)


@partial(jax.jit, compiler_options=QUICKLY)
def _by_logistic(keys: Any, etas: Any, task: Any, stops: Any) -> Any:
    """Logistic regression on the same streams."""

    def one(key: Any, eta: Any) -> Any:
        run = online.transfer_logistic(key, task, eta, stops, test_samples=500)
        return jnp.stack([run.online_error, run.test_error])

    return jax.vmap(one)(keys, etas)


def _tuned(
    learn: Any, key: Any, step_sizes: tuple[float, ...], draws: int
) -> tuple[np.ndarray, float]:
    """Choose the step by mistakes on `draws` / 4 streams, all steps on each; then run `draws` other
    streams with it."""
    tuning = max(1, draws // len(step_sizes))
    tuning_key, run_key = jax.random.split(key)
    keys = jnp.repeat(jax.random.split(tuning_key, tuning), len(step_sizes))
    tried = np.asarray(learn(keys, jnp.tile(jnp.asarray(step_sizes), tuning)))
    mistakes = tried[:, 0, -1].reshape(tuning, -1).mean(axis=0)
    best = step_sizes[int(np.argmin(np.where(np.isfinite(mistakes), mistakes, np.inf)))]
    return np.asarray(learn(jax.random.split(run_key, draws), jnp.full(draws, best))), best


@experiment(
    "group-sparse.transfer",
    scales={
        "standard": {"pairs": PAIRS, "samples": 400},
        "paper": {"pairs": MORE_PAIRS, "samples": 4000}})
def transfer(
    key: Any, *, pairs: tuple[Pair, ...] = FEW_PAIRS, samples: int = 300, points: int = 18,
    draws: int = 32, attention: float | None = 0.97, margin: float = 0.0, freeze: bool = True,
    freeze_position_value: bool = False,
) -> xarray.Dataset:
    """Online and test error against the number of samples for fine-tuned attention and for logistic
    regression on the flattened input, on the same streams; every learner's step size is the best of
    four on other streams."""
    counts = spaced(4, samples, points)
    stops = plan_record(samples, counts).stops
    errors, chosen = [], []
    for number, pair in enumerate(pairs):
        task, matrix, weights = _selector(pair, attention, margin)
        learners = {
            "attention": partial(
                _by_attention, task=task, matrix=matrix, weights=weights, stops=stops,
                freeze=freeze, freeze_position_value=freeze_position_value),
            "logistic": partial(_by_logistic, task=task, stops=stops)}
        tuned = [
            _tuned(learn, jax.random.fold_in(key, number), STEP_SIZES[name], draws)
            for name, learn in learners.items()]
        errors.append([rows for rows, _ in tuned])
        chosen.append([best for _, best in tuned])
    return xarray.Dataset(
        along(("pair", "learner", "draw", "measure", "samples"), error=errors)
        | along(("pair", "learner"), step_size=chosen),
        {
            "learner": list(STEP_SIZES), "measure": ["online", "test"], "samples": counts,
            **_sizes_of(pairs)})


def _sizes_of(pairs: tuple[Pair, ...]) -> dict[str, Any]:
    dims, sizes = zip(*pairs, strict=True)
    return along("pair", group_dim=dims, groups=sizes)


Reader = Literal["features", "flattened", "oracle"]
READERS: tuple[Reader, ...] = ("features", "flattened", "oracle")


def _features(reader: Reader, X: Any, y: Any, matrix: Any, weights: Any) -> np.ndarray:
    """What a batch fit reads: the layer's pooled tokens, the flattened input, or the relevant group
    alone."""
    if reader == "oracle":
        return np.asarray(X[:, 0])
    if reader == "flattened":
        return np.asarray(X).reshape(len(X), -1)
    rows = tokens(X, matrix)
    at = evaluate(rows, y, weights, jnp.zeros(weights.shape[0]))
    return np.asarray(jnp.einsum("nij,nim->nm", at.attention, rows) / matrix.shape[1])


def _learning_curve(
    rows: np.ndarray, labels: np.ndarray, samples: int, counts: list[int], ridge: float,
    enough: float,
) -> list[float]:
    """Error on the rows beyond `samples` of fits on the first n rows, for n in `counts`."""
    errors: list[float] = []
    for count in counts:
        if errors and errors[-1] <= enough:
            errors.append(errors[-1])
            continue
        if np.all(labels[:count] == labels[0]):  # nothing to fit, so guess
            errors.append(0.5)
            continue
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
        task, matrix, weights = _selector(pair, attention, margin)
        for draw in range(draws):
            one = jax.random.fold_in(jax.random.fold_in(key, number), draw)
            drawn = task.sample(one, samples + 1000)
            for place, reader in enumerate(readers):
                rows = _features(reader, drawn.X, drawn.y, matrix, weights)
                errors[number, place, draw] = _learning_curve(
                    rows, np.asarray(drawn.y), samples, counts, ridge, enough)
    return xarray.Dataset(
        along(("pair", "reader", "draw", "samples"), error=errors),
        {"reader": list(readers), "samples": counts, **_sizes_of(pairs)})
