"""The LISTA family trained on one matrix or on ever new ones, tested on seen and new matrices."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.experiments import common
from saccade.studies.sparse_recovery.models.steps import alista_weight
from saccade.studies.sparse_recovery.models.unrolled import Layers, unroll
from saccade.studies.sparse_recovery.task import Design, RecoverySample, SparseRecovery

FIXED = ("lista", "lista-cp", "alista", "alista, frozen weight")
CLASSICAL = ("ista", "fista")
DRAWN = 4
"""Networks of which learning curves are kept."""


@experiment("sparse-recovery.one-matrix", scales={"standard": {"steps": 5000, "tests": 800}})
def one_matrix(
    key: Any, *, networks: int = common.NETWORKS, tests: int = 100, steps: int = 0, dim: int = 20,
    rows: int = 10, sparsity: int = 3,
) -> xarray.Dataset:
    """Networks trained on one matrix each: errors after every layer on that matrix and on new ones,
    FISTA and ISTA beside them, each on problems of the network's own; of LISTA also the mean of
    |b - beta|^2 - |b|^2.

    LISTA-CP meets the test matrix in its residual; ALISTA's weight is recomputed for the test
    matrix, or frozen at the training one.
    """
    task = SparseRecovery.create(dim, rows, sparsity)
    train_key, own_key, new_key, alone_key = jax.random.split(key, 4)
    names = {label: label.split(",")[0] for label in FIXED}
    made = {
        name: common.trained(name, task, train_key, networks, True, steps)
        for name in names.values()}
    X = made["lista"][1]
    own = [
        task.sample_on(jax.random.fold_in(own_key, place), X[place], tests)
        for place in range(networks)]
    problems = own, common.apart(task.sample(new_key, networks * tests), networks)

    def layers_of(label: str, place: int) -> Layers:
        layers = made[names[label]][0].at(-1, place)
        if "frozen" in label:
            layers["W"] = np.stack([jax.jit(alista_weight)(X[place])] * common.LAYERS)
        return layers

    def measured(label: str, place: int, sample: Any) -> np.ndarray:
        if label in CLASSICAL:
            return common.classical(label, sample)
        return common.errors_of(names[label], layers_of(label, place), sample)

    errors = {
        label: [[measured(label, *pair) for pair in enumerate(samples)] for samples in problems]
        for label in (*FIXED, *CLASSICAL)}
    zero = [[(np.asarray(sample.beta) ** 2).sum(1) for sample in samples] for samples in problems]
    alone = {
        "seen": [
            task.sample_on(jax.random.fold_in(alone_key, place), X[place], 8 * tests)
            for place in range(networks)],
        "new": common.apart(task.sample(alone_key, 8 * networks * tests), networks)}
    rest = [
        [_rest(layers_of("lista", place), one) for place, one in enumerate(samples)]
        for samples in alone.values()]
    return common.by_algorithm(
        errors, ("matrix", "network", "layer", "test"), matrix=list(alone),
        layer=np.arange(1, common.LAYERS + 1),
    ).assign(zero=(("matrix", "network", "test"), zero), rest=(("matrix", "network"), rest))


def _rest(layers: Layers, sample: RecoverySample) -> float:
    """The mean of |b - beta|^2 - |b|^2 of LISTA's answers."""
    b, beta = (
        np.asarray(v) for v in (unroll("lista", layers, sample.X, sample.y)[-1], sample.beta))
    return float((((b - beta) ** 2).sum(1) - (b**2).sum(1)).mean())


VARYING = ("lista-vm", "lista-adaptive", "alista")


@experiment("sparse-recovery.varying-matrices", scales={"standard": {"tests": 1600, "steps": 1500}})
def varying_matrices(
    key: Any, *, methods: tuple[str, ...] = VARYING, design: Design = "gaussian",
    networks: int = common.NETWORKS, tests: int = 200, steps: int = 0,
    shares: tuple[float, ...] = common.SHARES, dim: int = 20, rows: int = 10, sparsity: int = 3,
) -> xarray.Dataset:
    """Networks trained on ever new matrices, each tested on new ones of its own: errors after every
    layer, the same with all thresholds zero, ISTA and FISTA on the same problems. Of the first
    networks the learning curves (errors after the last layer along training), and the converged
    LASSO on their problems."""
    task = SparseRecovery.create(dim, rows, sparsity, design=design)
    train_key, test_key = jax.random.split(key)
    sample = task.sample(test_key, networks * tests)
    samples = common.apart(sample, networks)
    drawn = samples[:DRAWN]
    errors, cut, curves, recorded = {}, {}, [], []
    for name in methods:
        made = common.trained_on_many(name, task, train_key, networks, steps, shares)
        errors[name] = [
            common.errors_of(name, made.at(-1, place), one) for place, one in enumerate(samples)]
        cut[name] = common.last_errors(name, made, samples, threshold_share=0.0)
        curves.append([
            [
                common.errors_of(name, made.at(point, place), one)[-1]
                for point in range(len(made.steps))]
            for place, one in enumerate(drawn)])
        recorded.append(made.steps)
    errors |= {
        name: common.by_network(common.classical(name, sample), networks) for name in CLASSICAL}
    return common.by_algorithm(
        errors, ("network", "layer", "test"), trained=list(methods),
        layer=np.arange(1, common.LAYERS + 1)).assign(
        no_threshold=(("trained", "network", "test"), list(cut.values())),
        curve=(("trained", "drawn", "point", "test"), curves),
        steps=(("trained", "point"), recorded),
        lasso=(("drawn", "test"), [common.converged(one) for one in drawn]),
        zero=(("network", "test"), [(np.asarray(one.beta) ** 2).sum(1) for one in samples]))
