"""Transformers trained from scratch on sparse recovery, tested on matrices never seen.

The replicates are test tasks: each trained model (a seed) and each classical method is run on the
same tasks, so differences are paired. Test prompts have twice as many rows as training prompts;
prefix n of a causal decoder is its answer to the first n rows.
"""

from collections.abc import Callable

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.networks import transformer
from saccade.networks.training import Trained
from saccade.networks.transformer import Transformer
from saccade.studies.sparse_recovery.dynamics import decoders, learning
from saccade.studies.sparse_recovery.dynamics.decoders import DecoderRecipe
from saccade.studies.sparse_recovery.dynamics.solvers import squared_errors
from saccade.studies.sparse_recovery.experiments import common
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

EXTRA_LAYERS = 4
REFERENCES = ("ISTA", "FISTA", "LISTA-VM")
TRAINED_ON = ("structured", "free")
RELU = {"architecture": "relu", "steps": 7000}
POOL = {"pool": 4, "block_size": 1, "sparsity": 1}
GPT2 = {"architecture": "gpt2", "steps": 500_000, "batch": 64, "vectors": 1, "accumulate": 1}
LARGER = {"dim": 8, "measurements": 4, "layers": 4, "steps": 5000, "seeds": 3, "test_tasks": 8000}


def errors_of(model: Transformer, sample: RecoverySample, y=None) -> np.ndarray:
    """|beta_n - beta|^2, (prefix, task); `y` replaces the values the model is shown."""
    estimates = decoders.estimates(model, sample.X, sample.y if y is None else y)
    return squared_errors(np.moveaxis(estimates, 1, 0), sample.beta)


def train_all(
    task: SparseRecovery, recipe: DecoderRecipe, keys: list[jax.Array], name: str, test=None
) -> list[Trained]:
    """A decoder from each key; its mean error on `test`, from as many rows as it is trained with,
    is recorded on the way."""
    rows = task.measurements
    mean_error = (lambda model: errors_of(model, test)[rows - 1].mean()) if test else None
    return [
        decoders.train_decoder(task, recipe, key, f"{name}-seed-{number}", mean_error)
        for number, key in enumerate(keys)]


def unrolled_answers(task, depth: int, steps: int, key: jax.Array, short: RecoverySample) -> dict:
    """Iterates of LISTA-VM trained on new matrices, also with a step that knows the norm."""
    recipe = learning.Recipe(steps, 512, 1e-2, clip=np.inf)
    answers = {}
    for label, name in (("LISTA-VM", "lista-vm"), ("LISTA-VM, step by norm", "lista-adaptive")):
        start = learning.start_layers(name, depth)
        scalars = learning.train(name, task, key[None], start, recipe).at()
        answers[label] = unroll(name, scalars, short.X, short.y, count=short.count)
    return answers


@experiment("sparse-recovery.trained", scales={"standard": {**LARGER, "scalar_steps": 1500}})
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
    trainings = train_all(task, recipe, keys, architecture, sample)
    models = [training.model for training in trainings]
    unrolled = unrolled_answers(task, layers, scalar_steps, scalar_key, short)
    errors = common.classical_errors(sample, 2 * measurements, layers)
    last = [squared_errors(b[-1], short.beta) for b in unrolled.values()]
    values = {
        "error": (("seed", "prefix", "task"), [errors_of(model, sample) for model in models]),
        "classical_error": (("solver", "prefix", "task"), errors),
        "unrolled_error": (("unrolled", "task"), last),
        "curve": (("seed", "record"), [training.measured for training in trainings]),
        "loss": _losses(trainings)}
    values |= _must_fail(models, keys, decoders.decoder_config(task, recipe), sample, measurements)
    values |= _what_layers_compute(models, sample, short, unrolled["LISTA-VM"])
    coordinates = {
        "solver": list(common.METHODS), "unrolled": list(unrolled),
        "prefix": np.arange(1, 2 * measurements + 1), "reference": list(REFERENCES),
        "answer": list(REFERENCES), "extra": np.arange(EXTRA_LAYERS + 1),
        "record": trainings[0].measured_steps}
    return xarray.Dataset(values, coordinates)


def shortened(sample: RecoverySample, rows: int) -> RecoverySample:
    """The same tasks with only their first rows."""
    X, y = np.asarray(sample.X)[:, :rows], np.asarray(sample.y)[:, :rows]
    return sample._replace(X=X, y=y, count=np.full(len(y), rows))


def _losses(trainings: list[Trained], points: int = 100) -> tuple:
    """The loss curves as the means of at most `points` stretches."""
    curves = [np.array_split(item.losses, min(points, len(item.losses))) for item in trainings]
    return ("seed", "stretch"), [[stretch.mean() for stretch in curve] for curve in curves]


def _must_fail(models, keys, config, sample: RecoverySample, rows: int) -> dict:
    """Errors from the first `rows` rows of what must fail: the models before training, and shown
    the values of another task."""
    untrained = [transformer.init_transformer(jax.random.split(key)[0], config) for key in keys]
    others = np.roll(sample.y, 1, axis=0)
    return {
        "untrained_error": (
            ("seed", "task"), [errors_of(model, sample)[rows - 1] for model in untrained]),
        "misled_error": (
            ("seed", "task"), [errors_of(model, sample, others)[rows - 1] for model in models])}


def _what_layers_compute(models, sample: RecoverySample, short: RecoverySample, vm) -> dict:
    """How far each layer's read-out is from the truth and from iterates (0: the start at zero), and
    errors with the last layer used again."""
    X, y, beta = (np.asarray(part, float) for part in (short.X, short.y, short.beta))
    depth = len(vm)
    ista, fista = (
        common.best_iterates(name, sample, y.shape[1], depth) for name in ("ista", "fista"))
    start = np.zeros((1, *beta.shape))
    algorithms = np.stack([np.concatenate([start, iterates]) for iterates in (ista, fista, vm)])
    longer = [decoders.with_repeated_last_layer(model, EXTRA_LAYERS) for model in models]
    repeated = np.stack([decoders.layer_estimates(model, X, y) for model in longer])
    read = repeated[:, : depth + 1]
    distance = [[((algorithms - b) ** 2).sum(-1).mean(-1) for b in one] for one in read]
    return {
        "repeated_error": (("seed", "extra", "task"), squared_errors(repeated[:, depth:], beta)),
        "layer_error": (("seed", "depth"), squared_errors(read, beta).mean(-1)),
        "distance": (("seed", "depth", "reference", "iterate"), distance),
        "final_distance": (
            ("seed", "reference", "task"),
            squared_errors(algorithms[None, :, -1], read[:, None, -1])),
        "reference_distance": (
            ("answer", "reference", "task"),
            squared_errors(algorithms[None, :, -1], algorithms[:, None, -1]))}


@experiment("sparse-recovery.trained-structure", scales={"standard": LARGER})
def trained_structure(
    key: jax.Array, *, dim: int = 4, measurements: int = 2, sparsity: int = 2, block_size: int = 2,
    pool: int = 0, layers: int = 2, steps: int = 800, batch: int = 64, learning_rate: float = 3e-3,
    seeds: int = 1, test_tasks: int = 4000,
) -> xarray.Dataset:
    """Decoders trained on supports with structure (aligned blocks, or the first `pool` coordinates)
    and on free ones, compared.

    `error` is on structured tasks, `free_error` on free ones with all rows; `told_error` is that of
    classical methods which are told the pool.
    """
    places = range(pool) if pool else None
    structured = SparseRecovery.create(dim, measurements, sparsity, block=block_size, pool=places)
    free = SparseRecovery.create(dim, measurements, sparsity)
    recipe = DecoderRecipe("softmax", layers, steps, batch, learning_rate=learning_rate)
    test_key, free_key, *keys = jax.random.split(key, seeds + 2)
    sample, other = structured.sample(test_key, test_tasks), free.sample(free_key, test_tasks)
    trainings = [
        train_all(task, recipe, keys, name, sample)
        for name, task in zip(TRAINED_ON, (structured, free), strict=True)]
    mask = np.isin(np.arange(dim), structured.pool).astype(float) if pool else None
    untold, told = (
        common.classical_errors(sample, measurements, layers, known) for known in (None, mask))

    def of_all(measure: Callable[[Trained], np.ndarray]) -> list[list[np.ndarray]]:
        return [[measure(training) for training in row] for row in trainings]

    values = {
        "error": (
            ("training", "seed", "prefix", "task"), of_all(lambda t: errors_of(t.model, sample))),
        "free_error": (
            ("training", "seed", "task"), of_all(lambda t: errors_of(t.model, other)[-1])),
        "curve": (("training", "seed", "record"), of_all(lambda t: t.measured)),
        "free_zero_error": (("task",), (np.asarray(other.beta) ** 2).sum(-1)),
        "classical_error": (("solver", "prefix", "task"), untold),
        "told_error": (("solver", "prefix", "task"), told)}
    coordinates = {
        "training": list(TRAINED_ON), "solver": list(common.METHODS),
        "prefix": np.arange(1, measurements + 1), "record": trainings[0][0].measured_steps}
    return xarray.Dataset(values, coordinates)


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
    trainings = train_all(task, recipe, keys, architecture)
    label = np.asarray(sample.query_y)
    errors = [
        (decoders.label_estimates(training.model, sample)[:, -1] - label) ** 2
        for training in trainings]
    return xarray.Dataset({
        "label_error": (("seed", "task"), np.array(errors, float)),
        "zero_error": (("task",), label**2), "loss": _losses(trainings)})
