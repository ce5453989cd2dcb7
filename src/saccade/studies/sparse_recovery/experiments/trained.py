"""Transformers trained from scratch on sparse recovery, tested on matrices never seen.

The replicates are networks, trained side by side, each tested on tasks of its own; classical
methods, and an unrolled network trained beside each, are run on the same tasks, so differences are
paired. Test prompts have twice as many rows as training prompts; prefix n of a causal decoder is
its answer to the first n rows.
"""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.networks.training import Trained
from saccade.networks.transformer import Transformer
from saccade.studies.sparse_recovery.dynamics import decoders, learning
from saccade.studies.sparse_recovery.dynamics.decoders import DecoderRecipe
from saccade.studies.sparse_recovery.dynamics.solvers import squared_errors
from saccade.studies.sparse_recovery.experiments import common
from saccade.studies.sparse_recovery.experiments.together import Together, errors_of, train_together
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

EXTRA_LAYERS = 4
REFERENCES = ("ISTA", "FISTA", "LISTA-VM")
TRAINED_ON = ("structured", "free")
RELU = {"architecture": "relu", "steps": 6000}
POOL = {"pool": 4, "block_size": 1, "sparsity": 1}
GPT2 = {"architecture": "gpt2", "steps": 500_000, "batch": 64, "vectors": 1, "accumulate": 1}
NETWORKS = 21
"""At the standard scale: enough for the interval of a median, of up to ten parts."""
LARGER = {
    "dim": 8, "measurements": 4, "layers": 4, "steps": 4000, "networks": NETWORKS,
    "test_tasks": 2000}


def unrolled_answers(
    task: SparseRecovery, depth: int, steps: int, key: jax.Array, shorts: list[RecoverySample]
) -> list[dict[str, np.ndarray]]:
    """For each network the iterates of a LISTA-VM trained on new matrices, also with a step that
    knows the norm."""
    networks = len(shorts)
    recipe = learning.Recipe(steps, 128, 1e-2, clip=np.inf)
    answers: list[dict[str, np.ndarray]] = [{} for _ in shorts]
    for label, name in (("LISTA-VM", "lista-vm"), ("LISTA-VM, step by norm", "lista-adaptive")):
        start = learning.start_layers(name, depth, networks)
        made = learning.train(name, task, jax.random.split(key, networks), start, recipe)
        for place, short in enumerate(shorts):
            b = unroll(name, made.at(-1, place), short.X, short.y, count=short.count)
            answers[place][label] = np.asarray(b, float)
    return answers


@experiment("sparse-recovery.trained", scales={"standard": {**LARGER, "scalar_steps": 1500}})
def trained(
    key: jax.Array, *, dim: int = 4, measurements: int = 2, sparsity: int = 1,
    architecture: str = "softmax", layers: int = 2, steps: int = 800, batch: int = 64,
    learning_rate: float = 3e-3, networks: int = 1, test_tasks: int = 4000, scalar_steps: int = 200,
) -> xarray.Dataset:
    """Decoders of pairs trained from random weights, each with `test_tasks` unseen tasks of its
    own, beside classical and unrolled methods on the same tasks."""
    task = SparseRecovery.create(dim, measurements, sparsity)
    longer = SparseRecovery.create(dim, 2 * measurements, sparsity)
    recipe = DecoderRecipe(architecture, layers, steps, batch, learning_rate=learning_rate)
    test_key, scalar_key, train_key = jax.random.split(key, 3)
    sample = longer.sample(test_key, networks * test_tasks)
    samples = common.apart(sample, networks)
    shorts = [shortened(one, measurements) for one in samples]
    ended = train_together(task, recipe, train_key, samples, architecture)
    unrolled = unrolled_answers(task, layers, scalar_steps, scalar_key, shorts)
    errors = common.classical_errors(sample, 2 * measurements, layers)
    last = [
        [squared_errors(b[-1], one.beta) for b in answers.values()]
        for answers, one in zip(unrolled, shorts, strict=True)]
    values = {
        "classical_error": (
            ("network", "solver", "prefix", "task"), common.by_network(errors, networks)),
        "unrolled_error": (("network", "unrolled", "task"), last),
        "curve": (("network", "record"), ended.curve), "loss": (("stretch",), _stretches(ended))}
    values |= _of_decoders(ended, samples, measurements)
    values |= _what_layers_compute(ended.models, _references(sample, unrolled, shorts))
    coordinates = {
        "solver": list(common.METHODS), "unrolled": list(unrolled[0]),
        "prefix": np.arange(1, 2 * measurements + 1), "reference": list(REFERENCES),
        "answer": list(REFERENCES), "extra": np.arange(EXTRA_LAYERS + 1), "record": ended.steps}
    return xarray.Dataset(values, coordinates)


def shortened(sample: RecoverySample, rows: int) -> RecoverySample:
    """The same tasks with only their first rows."""
    X, y = np.asarray(sample.X)[:, :rows], np.asarray(sample.y)[:, :rows]
    return sample._replace(X=X, y=y, count=np.full(len(y), rows))


def _stretches(ended: Together, points: int = 100) -> list[float]:
    """The loss curve as the means of at most `points` stretches."""
    parts = np.array_split(ended.losses, min(points, len(ended.losses)))
    return [float(part.mean()) for part in parts]


def _of_decoders(ended: Together, samples: list[RecoverySample], rows: int) -> dict[str, Any]:
    """Errors of the models, and from the first `rows` rows of what must fail: the models before
    training, and shown the values of another task."""
    axes = ("network", "task")
    others = [np.roll(one.y, 1, axis=0) for one in samples]
    trained_on = list(zip(ended.models, samples, others, strict=True))
    untrained = zip(ended.before, samples, strict=True)
    return {
        "error": (
            ("network", "prefix", "task"), [errors_of(model, one) for model, one, _ in trained_on]),
        "untrained_error": (axes, [errors_of(model, one)[rows - 1] for model, one in untrained]),
        "misled_error": (axes, [errors_of(*shown)[rows - 1] for shown in trained_on])}


def _references(
    sample: RecoverySample, unrolled: list[dict[str, np.ndarray]], shorts: list[RecoverySample]
) -> list[tuple[RecoverySample, np.ndarray]]:
    """For each network its tasks and the iterates of REFERENCES on them, [reference][iterate][task]
    (0: the start at zero); penalties of ISTA and FISTA are the best over all tasks."""
    depth, rows = len(unrolled[0]["LISTA-VM"]), shorts[0].y.shape[1]
    ista, fista = (
        np.split(common.best_iterates(name, sample, rows, depth), len(shorts), axis=1)
        for name in ("ista", "fista"))
    start = np.zeros((1, *np.shape(shorts[0].beta)))
    return [
        (
            short,
            np.stack(
                [np.concatenate([start, b]) for b in (ista[place], fista[place], one["LISTA-VM"])]))
        for place, (short, one) in enumerate(zip(shorts, unrolled, strict=True))]


def _what_layers_compute(
    models: list[Transformer], known: list[tuple[RecoverySample, np.ndarray]]
) -> dict[str, Any]:
    """How far each layer's read-out is from the truth and from iterates, and errors with the last
    layer used again."""
    found = [_of_layers(model, *one) for model, one in zip(models, known, strict=True)]
    return {
        name: (("network", *axes), [one[name] for one in found])
        for name, axes in {
            "repeated_error": ("extra", "task"), "layer_error": ("depth",),
            "distance": ("depth", "reference", "iterate"), "final_distance": ("reference", "task"),
            "reference_distance": ("answer", "reference", "task")}.items()}


def _of_layers(
    model: Transformer, short: RecoverySample, algorithms: np.ndarray
) -> dict[str, np.ndarray]:
    X, y, beta = (np.asarray(part, float) for part in (short.X, short.y, short.beta))
    depth = algorithms.shape[1] - 1
    longer = decoders.with_repeated_last_layer(model, EXTRA_LAYERS)
    repeated = decoders.layer_estimates(longer, X, y)
    read, last = repeated[: depth + 1], algorithms[:, -1]
    return {
        "repeated_error": squared_errors(repeated[depth:], beta),
        "layer_error": squared_errors(read, beta).mean(-1),
        "distance": np.stack([((algorithms - b) ** 2).sum(-1).mean(-1) for b in read]),
        "final_distance": squared_errors(last, read[-1]),
        "reference_distance": squared_errors(last[None], last[:, None])}


@experiment("sparse-recovery.trained-structure", scales={"standard": {**LARGER, "steps": 3000}})
def trained_structure(
    key: jax.Array, *, dim: int = 4, measurements: int = 2, sparsity: int = 2, block_size: int = 2,
    pool: int = 0, layers: int = 2, steps: int = 800, batch: int = 64, learning_rate: float = 3e-3,
    networks: int = 1, test_tasks: int = 4000,
) -> xarray.Dataset:
    """Decoders trained on supports with structure (aligned blocks, or the first `pool` coordinates)
    and on free ones, in pairs, each pair on test tasks of its own.

    `error` is on structured tasks, `free_error` on free ones with all rows; `told_error` is that of
    classical methods which are told the pool.
    """
    places = range(pool) if pool else None
    structured = SparseRecovery.create(dim, measurements, sparsity, block=block_size, pool=places)
    free = SparseRecovery.create(dim, measurements, sparsity)
    recipe = DecoderRecipe("softmax", layers, steps, batch, learning_rate=learning_rate)
    test_key, free_key, train_key = jax.random.split(key, 3)
    number = networks * test_tasks
    sample, other = structured.sample(test_key, number), free.sample(free_key, number)
    samples, others = common.apart(sample, networks), common.apart(other, networks)
    trainings = [
        train_together(task, recipe, train_key, samples, name)
        for name, task in zip(TRAINED_ON, (structured, free), strict=True)]
    mask = np.isin(np.arange(dim), structured.pool).astype(float) if pool else None
    untold, told = (
        common.by_network(common.classical_errors(sample, measurements, layers, known), networks)
        for known in (None, mask))

    def of_all(tests: list[RecoverySample]) -> list[list[np.ndarray]]:
        return [
            [errors_of(model, test) for model, test in zip(ended.models, tests, strict=True)]
            for ended in trainings]

    axes, classical = ("training", "network"), ("network", "solver", "prefix", "task")
    values = {
        "error": ((*axes, "prefix", "task"), of_all(samples)),
        "free_error": ((*axes, "task"), np.array(of_all(others))[:, :, -1]),
        "curve": ((*axes, "record"), [ended.curve for ended in trainings]),
        "free_zero_error": (("network", "task"), [(one.beta**2).sum(-1) for one in others]),
        "classical_error": (classical, untold), "told_error": (classical, told)}
    coordinates = {
        "training": list(TRAINED_ON), "solver": list(common.METHODS),
        "prefix": np.arange(1, measurements + 1), "record": trainings[0].steps}
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
    trainings = [
        decoders.train_decoder(task, recipe, one, f"{architecture}-seed-{number}")
        for number, one in enumerate(keys)]
    label = np.asarray(sample.query_y)
    errors = [
        (decoders.label_estimates(training.model, sample)[:, -1] - label) ** 2
        for training in trainings]
    return xarray.Dataset({
        "label_error": (("seed", "task"), np.array(errors, float)),
        "zero_error": (("task",), label**2), "loss": _losses(trainings)})


def _losses(trainings: list[Trained], points: int = 100) -> tuple:
    """The loss curves as the means of at most `points` stretches."""
    curves = [np.array_split(item.losses, min(points, len(item.losses))) for item in trainings]
    return ("seed", "stretch"), [[stretch.mean() for stretch in curve] for curve in curves]
