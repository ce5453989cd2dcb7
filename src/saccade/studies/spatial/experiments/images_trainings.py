"""The trainings on images by name, and what each costs on this machine, from a few timed steps."""

import time
from typing import Any

import jax
import jax.numpy as jnp

from saccade.datasets.images import load_images
from saccade.lab.training import Training
from saccade.networks.training import Problem, train
from saccade.studies.spatial.dynamics.images import Recipe, optimiser, smoothed_loss
from saccade.studies.spatial.experiments.images import convolution, new_network, vision

TIMED_STEPS = 8
TIMED_BATCH = 16  # larger batches are timed at this size: the cost is proportional to the images
COMPILING = 20.0  # seconds, about, for the programs of one kind of network


def _constant(key: Any, step: Any, data: Any) -> Any:
    return data


def _seconds_per_image(parameters: Any, kind: str, shape: tuple[int, ...]) -> float:
    """One training step of the same network, on noise, over its number of images."""
    patch = getattr(parameters, "patch", None)
    tokens = ((shape[1] // patch) ** 2, patch * patch * shape[3]) if patch else shape[1:]
    batch = min(parameters.batch, TIMED_BATCH)
    noise = jax.random.normal(jax.random.key(2), (batch, *tokens), jnp.float32)
    data = noise, jnp.arange(batch, dtype=jnp.int32) % 10
    model = new_network(parameters.model_dump(), kind, jax.random.key(0), shape, outputs=10)
    problem = Problem(smoothed_loss(0.1), _constant, optimiser(Recipe(), TIMED_STEPS), data)
    moments: list[float] = []
    chunk = TIMED_STEPS // 2
    train(
        problem, model, jax.random.key(1), TIMED_STEPS, chunk=chunk,
        progress=lambda *_: moments.append(time.perf_counter()))
    return (moments[1] - moments[0]) / (chunk * batch)


def seconds_of(parameters: Any) -> float:
    """Seconds for all networks: steps of each kind, timed after compiling, times the images."""
    shape = load_images(parameters.data, "test", parameters.folder).pixels.shape
    images = steps_of(parameters) * parameters.batch / len(parameters.kinds)
    return sum(
        COMPILING + images * _seconds_per_image(parameters, kind, shape)
        for kind in parameters.kinds)


def steps_of(parameters: Any) -> int:
    """Optimiser steps over all networks, cells and seeds."""
    images = parameters.images or len(load_images(parameters.data, "train", parameters.folder))
    one = Recipe(epochs=parameters.epochs, batch=parameters.batch).steps(images)
    return one * len(parameters.kinds) * len(parameters.cells) * parameters.seeds


SCALES: dict[str, dict[str, Any]] = {"quick": {}, "standard": {}, "paper": {}}
TRAININGS = (
    Training(
        "vision", "vision transformers, vanilla and positional, on whole and shuffled images",
        vision, SCALES, seconds_of, steps_of),
    Training(
        "convolution", "convolutional networks on whole and shuffled images", convolution, SCALES,
        seconds_of, steps_of))
