"""Open questions: other numbers of rows, laws of the matrix, more layers, pools, blocks."""

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.draws import draw
from saccade.studies.sparse_recovery.dynamics import learning
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


SHIFTS: dict[str, tuple[float, dict[str, Any]]] = {
    "scale 0.7": (0.7, {}), "as trained": (1.0, {}), "scale 1.1": (1.1, {}), "scale 1.3": (1.3, {}),
    "correlated 0.8": (1.0, {"design": "correlated", "correlation": 0.8}),
    "rademacher": (1.0, {"design": "rademacher"}), "uniform": (1.0, {"design": "uniform"}),
    "orthonormal": (1.0, {"design": "orthonormal"})}
"""What X and y are multiplied with, and the law of the matrix."""


COUNTS = (4, 7, 10, 12, 15, 20, 30, 40)
DEPTHS = tuple(range(4, 49, 4))
POOL, MIXED = 10, 1.3
LAWS = ("lista-vm", "lista-adaptive", "alista", "alista, no thresholds", "fista")


class Trainees(NamedTuple):
    """Networks of every method by name, trained on the task and tested on problems of their own."""

    task: SparseRecovery
    made: dict[str, learning.Trained]
    tests: int

    @property
    def networks(self) -> int:
        return len(next(iter(self.made["lista-vm"].layers.values()))[-1])

    def errors(self, label: str, sample: RecoverySample, mask: Any = None, **shares) -> np.ndarray:
        """Errors after the last layer, or of 12 steps of ISTA or FISTA, [network][test]."""
        name = label.split(",")[0]
        if name not in self.made:
            last = common.classical(name, sample, mask=mask)[-1]
            return common.by_network(last, self.networks)
        shares |= {"threshold_share": 0.0} if "no thresholds" in label else {}
        samples = common.apart(sample, self.networks)
        return common.last_errors(name, self.made[name], samples, mask, **shares)


@experiment("sparse-recovery.elsewhere", scales={"standard": {"tests": 800}})
def elsewhere(
    key: Any, *, networks: int = common.NETWORKS, tests: int = 200, steps: int = 0
) -> xarray.Dataset:
    """Networks trained on Gaussian matrices of 10 rows, tested away from them, each on problems of
    its own: on other numbers of rows (nested; also with values of the next problem from row 10 on),
    on other laws of the matrix, with the last layer repeated, on supports in a pool of which they
    are told or told wrongly, and on mixed and scaled matrices. ISTA and FISTA beside them."""
    task = SparseRecovery.create()
    train_key, *keys = jax.random.split(key, 6)
    made = {
        name: common.trained_on_many(name, task, train_key, networks, steps) for name in NETWORKS}
    who, number = Trainees(task, made, tests), networks * tests
    rows = replace(task, measurements=max(COUNTS)).sample(keys[0], number)
    return xarray.merge([
        _on_rows(who, rows), _on_laws(who, keys[1], number),
        _deeper(who, task.sample(keys[2], number)), _in_a_pool(who, keys[3], number),
        _moved(who, keys[4])])


def _on_rows(who: Trainees, sample: RecoverySample) -> xarray.Dataset:
    y = np.asarray(sample.y)
    lost = sample._replace(y=np.where(np.arange(y.shape[1]) >= 10, np.roll(y, 1, axis=0), y))
    errors = {
        label: [who.errors(label, _prefix(shown, count)) for count in COUNTS]
        for label, shown in [(name, sample) for name in (*NETWORKS, "fista")]
        + [("lista-vm, misled", lost)]}
    return _by("row_error", "row_solver", errors, ("rows", "network", "test"), rows=list(COUNTS))


def _by(
    variable: str, axis: str, errors: dict[str, Any], axes: tuple[str, ...], **at: Any
) -> xarray.Dataset:
    """A dataset of one variable, one label of the first axis after the other."""
    return xarray.Dataset(
        {variable: ((axis, *axes), list(errors.values()))}, {axis: list(errors), **at})


def _on_laws(who: Trainees, key: Any, number: int) -> xarray.Dataset:
    """All laws use the same random numbers where they can."""
    samples = [
        _times(replace(who.task, **law).sample(key, number), factor)
        for factor, law in SHIFTS.values()]
    errors = {label: [who.errors(label, sample) for sample in samples] for label in LAWS}
    return _by(
        "shift_error", "law_solver", errors, ("shift", "network", "test"), shift=list(SHIFTS))


def _deeper(who: Trainees, sample: RecoverySample) -> xarray.Dataset:
    """Errors when the last of 12 trained layers is used up to 36 times more; FISTA with as many
    steps; and the learned step of LISTA-VM's last layer."""
    more, looks = max(DEPTHS) - common.LAYERS, np.array(DEPTHS) - 1
    samples = common.apart(sample, who.networks)
    errors: dict[str, Any] = {
        name: [
            common.errors_of(name, who.made[name].at(-1, place), one, repeat_last=more)[looks]
            for place, one in enumerate(samples)]
        for name in NETWORKS}
    fista = common.classical("fista", sample, max(DEPTHS))[looks]
    errors["fista"] = common.by_network(fista, who.networks)
    made = _by("deep_error", "algorithm", errors, ("network", "layer", "test"), layer=list(DEPTHS))
    return made.assign(last_step=("network", who.made["lista-vm"].layers["M"][-1, :, -1]))


def _in_a_pool(who: Trainees, key: Any, number: int) -> xarray.Dataset:
    """Supports in the first ten coordinates, of which methods are told nothing, the truth, or that
    they lie in the others."""
    sample = replace(who.task, pool=tuple(range(POOL))).sample(key, number)
    told = np.arange(who.task.dim) < POOL
    masks = {"": None, ", told": told, ", told wrongly": ~told}
    errors = {
        name + how: who.errors(name, sample, mask) for name in ("lista-vm", "alista", "fista")
        for how, mask in masks.items()}
    return _by("pool_error", "told", errors, ("network", "test"))


def _moved(who: Trainees, key: Any) -> xarray.Dataset:
    """How far errors move, relatively, when X and y are multiplied by a number or mixed by a random
    invertible matrix: ALISTA's, LISTA-VM's, and LISTA-VM's beside those with c^2 M on X."""
    sample_key, mix_key = jax.random.split(key)
    sample = who.task.sample(sample_key, who.networks * INVARIANT)
    A = draw("normal", mix_key, (who.task.measurements,) * 2, float)
    scaled = _times(sample, MIXED)
    mixed = sample._replace(X=A @ np.asarray(sample.X), y=np.asarray(sample.y) @ A.T)
    apart = {
        f"{name}, {how}": _relative(who.errors(name, moved), who.errors(name, sample))
        for name in ("alista", "lista-vm") for how, moved in (("scaled", scaled), ("mixed", mixed))}
    longer = who.errors("lista-vm", sample, step_share=MIXED**2)
    apart["lista-vm, c^2 M"] = _relative(who.errors("lista-vm", scaled), longer)
    return _by("apart", "what", apart, ("network",))


INVARIANT = 20
"""Problems a network on which errors should not move."""


def _relative(values: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Median over a network's problems of the relative difference."""
    return np.median(np.abs(values - expected) / (1e-12 + expected), axis=1)


@experiment("sparse-recovery.blocks", scales={"standard": {"tests": 1600}})
def blocks(
    key: Any, *, block: int = 4, sparsity: int = 4, tests: int = 400,
    networks: int = common.NETWORKS, steps: int = 0,
) -> xarray.Dataset:
    """Block-sparse problems: LISTA-VM trained on free supports, LISTA-VM trained on blocks, and one
    that thresholds whole blocks; tested on blocks and on free supports."""
    free = SparseRecovery.create(sparsity=sparsity, design="orthonormal")
    tasks = {"blocks": replace(free, block=block), "free": free}
    train_key, test_key = jax.random.split(key)
    made = {
        label: (name, common.trained_on_many(name, tasks[supports], train_key, networks, steps))
        for label, (name, supports) in TRAINED_ON.items()}
    samples = [one.sample(test_key, networks * tests) for one in tasks.values()]
    errors = {
        label: [common.last_errors(*of, common.apart(sample, networks)) for sample in samples]
        for label, of in made.items()}
    errors["fista"] = [
        common.by_network(common.classical("fista", sample)[-1], networks) for sample in samples]
    return common.by_algorithm(errors, ("supports", "network", "test"), supports=list(tasks))


TRAINED_ON = {
    "lista-vm, free supports": ("lista-vm", "free"),
    "lista-vm, trained on blocks": ("lista-vm", "blocks"),
    "block thresholds": ("lista-block", "blocks")}
