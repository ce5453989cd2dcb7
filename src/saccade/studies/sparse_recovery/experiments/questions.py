"""Open questions: other numbers of rows, laws of the matrix, more layers, pools, blocks."""

from dataclasses import replace
from typing import Any, Literal

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.draws import draw
from saccade.studies.sparse_recovery.experiments import common
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

NETWORKS = ("lista-vm", "lista-adaptive", "alista")


def _prefix(sample: RecoverySample, rows: int) -> RecoverySample:
    """The same problems with `rows` rows; further ones are zero: one program for all counts."""
    shown = np.arange(sample.y.shape[1]) < rows
    X, y = np.asarray(sample.X) * shown[:, None], np.asarray(sample.y) * shown
    return sample._replace(X=X, y=y, count=np.full(len(y), rows))


def _times(sample: RecoverySample, factor: float) -> RecoverySample:
    """The same problems with X and y multiplied by a number."""
    return sample._replace(X=factor * np.asarray(sample.X), y=factor * np.asarray(sample.y))


def _last_errors(
    networks: tuple[str, ...], others: tuple[str, ...], samples: list[RecoverySample], seed: int,
    threshold_share: float = 1.0,
) -> dict[str, list[np.ndarray]]:
    """Errors after the last layer of networks and of classical methods, sample after sample."""
    trained = {name: common.network(name, seed) for name in networks}
    layers = {
        name: {**known, "theta": threshold_share * known["theta"]}
        for name, known in trained.items()}
    errors = {
        name: [common.errors_of(name, layers[name], sample)[-1] for sample in samples]
        for name in networks}
    return errors | {
        name: [common.classical(name, sample)[-1] for sample in samples] for name in others}


@experiment("sparse-recovery.row-counts", scales={"standard": {"tests": 4000}})
def row_counts(
    key: Any, *, counts: tuple[int, ...] = (4, 6, 8, 10, 12, 15, 20, 30, 40), tests: int = 1000,
    training_seed: int = 0, networks: tuple[str, ...] = NETWORKS,
    others: tuple[str, ...] = ("ista", "fista"), misled_from: int | None = None,
) -> xarray.Dataset:
    """Networks trained on 10 rows, tested on other numbers of rows of the same problems (nested);
    `others` with 12 steps beside them. Rows from `misled_from` on have the values of the next
    problem."""
    sample = SparseRecovery.create(measurements=max(counts)).sample(key, tests)
    if misled_from is not None:
        misled, y = np.arange(max(counts)) >= misled_from, np.asarray(sample.y)
        sample = sample._replace(y=np.where(misled, np.roll(y, 1, axis=0), y))
    samples = [_prefix(sample, count) for count in counts]
    errors = _last_errors(networks, others, samples, training_seed)
    return common.by_algorithm(errors, ("rows", "test"), rows=list(counts))


@experiment("sparse-recovery.pools", scales={"standard": {"tests": 8000}})
def pools(
    key: Any, *, pool: int = 10, tests: int = 2000, training_seed: int = 0, shift: int = 0
) -> xarray.Dataset:
    """Supports inside a pool of coordinates: methods that are told the pool (mask) and methods that
    are not.

    `shift` moves the pool that is told by so many coordinates: wrong knowledge.
    """
    inside = SparseRecovery.create(pool=range(pool))
    sample = inside.sample(key, tests)
    mask = np.roll(np.arange(inside.dim) < pool, shift)
    errors = {}
    for name in ("lista-vm", "alista"):
        layers = common.network(name, training_seed)
        errors[name] = common.errors_of(name, layers, sample)[-1]
        errors[f"{name}, told"] = common.errors_of(name, layers, sample, mask)[-1]
    errors["lista-vm, trained on the pool"] = common.errors_of(
        "lista-vm", common.network("lista-vm", training_seed, inside), sample)[-1]
    errors["fista"] = common.classical("fista", sample)[-1]
    errors["fista, told"] = common.classical("fista", sample, mask=mask)[-1]
    return common.by_algorithm(errors, ("test",))


SHIFTS: dict[str, tuple[float, dict[str, Any]]] = {
    "scale 0.7": (0.7, {}), "scale 0.9": (0.9, {}), "as trained": (1.0, {}), "scale 1.1": (1.1, {}),
    "scale 1.3": (1.3, {}), "correlated 0.5": (1.0, {"design": "correlated", "correlation": 0.5}),
    "correlated 0.8": (1.0, {"design": "correlated", "correlation": 0.8}),
    "rademacher": (1.0, {"design": "rademacher"}), "uniform": (1.0, {"design": "uniform"}),
    "orthonormal": (1.0, {"design": "orthonormal"})}
"""What X and y are multiplied with, and the law of the matrix."""


@experiment("sparse-recovery.shifts", scales={"standard": {"tests": 8000}})
def shifts(
    key: Any, *, tests: int = 1000, training_seed: int = 0, networks: tuple[str, ...] = NETWORKS,
    noise: float = 0.0, threshold_share: float = 1.0,
) -> xarray.Dataset:
    """Networks trained on Gaussian matrices, tested on other laws of the matrix; all laws use the
    same random numbers where they can. `threshold_share` scales learned thresholds."""
    samples = [
        _times(SparseRecovery.create(noise=noise, **law).sample(key, tests), factor)
        for factor, law in SHIFTS.values()]
    errors = _last_errors(networks, ("fista",), samples, training_seed, threshold_share)
    return common.by_algorithm(errors, ("shift", "test"), shift=list(SHIFTS))


@experiment("sparse-recovery.invariance")
def invariance(
    key: Any, *, tests: int = 200, training_seed: int = 0, scale: float = 1.3, mixing: bool = True,
    network: Literal["alista", "lista-vm"] = "alista",
) -> xarray.Dataset:
    """ALISTA on X, on c X and on A X with a random invertible A (or another `network` in its
    place); LISTA-VM on c X beside LISTA-VM with c^2 M on X (y goes along)."""
    task = SparseRecovery.create()
    sample_key, mix_key = jax.random.split(key)
    sample, square = task.sample(sample_key, tests), (task.measurements, task.measurements)
    A = draw("normal", mix_key, square, float) if mixing else np.eye(task.measurements)
    scaled = _times(sample, scale)
    mixed = sample._replace(X=A @ np.asarray(sample.X), y=np.asarray(sample.y) @ A.T)
    alista, vm = common.network(network, training_seed), common.network("lista-vm", training_seed)
    plain, moved = (
        common.errors_of(network, alista, sample), common.errors_of("lista-vm", vm, scaled))
    longer = {**vm, "M": scale**2 * vm["M"]}
    apart = {
        "alista, scaled": _relative(common.errors_of(network, alista, scaled), plain),
        "alista, mixed": _relative(common.errors_of(network, alista, mixed), plain),
        "lista-vm": _relative(moved, common.errors_of("lista-vm", longer, sample))}
    return xarray.Dataset(
        {
            "apart": ("what", list(apart.values())),
            "lista_vm_moves": _relative(moved, common.errors_of("lista-vm", vm, sample))},
        {"what": list(apart)})


def _relative(values: np.ndarray, expected: np.ndarray) -> float:
    """Median over tests of the largest relative difference over layers."""
    return float(np.median((np.abs(values - expected) / (1e-12 + expected)).max(0)))


@experiment("sparse-recovery.depths", scales={"standard": {"tests": 8000}})
def depths(
    key: Any, *, further: int = 36, tests: int = 1000, training_seed: int = 0,
    networks: tuple[str, ...] = NETWORKS,
) -> xarray.Dataset:
    """Errors after every layer when the last of 12 trained layers is used `further` times more;
    FISTA with as many steps."""
    sample = SparseRecovery.create().sample(key, tests)
    errors = {
        name: common.errors_of(
            name, common.network(name, training_seed), sample, repeat_last=further)
        for name in networks}
    errors["fista"] = common.classical("fista", sample, common.LAYERS + further)
    return common.by_algorithm(
        errors, ("layer", "test"), layer=np.arange(1, common.LAYERS + further + 1))


@experiment("sparse-recovery.blocks", scales={"standard": {"tests": 8000}})
def blocks(
    key: Any, *, block: int = 4, sparsity: int = 4, tests: int = 2000, training_seed: int = 0,
    tested_block: int = 0,
) -> xarray.Dataset:
    """Block-sparse problems: LISTA-VM trained on free supports, LISTA-VM trained on blocks, and one
    that thresholds whole blocks; tested on blocks of another size if `tested_block` is given."""
    free = SparseRecovery.create(sparsity=sparsity, design="orthonormal")
    blocked = SparseRecovery.create(sparsity=sparsity, design="orthonormal", block=block)
    tested = replace(blocked, block=tested_block) if tested_block else blocked
    sample = tested.sample(key, tests)
    networks = {
        "lista-vm, free supports": ("lista-vm", free),
        "lista-vm, trained on blocks": ("lista-vm", blocked),
        "block thresholds": ("lista-block", blocked)}
    errors = {
        label: common.errors_of(name, common.network(name, training_seed, task), sample)[-1]
        for label, (name, task) in networks.items()}
    return common.by_algorithm(errors | {"fista": common.classical("fista", sample)[-1]}, ("test",))
