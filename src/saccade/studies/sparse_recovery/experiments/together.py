"""Decoders trained side by side, from weights and on batches of their own, each on test tasks of
its own: so that each is a replicate."""

from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, Int

from saccade.networks.training import train
from saccade.networks.transformer import Transformer
from saccade.studies.sparse_recovery.dynamics import decoders
from saccade.studies.sparse_recovery.dynamics.decoders import DecoderRecipe
from saccade.studies.sparse_recovery.dynamics.solvers import squared_errors
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

SHORTEST_CHUNK = 10


class Together(NamedTuple):
    """Networks before and after training, and the curves of their training."""

    before: list[Transformer]
    models: list[Transformer]
    curve: Float[np.ndarray, "network record"]
    steps: Int[np.ndarray, " record"]
    losses: Float[np.ndarray, " step"]
    """Their mean at every step."""


def errors_of(model: Transformer, sample: RecoverySample, y=None) -> np.ndarray:
    """|beta_n - beta|^2, (prefix, task); `y` replaces the values the model is shown."""
    estimates = decoders.estimates(model, sample.X, sample.y if y is None else y)
    return squared_errors(np.moveaxis(estimates, 1, 0), sample.beta)


def train_together(
    task: SparseRecovery, recipe: DecoderRecipe, key: Array, tests: list[RecoverySample], name: str
) -> Together:
    """As many decoders as there are `tests`; on the way each one's mean error on its own test, from
    as many rows as it is trained with, is recorded."""
    networks, last = len(tests), task.measurements - 1
    start_key, train_key = jax.random.split(key)
    start = decoders.first_decoders(decoders.decoder_config(task, recipe), start_key, networks)

    def mean_errors(stacked: Transformer) -> list[float]:
        pairs = zip(one_by_one(stacked, networks), tests, strict=True)
        return [errors_of(model, test)[last].mean() for model, test in pairs]

    problem = decoders.side_by_side(decoders.decoder_problem(task, recipe), networks)
    sizes = {
        size: getattr(task, size) for size in ("dim", "measurements", "sparsity", "pool", "block")}
    chunk = decoders.INSTANCES_A_CHUNK // (recipe.batch * recipe.accumulate * networks)
    ended = train(
        problem, start, train_key, recipe.steps, chunk=max(SHORTEST_CHUNK, chunk),
        measure=mean_errors, measure_every=-(-recipe.steps // decoders.RECORDS), name=name,
        about={**recipe._asdict(), **sizes, "pool": list(task.pool), "networks": networks})
    return Together(
        one_by_one(start, networks), one_by_one(ended.model, networks), ended.measured.T,
        ended.measured_steps, ended.losses / networks)


def one_by_one(stacked: Transformer, networks: int) -> list[Transformer]:
    """The models that are stacked along a leading axis."""
    arrays, rest = eqx.partition(stacked, eqx.is_array)
    arrays = jax.tree.map(np.asarray, arrays)
    return [
        eqx.combine(jax.tree.map(lambda leaf, place=place: leaf[place], arrays), rest)
        for place in range(networks)]
