"""Decoders trained from scratch away from their training tasks, and what their layers hold.

The same decoders and the LISTA family, all trained on Gaussian matrices, on matrices of growing
condition number, scale and correlation and on more non-zeros; linear probes of the state of the
last token after each layer; and how near each layer comes to one of LISTA-VM.
"""

import itertools
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.networks import transformer
from saccade.studies.sparse_recovery.dynamics import decoders, learning, probing
from saccade.studies.sparse_recovery.dynamics.decoders import DecoderRecipe
from saccade.studies.sparse_recovery.dynamics.learning import Recipe
from saccade.studies.sparse_recovery.experiments import common, full_matrix, trained
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
GROUPS = 40
"""Into which held-out problems are divided: each gives one number."""


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


def _family(task: SparseRecovery, depth: int, steps: int, key: Any) -> dict[str, Any]:
    """The LISTA family with as many layers as the decoders, trained on new matrices."""
    recipe = Recipe(steps, 256, 1e-2)
    networks = {
        name: learning.train(name, task, key[None], learning.start_layers(name, depth), recipe).at()
        for name in FAMILY}
    _, full = full_matrix.trained_vm(task, key, steps=steps, layers=depth)
    networks[full_matrix.MATRIX] = full.at()
    return networks


@experiment(
    "sparse-recovery.inside",
    scales={"standard": {
        "dim": 8, "measurements": 4, "layers": 4, "steps": 5000, "seeds": 3, "tests": 4000,
        "unrolled_steps": 600}})
def inside(
    key: Any, *, dim: int = 4, measurements: int = 2, sparsity: int = 1, layers: int = 2,
    steps: int = 200, batch: int = 64, learning_rate: float = 3e-3, seeds: int = 1,
    tests: int = 400, unrolled_steps: int = 50,
) -> xarray.Dataset:
    """Errors on shifted tasks, [axis point][method][task] (decoders by seed); of the states: shares
    of variance that probes explain, of trained and untrained decoders; of each layer: the share of
    its move that the best LISTA-VM layer leaves, and the same of LISTA-VM's own iterates."""
    task = SparseRecovery.create(dim, measurements, sparsity)
    recipe = DecoderRecipe("softmax", layers, steps, batch, learning_rate=learning_rate)
    test_key, family_key, probe_key, *keys = jax.random.split(key, seeds + 3)
    models = [one.model for one in trained.train_all(task, recipe, keys, "inside")]
    untrained = [
        transformer.init_transformer(
            jax.random.split(one)[0], decoders.decoder_config(task, recipe))
        for one in keys]
    networks = _family(task, layers, unrolled_steps, family_key)
    points = {
        place: sample for place, sample in shifted(task, test_key, tests).items()
        if place[0] != "non-zeros" or place[1] <= dim}
    held_out = task.sample(probe_key, 2 * tests)
    values = _shift_errors(models, networks, list(points.values()), layers)
    values |= _probed(models, held_out, "probe") | _probed(untrained, held_out, "untrained_probe")
    values |= _layer_maps(models, networks, held_out)
    return xarray.Dataset(
        values,
        {
            "axis": ("point", [axis for axis, _ in points]),
            "value": ("point", [float(value) for _, value in points]),
            "method": [*networks, "fista", "zero"], "target": list(TARGETS)})


def _shift_errors(models, networks, samples: list[RecoverySample], depth: int) -> dict:
    rows = samples[0].y.shape[1]

    def of_methods(sample: RecoverySample) -> list[np.ndarray]:
        errors = [
            common.errors_of(name.split(",")[0], layers, sample)[-1]
            for name, layers in networks.items()]
        fista = common.classical("fista", sample, depth, penalties=common.PREFIX_PENALTIES)[-1]
        return [*errors, fista, (np.asarray(sample.beta) ** 2).sum(1)]

    mine = [[trained.errors_of(model, one)[rows - 1] for model in models] for one in samples]
    return {
        "error": (("point", "seed", "task"), mine),
        "method_error": (("point", "method", "task"), [of_methods(one) for one in samples])}


def _probed(models, sample: RecoverySample, name: str) -> dict:
    """Shares of variance (beta, the residual y - X b of the layer's own read-out) and of supports
    found, by linear probes on groups of held-out problems, [seed][layer][target][group]."""
    X, y, beta = (np.asarray(part, float) for part in (sample.X, sample.y, sample.beta))
    support = np.asarray(sample.support, float)
    tokens = np.concatenate([X, y[..., None]], -1).astype(np.float32)

    def of_layer(states: np.ndarray, read: np.ndarray) -> list[np.ndarray]:
        residual = y - np.einsum("pnd,pd->pn", X, read)
        found = probing.probe(states, support)
        half = np.arange(len(found)), found.argmax(1)
        return [
            probing.explained(probing.probe(states, beta), beta, GROUPS),
            probing.explained(probing.probe(states, residual), residual, GROUPS),
            support[-len(found) :][half].reshape(GROUPS, -1).mean(1)]

    shares = [
        [
            of_layer(*layer)
            for layer in zip(
                np.asarray(probing.layer_states(model, tokens), float),
                decoders.layer_estimates(model, X, y), strict=True)]
        for model in models]
    return {name: (("seed", "layer", "target", "group"), shares)}


def _layer_maps(models, networks, sample: RecoverySample) -> dict:
    """What the best LISTA-VM layer leaves of each layer's move, by groups of held-out problems: for
    decoders, and for the iterates of the full LISTA-VM."""
    X, y = (np.asarray(part, float) for part in (sample.X, sample.y))
    own = np.asarray(unroll("lista-vm", networks[full_matrix.MATRIX], X, y))
    own = np.concatenate([np.zeros_like(own[:1]), own])
    reads = [decoders.layer_estimates(model, X, y) for model in models]

    def left(read: np.ndarray) -> list[np.ndarray]:
        return [
            probing.left_by_vm(before, after, X, y, GROUPS)
            for before, after in itertools.pairwise(read)]

    return {
        "left": (("seed", "step", "group"), [left(read) for read in reads]),
        "own_left": (("step", "group"), left(own))}
