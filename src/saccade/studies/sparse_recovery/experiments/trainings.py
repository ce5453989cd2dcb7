"""The trainings of sparse recovery by name, and what each costs here, from a few timed steps."""

import time
from functools import partial
from typing import Any

import jax

from saccade.lab.training import Training
from saccade.networks.training import train
from saccade.networks.transformer import init_transformer
from saccade.studies.sparse_recovery.dynamics import decoders
from saccade.studies.sparse_recovery.experiments import paper_size, trained
from saccade.studies.sparse_recovery.task import SparseRecovery

TIMED_STEPS = 16
TIMED_BATCH = 64  # larger batches are timed at this size: the cost is proportional to the instances
COMPILING = 15.0  # seconds, about, for all programs of a training
BLOCKS = {"dim": 6, "measurements": 4, "layers": 3, "steps": 2500}
RELU = {**trained.RELU, "steps": 7000, "networks": 3, "test_tasks": 8000}  # of 21 one diverges
POOL = {**trained.POOL, "steps": 2000}
GPT2_LIKE = {"decoder": "gpt2-like", "steps": 400, "learning_rate": 1e-3}
GROWN = {"first_dim": 5, "grown": 0.4, "test_tasks": 8000}
GPT2_GROWN = {
    **GPT2_LIKE, **GROWN, "repeat_x": True, "steps": 8000, "learning_rate": 2e-3, "seeds": 3}
SMALL_GROWN = {**GROWN, "norm": True, "steps": 2000, "learning_rate": 1e-3}


def seconds_of(parameters: Any) -> float:
    """CPU seconds of a training, from timed steps of its network, by the number of instances."""
    values = parameters.model_dump()
    # So small a rate that nothing moves: only the time is wanted, hasty steps could diverge.
    recipe = decoders.DecoderRecipe(
        values.get("architecture", "softmax"), parameters.layers, TIMED_STEPS,
        min(parameters.batch, TIMED_BATCH), learning_rate=1e-9)
    task = SparseRecovery.create(parameters.dim, parameters.measurements, parameters.sparsity)
    instances = steps_of(parameters) * parameters.batch * values.get("accumulate", 1)
    instances *= values.get("networks", 1)
    config = decoders.decoder_config(task, recipe)
    return COMPILING + instances * _seconds_an_instance(task, recipe, config)


def _seconds_an_instance(
    task: SparseRecovery, recipe: decoders.DecoderRecipe, config: Any
) -> float:
    """CPU seconds of one instance of one step, from the second half of a few timed steps."""
    model = init_transformer(jax.random.key(0), config)
    moments: list[float] = []
    chunk = TIMED_STEPS // 2
    train(
        decoders.decoder_problem(task, recipe), model, jax.random.key(1), TIMED_STEPS, chunk=chunk,
        progress=lambda *said: moments.append(time.process_time()))
    return (moments[1] - moments[0]) / (chunk * recipe.batch)


def seconds_at_paper_size(parameters: Any) -> float:
    """The same for the decoders of `paper_size`."""
    task = SparseRecovery.create(parameters.dim, parameters.measurements, parameters.sparsity)
    recipe = decoders.DecoderRecipe(
        parameters.decoder, parameters.layers, TIMED_STEPS, parameters.batch, learning_rate=1e-9)
    config = paper_size.config_of(
        task, parameters.decoder, parameters.layers, parameters.norm, parameters.repeat_x)
    instances = parameters.steps * parameters.seeds * parameters.batch
    return COMPILING + instances * _seconds_an_instance(task, recipe, config)


def steps_of(parameters: Any) -> int:
    """Optimiser steps over all trainings: networks are trained side by side or one a seed; with
    structure there are two trainings."""
    values = parameters.model_dump()
    return parameters.steps * values.get("seeds", 1) * (1 + ("pool" in values))


_training = partial(Training, cost=seconds_of, steps_of=steps_of)
TRAININGS = (
    _training(
        "softmax", "decoders of pairs with softmax attention", trained.trained,
        {"quick": {}, "standard": {}}),
    _training(
        "relu", "decoders of pairs with the paper's ReLU attention", trained.trained,
        {"standard": RELU}),
    _training(
        "blocks", "decoders on block-sparse and on free supports", trained.trained_structure,
        {"standard": BLOCKS}),
    _training(
        "pool", "decoders on supports inside a pool and on free ones", trained.trained_structure,
        {"standard": POOL}),
    _training(
        "small",
        "the paper's small decoder from labels alone (at the paper scale 10^6 passes over 50,000"
        " instances)", trained.trained_labels, {"quick": {"test_tasks": 32000}, "paper": {}}),
    _training(
        "paper-size", "the paper's small decoder at the paper's size, as far as minutes reach",
        paper_size.paper_size, {"standard": {}}, cost=seconds_at_paper_size),
    _training(
        "gpt2-like", "a reduced GPT-2-like decoder at the paper's size", paper_size.paper_size,
        {"standard": GPT2_LIKE}, cost=seconds_at_paper_size),
    _training(
        "small-grown", "the paper's small decoder with LayerNorms and a curriculum",
        paper_size.paper_size, {"standard": SMALL_GROWN}, cost=seconds_at_paper_size),
    _training(
        "gpt2-grown", "the reduced GPT-2-like decoder on the paper's prompts, with a curriculum",
        paper_size.paper_size, {"standard": GPT2_GROWN}, cost=seconds_at_paper_size),
    _training(
        "gpt2", "the GPT-2-like decoder of 9.5 million parameters, without a curriculum",
        trained.trained_labels, {"paper": trained.GPT2}))
