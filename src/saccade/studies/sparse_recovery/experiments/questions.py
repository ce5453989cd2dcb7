"""Open questions: more or fewer rows, supports known in advance, other laws of the matrix, more
layers than were trained, blocks."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.experiments.common import LAYERS, classical, errors_of, trained
from saccade.studies.sparse_recovery.task import SparseRecovery

NETWORKS = ("lista-vm", "lista-adaptive", "alista")


def _prefix(sample: Any, rows: int) -> Any:
    """The same problems with only the first `rows` rows; the others are zero, which keeps one
    compiled program for all counts."""
    seen = jnp.arange(sample.y.shape[1]) < rows
    X, y = jnp.where(seen[None, :, None], sample.X, 0), jnp.where(seen, sample.y, 0)
    return sample._replace(X=X, y=y, count=jnp.full(len(y), rows))


@experiment("sparse-recovery.row-counts", scales={"standard": {"tests": 4000}})
def row_counts(
    key: Any, *, counts: tuple[int, ...] = (4, 6, 8, 10, 12, 15, 20, 30, 40), tests: int = 1000,
    training_seed: int = 0, networks: tuple[str, ...] = NETWORKS,
) -> xarray.Dataset:
    """Networks trained on 10 rows, tested on other numbers of rows of the same problems (nested);
    FISTA@12 and ISTA@12 beside them."""
    task = SparseRecovery.create()
    sample = SparseRecovery.create(measurements=max(counts)).sample(key, tests)
    errors = np.zeros((len(networks) + 2, len(counts), tests))
    for column, n in enumerate(counts):
        seen = _prefix(sample, n)
        for place, name in enumerate(networks):
            errors[place, column] = errors_of(
                name, trained(name, task, training_seed, 2)[0].at(), seen)[-1]
        errors[-2, column], errors[-1, column] = (
            classical("ista", seen)[-1], classical("fista", seen)[-1])
    return xarray.Dataset(
        {"error": (("algorithm", "rows", "test"), errors)},
        {"algorithm": [*networks, "ista", "fista"], "rows": list(counts)})


@experiment("sparse-recovery.pools", scales={"standard": {"tests": 8000}})
def pools(
    key: Any, *, pool: int = 10, tests: int = 2000, training_seed: int = 0, shift: int = 0
) -> xarray.Dataset:
    """Supports inside a pool of coordinates: methods that are told the pool (mask) and methods that
    are not.

    `shift` moves the pool that is told by so many coordinates: wrong knowledge.
    """
    free, inside = SparseRecovery.create(), SparseRecovery.create(pool=range(pool))
    sample = inside.sample(key, tests)
    mask = jnp.roll(jnp.arange(free.dim) < pool, shift)
    found = {}
    for name in ("lista-vm", "alista"):
        network = trained(name, free, training_seed, 2)[0].at()
        found[name] = errors_of(name, network, sample)[-1]
        found[f"{name}, told"] = errors_of(name, network, sample, mask)[-1]
    made = trained("lista-vm", inside, training_seed, 2)[0].at()
    found["lista-vm, trained on the pool"] = errors_of("lista-vm", made, sample)[-1]
    found["fista"] = classical("fista", sample)[-1]
    found["fista, told"] = classical("fista", sample, mask=mask)[-1]
    return xarray.Dataset(
        {"error": (("algorithm", "test"), np.array(list(found.values())))},
        {"algorithm": list(found)})


SHIFTS: dict[str, dict[str, Any]] = {
    "scale 0.7": {"scale": 0.7}, "scale 0.9": {"scale": 0.9}, "as trained": {},
    "scale 1.1": {"scale": 1.1}, "scale 1.3": {"scale": 1.3},
    "correlated 0.5": {"design": "correlated", "correlation": 0.5},
    "correlated 0.8": {"design": "correlated", "correlation": 0.8},
    "rademacher": {"design": "rademacher"}, "uniform": {"design": "uniform"},
    "orthonormal": {"design": "orthonormal"}}


def _shifted(key: Any, tests: int, noise: float, changes: dict[str, Any]) -> Any:
    """Problems under another law of the matrix; scaling is done by hand, for a new scale would be a
    new program to compile."""
    scale, others = (
        changes.get("scale", 1.0),
        {name: value for name, value in changes.items() if name != "scale"})
    sample = SparseRecovery.create(noise=noise, **others).sample(key, tests)
    return sample._replace(X=scale * sample.X, y=scale * sample.y)


@experiment("sparse-recovery.shifts", scales={"standard": {"tests": 8000}})
def shifts(
    key: Any, *, tests: int = 1000, training_seed: int = 0, networks: tuple[str, ...] = NETWORKS,
    noise: float = 0.0,
) -> xarray.Dataset:
    """Networks trained on Gaussian matrices, tested on other laws of the matrix; all laws use the
    same random numbers where they can.

    `identity_vm` and `identity_alista`: how far LISTA-VM on c X is from LISTA-VM with c^2 M on X,
    and ALISTA on c X from itself on X.
    """
    task = SparseRecovery.create()
    errors = np.zeros((len(networks) + 1, len(SHIFTS), tests))
    norms = np.zeros((len(SHIFTS), tests))
    for column, changes in enumerate(SHIFTS.values()):
        sample = _shifted(key, tests, noise, changes)
        norms[column] = np.linalg.norm(np.asarray(sample.X), 2, axis=(1, 2)) ** 2
        for place, name in enumerate(networks):
            errors[place, column] = errors_of(
                name, trained(name, task, training_seed, 2)[0].at(), sample)[-1]
        errors[-1, column] = classical("fista", sample)[-1]
    step = float(np.asarray(trained("lista-vm", task, training_seed, 2)[0].at()["M"])[-1])
    return xarray.Dataset(
        {
            "error": (("algorithm", "shift", "test"), errors),
            "edge": (("shift", "test"), step * norms / (2 * task.measurements + 1))},
        {"algorithm": [*networks, "fista"], "shift": list(SHIFTS)})


@experiment("sparse-recovery.invariance")
def invariance(
    key: Any, *, tests: int = 200, training_seed: int = 0, scale: float = 1.3, mixing: bool = True
) -> xarray.Dataset:
    """ALISTA on X, on c X and on A X with a random invertible A; LISTA-VM on c X beside LISTA-VM
    with c^2 M on X (y goes along)."""
    task = SparseRecovery.create()
    sample_key, mix_key = jax.random.split(key)
    sample = task.sample(sample_key, tests)
    alista = trained("alista", task, training_seed, 2)[0].at()
    vm = trained("lista-vm", task, training_seed, 2)[0].at()
    A = (
        jax.random.normal(mix_key, (task.measurements, task.measurements)) if mixing
        else jnp.eye(task.measurements))
    moved = {
        "scaled": sample._replace(X=scale * sample.X, y=scale * sample.y),
        "mixed": sample._replace(
            X=jnp.einsum("mn,bnd->bmd", A, sample.X), y=jnp.einsum("mn,bn->bm", A, sample.y))}
    plain = errors_of("alista", alista, sample)
    longer = {**vm, "M": scale**2 * vm["M"]}
    found = {
        "alista, scaled": _relative(errors_of("alista", alista, moved["scaled"]), plain),
        "alista, mixed": _relative(errors_of("alista", alista, moved["mixed"]), plain),
        "lista-vm": _relative(
            errors_of("lista-vm", vm, moved["scaled"]), errors_of("lista-vm", longer, sample))}
    unscaled = _relative(
        errors_of("lista-vm", vm, moved["scaled"]), errors_of("lista-vm", vm, sample))
    return xarray.Dataset(
        {"apart": ("what", np.array(list(found.values()))), "lista_vm_moves": unscaled},
        {"what": list(found)})


def _relative(found: np.ndarray, expected: np.ndarray) -> float:
    """Median over tests of the largest relative difference over layers."""
    return float(np.median((np.abs(found - expected) / (1e-12 + expected)).max(0)))


@experiment("sparse-recovery.depths", scales={"standard": {"tests": 8000}})
def depths(
    key: Any, *, further: int = 36, tests: int = 1000, training_seed: int = 0,
    networks: tuple[str, ...] = NETWORKS,
) -> xarray.Dataset:
    """Errors after every layer when the last of 12 trained layers is used `further` times more;
    FISTA with as many steps."""
    task = SparseRecovery.create()
    sample = task.sample(key, tests)
    found = [
        errors_of(name, trained(name, task, training_seed, 2)[0].at(), sample, repeat_last=further)
        for name in networks]
    found.append(classical("fista", sample, LAYERS + further))
    axes = ("algorithm", "layer", "test")
    return xarray.Dataset(
        {"error": (axes, np.array(found))},
        {"algorithm": [*networks, "fista"], "layer": np.arange(1, LAYERS + further + 1)})


@experiment("sparse-recovery.blocks", scales={"standard": {"tests": 8000}})
def blocks(
    key: Any, *, block: int = 4, sparsity: int = 4, tests: int = 2000, training_seed: int = 0
) -> xarray.Dataset:
    """Block-sparse problems: LISTA-VM trained on free supports, LISTA-VM trained on blocks, and one
    that thresholds whole blocks."""
    free = SparseRecovery.create(sparsity=sparsity, design="orthonormal")
    blocked = SparseRecovery.create(sparsity=sparsity, design="orthonormal", block=block)
    sample = blocked.sample(key, tests)
    made = {
        "lista-vm, free supports": ("lista-vm", free),
        "lista-vm, trained on blocks": ("lista-vm", blocked),
        "block thresholds": ("lista-block", blocked)}
    found = {
        label: errors_of(name, trained(name, task, training_seed, 2)[0].at(), sample)[-1]
        for label, (name, task) in made.items()}
    found["fista"] = classical("fista", sample)[-1]
    return xarray.Dataset(
        {"error": (("algorithm", "test"), np.array(list(found.values())))},
        {"algorithm": list(found)})
