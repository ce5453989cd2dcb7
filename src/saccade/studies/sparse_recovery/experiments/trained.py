"""Transformers trained from scratch on sparse recovery, tested on matrices no training step has
seen.

The replicates are test tasks: each trained model (a seed) and each classical method is run on the
same tasks, so differences are paired. Test prompts have twice as many rows as training prompts;
prefix n of a causal decoder is its answer to the first n rows.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.networks.training import Trained
from saccade.networks.transformer import Transformer, init_transformer
from saccade.studies.sparse_recovery.dynamics import Recipe, squared_errors, start_layers, train
from saccade.studies.sparse_recovery.dynamics.decoders import (
    DecoderRecipe,
    decoder_config,
    estimates,
    layer_estimates,
    predicted_labels,
    train_decoder,
    with_repeated_last_layer,
)
from saccade.studies.sparse_recovery.experiments.classical import (
    METHODS,
    best_penalty,
    classical_errors,
    iterates,
)
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

RECORDS = 10
EXTRA_LAYERS = 4
REFERENCES = ("ISTA", "FISTA", "LISTA-VM")
TRAINED_ON = ("structured", "free")


def smooth(losses: np.ndarray, points: int = 100) -> np.ndarray:
    """The loss curve as the means of at most `points` stretches."""
    return np.array(
        [stretch.mean() for stretch in np.array_split(losses, min(points, len(losses)))])


def errors_of(model: Transformer, sample: RecoverySample, y=None) -> np.ndarray:
    """|beta_n - beta|^2, (prefix, task); `y` replaces the values the model is shown."""
    found = estimates(model, sample.X, sample.y if y is None else y)
    return squared_errors(np.moveaxis(found, 1, 0), np.asarray(sample.beta))


def unrolled_answers(
    task: SparseRecovery, depth: int, steps: int, key: jax.Array, short: RecoverySample
) -> dict:
    """Iterates of LISTA-VM, and of its variant whose step knows the norm of the matrix, trained on
    varying matrices."""
    recipe = Recipe(steps, 512, 1e-2, clip=np.inf)
    found = {}
    for shown, name in (("LISTA-VM", "lista-vm"), ("LISTA-VM, step by norm", "lista-adaptive")):
        scalars = train(name, task, key[None], start_layers(name, depth), recipe).at()
        found[shown] = unroll(name, scalars, short.X, short.y, count=short.count)
    return found


@experiment(
    "sparse-recovery.trained",
    scales={"standard": {
        "dim": 8, "measurements": 4, "layers": 4, "steps": 5000, "seeds": 3, "test_tasks": 8000,
        "scalar_steps": 1500}})
def trained(
    key: jax.Array, *, dim: int = 4, measurements: int = 2, sparsity: int = 1,
    architecture: str = "softmax", layers: int = 2, steps: int = 800, batch: int = 64,
    learning_rate: float = 3e-3, seeds: int = 1, test_tasks: int = 4000, scalar_steps: int = 200,
) -> xarray.Dataset:
    """A decoder of pairs trained from random weights, beside classical and unrolled methods on the
    same unseen tasks."""
    task = SparseRecovery.create(dim, measurements, sparsity)
    longer = SparseRecovery.create(dim, 2 * measurements, sparsity)
    recipe = DecoderRecipe(architecture, layers, steps, batch, learning_rate=learning_rate)
    test_key, scalar_key, *keys = jax.random.split(key, seeds + 2)
    sample = longer.sample(test_key, test_tasks)
    short = shortened(sample, measurements)

    def mean_error(model: Transformer) -> float:
        return errors_of(model, short)[-1].mean()

    made = [
        train_decoder(task, recipe, one, f"{architecture}-seed-{number}", mean_error, RECORDS)
        for number, one in enumerate(keys)]
    models = [item.model for item in made]
    unrolled = unrolled_answers(task, layers, scalar_steps, scalar_key, short)
    values = _quality(models, keys, task, recipe, sample, measurements) | _curves(made)
    values |= _what_layers_compute(models, short, layers, unrolled["LISTA-VM"])
    classical = classical_errors(sample, 2 * measurements, layers).errors
    last = np.stack([squared_errors(b[-1], np.asarray(short.beta)) for b in unrolled.values()])
    values |= {
        "classical_error": (("solver", "prefix", "task"), classical),
        "unrolled_error": (("unrolled", "task"), last)}
    coordinates = {
        "solver": list(METHODS), "unrolled": list(unrolled),
        "prefix": np.arange(1, 2 * measurements + 1), "reference": list(REFERENCES),
        "extra": np.arange(EXTRA_LAYERS + 1), "record": made[0].measured_steps}
    return xarray.Dataset(values, coordinates)


def shortened(sample: RecoverySample, rows: int) -> RecoverySample:
    """The same tasks with only their first rows."""
    count = jnp.full(sample.X.shape[0], rows)
    return sample._replace(X=sample.X[:, :rows], y=sample.y[:, :rows], count=count)


def _quality(
    models, keys, task: SparseRecovery, recipe: DecoderRecipe, sample: RecoverySample, rows: int
) -> dict:
    """Errors of the trained models; of the same ones before training and shown the values of
    another task, which must fail."""
    short = shortened(sample, rows)
    config = decoder_config(task, recipe)
    untrained = [init_transformer(jax.random.split(key)[0], config) for key in keys]
    repeated = [
        [
            errors_of(with_repeated_last_layer(model, more), short)[-1]
            for more in range(EXTRA_LAYERS + 1)]
        for model in models]
    return {
        "error": (
            ("seed", "prefix", "task"), np.stack([errors_of(model, sample) for model in models])),
        "untrained_error": (
            ("seed", "task"), np.stack([errors_of(model, short)[-1] for model in untrained])),
        "misled_error": (
            ("seed", "task"),
            np.stack(
                [errors_of(model, short, jnp.roll(short.y, 1, axis=0))[-1] for model in models])),
        "repeated_error": (("seed", "extra", "task"), np.array(repeated))}


def _curves(made: list[Trained]) -> dict:
    return {
        "loss": (("seed", "stretch"), np.stack([smooth(item.losses) for item in made])),
        "curve": (("seed", "record"), np.stack([item.measured for item in made]))}


def _what_layers_compute(models, short: RecoverySample, depth: int, vm: np.ndarray) -> dict:
    """How far the read-out after each layer is from the truth, and from each iterate of the
    algorithms (0: the start at zero)."""
    X, y, beta = (np.asarray(part, float) for part in (short.X, short.y, short.beta))
    found = {
        name: iterates(name.lower(), X, y, depth, best_penalty(name.lower(), short, depth))
        for name in REFERENCES[:2]}
    found["LISTA-VM"] = vm
    start = np.zeros((1, *beta.shape))
    algorithms = np.stack([np.concatenate([start, found[name]]) for name in REFERENCES])
    read = np.stack([layer_estimates(model, X, y) for model in models])
    distance = [[((algorithms - b) ** 2).sum(-1).mean(-1) for b in one] for one in read]
    return {
        "layer_error": (("seed", "depth"), squared_errors(read, beta).mean(-1)),
        "distance": (("seed", "depth", "reference", "iterate"), np.array(distance)),
        "final_distance": (
            ("seed", "reference", "task"),
            squared_errors(algorithms[None, :, -1], read[:, None, -1]))}


@experiment(
    "sparse-recovery.trained-structure",
    scales={"standard": {
        "dim": 8, "measurements": 4, "layers": 4, "steps": 5000, "seeds": 3, "test_tasks": 8000}})
def trained_structure(
    key: jax.Array, *, dim: int = 4, measurements: int = 2, sparsity: int = 2, block_size: int = 2,
    pool: int = 0, layers: int = 2, steps: int = 800, batch: int = 64, learning_rate: float = 3e-3,
    seeds: int = 1, test_tasks: int = 4000,
) -> xarray.Dataset:
    """Decoders trained on supports with structure (aligned blocks, or the first `pool` coordinates)
    and on free ones, compared.

    `error` is on structured tasks, (training, seed, prefix, task); `free_error` on free ones with
    all rows. `told_error` are the classical methods when they are told the pool (not run for
    blocks).
    """
    places = range(pool) if pool else None
    structured = SparseRecovery.create(dim, measurements, sparsity, block=block_size, pool=places)
    free = SparseRecovery.create(dim, measurements, sparsity)
    recipe = DecoderRecipe("softmax", layers, steps, batch, learning_rate=learning_rate)
    test_key, free_key, *keys = jax.random.split(key, seeds + 2)
    sample, other = structured.sample(test_key, test_tasks), free.sample(free_key, test_tasks)

    def mean_error(model: Transformer) -> float:
        return errors_of(model, sample)[-1].mean()

    made = [
        [
            train_decoder(task, recipe, one, f"{name}-seed-{n}", mean_error, RECORDS)
            for n, one in enumerate(keys)]
        for name, task in zip(TRAINED_ON, (structured, free), strict=True)]
    mask = np.isin(np.arange(dim), structured.pool).astype(float) if pool else None
    values = _structure_quality(made, sample, other) | {
        "classical_error": (
            ("solver", "prefix", "task"), classical_errors(sample, measurements, layers).errors),
        "told_error": (
            ("solver", "prefix", "task"),
            classical_errors(sample, measurements, layers, mask).errors)}
    coordinates = {
        "training": list(TRAINED_ON), "solver": list(METHODS),
        "prefix": np.arange(1, measurements + 1), "record": made[0][0].measured_steps}
    return xarray.Dataset(values, coordinates)


def _structure_quality(
    made: list[list[Trained]], sample: RecoverySample, other: RecoverySample
) -> dict:
    """Errors of all decoders on structured tasks by prefix, on free ones with all rows, and their
    curves."""
    errors = np.array([[errors_of(item.model, sample) for item in row] for row in made])
    elsewhere = np.array([[errors_of(item.model, other)[-1] for item in row] for row in made])
    curves = np.array([[item.measured for item in row] for row in made])
    return {
        "error": (("training", "seed", "prefix", "task"), errors),
        "free_error": (("training", "seed", "task"), elsewhere),
        "curve": (("training", "seed", "record"), curves),
        "free_zero_error": (("task",), (np.asarray(other.beta) ** 2).sum(-1))}


@experiment(
    "sparse-recovery.trained-labels",
    scales={"paper": {
        "dim": 20, "measurements": 10, "sparsity": 3, "layers": 12, "steps": 1_000_000,
        "batch": 500, "vectors": 500, "accumulate": 100, "learning_rate": 1e-4,
        "test_tasks": 4000}})
def trained_labels(
    key: jax.Array, *, dim: int = 4, measurements: int = 3, sparsity: int = 1,
    architecture: str = "small", layers: int = 2, steps: int = 400, batch: int = 64,
    vectors: int = 1, accumulate: int = 1, learning_rate: float = 3e-3, seeds: int = 1,
    test_tasks: int = 4000,
) -> xarray.Dataset:
    """The paper's decoders (`small`, `gpt2`) on x- and y-tokens in turn, trained on labels alone;
    errors of the query's label.

    The paper scale is 10^6 passes over 100 matrices with 500 vectors each.
    """
    task = SparseRecovery.create(dim, measurements, sparsity)
    recipe = DecoderRecipe(architecture, layers, steps, batch, vectors, accumulate, learning_rate)
    test_key, *keys = jax.random.split(key, seeds + 1)
    sample = task.sample(test_key, test_tasks)
    made = [
        train_decoder(task, recipe, one, f"{architecture}-seed-{n}") for n, one in enumerate(keys)]
    small = jax.tree.map(
        lambda part: part.astype(jnp.float32) if part.dtype == float else part, sample)
    errors = [
        (np.asarray(predicted_labels(m.model, small))[:, -1] - np.asarray(sample.query_y)) ** 2
        for m in made]
    values = {
        "label_error": (("seed", "task"), np.array(errors, float)),
        "zero_error": (("task",), np.asarray(sample.query_y) ** 2),
        "loss": (("seed", "stretch"), np.stack([smooth(item.losses) for item in made]))}
    return xarray.Dataset(values)
