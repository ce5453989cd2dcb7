"""Decoders trained from scratch away from their training tasks, and what their layers hold.

Decoders and the LISTA family, all trained on Gaussian matrices, on matrices of growing condition
number, scale and correlation and on more non-zeros; linear probes of the state of the last token
after each layer; and how near each layer comes to one of LISTA-VM. A replicate is a network (and
one of each of the family beside it), tested and probed on problems of its own.
"""

import itertools
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.networks.transformer import Transformer
from saccade.studies.sparse_recovery.dynamics import decoders, learning, probing
from saccade.studies.sparse_recovery.dynamics.decoders import DecoderRecipe
from saccade.studies.sparse_recovery.dynamics.learning import Recipe
from saccade.studies.sparse_recovery.experiments import common, full_matrix, together
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

CONDITIONS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
SPARSITIES = (1, 2, 3, 4)
SCALES = (0.5, 0.7, 1.0, 1.4, 2.0)
CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
AXES = {
    "condition number": CONDITIONS, "non-zeros": SPARSITIES, "scale": SCALES,
    "correlation": CORRELATIONS}
FAMILY = ("lista-vm", "lista-adaptive", "alista")
TARGETS = ("beta", "residual", "support")


def conditioned(sample: RecoverySample, condition: float) -> RecoverySample:
    """The same problems on matrices with the same singular vectors and Frobenius norm, whose
    singular values fall geometrically from the largest to 1/`condition` of it."""
    u, s, vt = np.linalg.svd(np.asarray(sample.X, float), full_matrices=False)
    values = condition ** -np.linspace(0, 1, s.shape[1])
    values = values * np.sqrt((s**2).sum(1, keepdims=True) / (values**2).sum())
    return _on(sample, (u * values[:, None, :]) @ vt)


def _on(sample: RecoverySample, X: np.ndarray) -> RecoverySample:
    """The same vectors measured by other matrices, without noise."""
    return sample._replace(X=X, y=np.einsum("pnd,pd->pn", X, np.asarray(sample.beta)))


def shifted(task: SparseRecovery, key: Any, tests: int) -> dict[tuple[str, float], RecoverySample]:
    """Test problems at every point of the four axes."""
    usual = task.sample(key, tests)
    made = {("condition number", value): conditioned(usual, value) for value in CONDITIONS}
    made |= {("scale", value): _on(usual, value * np.asarray(usual.X)) for value in SCALES}
    made |= {
        ("non-zeros", value): replace(task, sparsity=value).sample(key, tests)
        for value in SPARSITIES}
    return made | {
        ("correlation", value): replace(task, design="correlated", correlation=value).sample(
            key, tests)
        for value in CORRELATIONS}


Family = dict[str, learning.Trained]


def _family(task: SparseRecovery, depth: int, steps: int, key: Any, networks: int) -> Family:
    """The LISTA family with as many layers as the decoders, trained on new matrices: of each as
    many networks as there are decoders."""
    recipe, keys = Recipe(steps, 128, 1e-2), jax.random.split(key, networks)
    made = {
        name: learning.train(name, task, keys, learning.start_layers(name, depth, networks), recipe)
        for name in FAMILY}
    full = full_matrix.trained_vm(task, key, networks, steps, depth)[1]
    return made | {full_matrix.MATRIX: full}


@experiment(
    "sparse-recovery.inside",
    scales={"standard": {
        "dim": 8, "measurements": 4, "layers": 4, "steps": 4000, "networks": 21, "tests": 1000,
        "unrolled_steps": 600}})
def inside(
    key: Any, *, dim: int = 4, measurements: int = 2, sparsity: int = 1, layers: int = 2,
    steps: int = 200, batch: int = 64, learning_rate: float = 3e-3, networks: int = 1,
    tests: int = 400, unrolled_steps: int = 50,
) -> xarray.Dataset:
    """Errors on shifted tasks, [axis point][network][task] and by method; of the states: shares of
    variance that probes explain, of trained and untrained decoders; of each layer: the share of its
    move that the best LISTA-VM layer leaves, and the same of the iterates of a full LISTA-VM."""
    task = SparseRecovery.create(dim, measurements, sparsity)
    recipe = DecoderRecipe("softmax", layers, steps, batch, learning_rate=learning_rate)
    test_key, family_key, probe_key, train_key = jax.random.split(key, 4)
    points = {
        place: sample for place, sample in shifted(task, test_key, networks * tests).items()
        if place[0] != "non-zeros" or place[1] <= dim}
    held_out = common.apart(task.sample(probe_key, networks * 2 * tests), networks)
    ended = together.train_together(task, recipe, train_key, held_out, "inside")
    family = _family(task, layers, unrolled_steps, family_key, networks)
    values = _shift_errors(ended.models, family, list(points.values()), layers)
    values |= {
        name: (
            ("network", "layer", "target"),
            [_probed(model, one) for model, one in zip(models, held_out, strict=True)])
        for name, models in (("probe", ended.models), ("untrained_probe", ended.before))}
    values |= _layer_maps(ended.models, family, held_out)
    return xarray.Dataset(
        values,
        {
            "axis": ("point", [axis for axis, _ in points]),
            "value": ("point", [float(value) for _, value in points]),
            "method": [*family, "fista", "zero"], "target": list(TARGETS)})


def _shift_errors(
    models: list[Transformer], family: Family, samples: list[RecoverySample], depth: int
) -> dict[str, Any]:
    rows, networks = samples[0].y.shape[1], len(models)

    def of_methods(sample: RecoverySample) -> list[np.ndarray]:
        own = common.apart(sample, networks)
        errors = [common.last_errors(name.split(",")[0], one, own) for name, one in family.items()]
        fista = common.classical("fista", sample, depth, penalties=common.PREFIX_PENALTIES)[-1]
        zero = (np.asarray(sample.beta) ** 2).sum(1)
        return [*errors, *(common.by_network(one, networks) for one in (fista, zero))]

    mine = [
        [
            together.errors_of(model, own)[rows - 1]
            for model, own in zip(models, common.apart(sample, networks), strict=True)]
        for sample in samples]
    return {
        "error": (("point", "network", "task"), mine),
        "method_error": (
            ("point", "method", "network", "task"), [of_methods(one) for one in samples])}


def _probed(model: Transformer, sample: RecoverySample) -> list[list[float]]:
    """Shares of variance (beta, the residual y - X b of the layer's own read-out) and of supports
    found by linear probes, fitted on one half of the problems, on the other, [layer][target]."""
    X, y, beta = (np.asarray(part, float) for part in (sample.X, sample.y, sample.beta))
    support = np.asarray(sample.support, float)
    tokens = np.concatenate([X, y[..., None]], -1).astype(np.float32)

    def of_layer(states: np.ndarray, read: np.ndarray) -> list[float]:
        residual = y - np.einsum("pnd,pd->pn", X, read)
        found = probing.probe(states, support)
        half = np.arange(len(found)), found.argmax(1)
        explained = [
            probing.explained(probing.probe(states, target), target, 1)[0]
            for target in (beta, residual)]
        return [*explained, support[-len(found) :][half].mean()]

    states = np.asarray(probing.layer_states(model, tokens), float)
    reads = decoders.layer_estimates(model, X, y)
    return [of_layer(*layer) for layer in zip(states, reads, strict=True)]


def _layer_maps(
    models: list[Transformer], family: Family, samples: list[RecoverySample]
) -> dict[str, Any]:
    """What the best LISTA-VM layer leaves of each layer's move: for decoders, and for the iterates
    of full LISTA-VMs."""
    left, own_left = [], []
    for place, (model, sample) in enumerate(zip(models, samples, strict=True)):
        X, y = (np.asarray(part, float) for part in (sample.X, sample.y))
        own = np.asarray(unroll("lista-vm", family[full_matrix.MATRIX].at(-1, place), X, y))
        own = np.concatenate([np.zeros_like(own[:1]), own])
        for kept, read in ((left, decoders.layer_estimates(model, X, y)), (own_left, own)):
            kept.append([
                probing.left_by_vm(before, after, X, y, 1)[0]
                for before, after in itertools.pairwise(read)])
    return {"left": (("network", "step"), left), "own_left": (("network", "step"), own_left)}
