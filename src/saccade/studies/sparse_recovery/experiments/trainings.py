"""The trainings of sparse recovery by name, and what each costs here, from a few timed steps."""

import time
from functools import partial
from typing import Any

import jax

from saccade.lab.training import Training
from saccade.networks.training import train
from saccade.networks.transformer import init_transformer
from saccade.studies.sparse_recovery.dynamics import decoders
from saccade.studies.sparse_recovery.experiments import trained
from saccade.studies.sparse_recovery.task import SparseRecovery

TIMED_STEPS = 16
TIMED_BATCH = 64  # larger batches are timed at this size: the cost is proportional to the instances
COMPILING = 15.0  # seconds, about, for all programs of a training


def seconds_of(parameters: Any) -> float:
    """CPU seconds of a training, from timed steps of its network, by the number of instances."""
    values = parameters.model_dump()
    architecture = values.get("architecture", "softmax")
    batch = min(parameters.batch, TIMED_BATCH)
    # So small a rate that nothing moves: only the time is wanted, hasty steps could diverge.
    recipe = decoders.DecoderRecipe(
        architecture, parameters.layers, TIMED_STEPS, batch, learning_rate=1e-9)
    task = SparseRecovery.create(parameters.dim, parameters.measurements, parameters.sparsity)
    model = init_transformer(jax.random.key(0), decoders.decoder_config(task, recipe))
    moments: list[float] = []
    chunk = TIMED_STEPS // 2
    train(
        decoders.decoder_problem(task, recipe), model, jax.random.key(1), TIMED_STEPS, chunk=chunk,
        progress=lambda *said: moments.append(time.process_time()))
    one_instance = (moments[1] - moments[0]) / (chunk * batch)
    instances = steps_of(parameters) * parameters.batch * values.get("accumulate", 1)
    return COMPILING + one_instance * instances


def steps_of(parameters: Any) -> int:
    """Optimiser steps over all networks; with structure there are two a seed."""
    return parameters.steps * parameters.seeds * (1 + ("pool" in type(parameters).model_fields))


_training = partial(Training, cost=seconds_of, steps_of=steps_of)
TRAININGS = (
    _training(
        "softmax", "decoders of pairs with softmax attention", trained.trained,
        {"quick": {}, "standard": {}}),
    _training(
        "relu", "decoders of pairs with the paper's ReLU attention", trained.trained,
        {"standard": trained.RELU}),
    _training(
        "blocks", "decoders on block-sparse and on free supports", trained.trained_structure,
        {"standard": {}}),
    _training(
        "pool", "decoders on supports inside a pool and on free ones", trained.trained_structure,
        {"standard": trained.POOL}),
    _training(
        "small",
        "the paper's small decoder from labels alone (at the paper scale 10^6 passes over 50,000"
        " instances)", trained.trained_labels, {"quick": {"test_tasks": 8000}, "paper": {}}),
    _training(
        "gpt2", "the GPT-2-like decoder of 9.5 million parameters, without a curriculum",
        trained.trained_labels, {"paper": trained.GPT2}))
