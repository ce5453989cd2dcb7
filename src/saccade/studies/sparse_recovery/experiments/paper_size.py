"""The paper's decoders at the paper's size (20 coordinates, 10 rows, 3 non-zeros; 12 layers, 4
heads, width 42) and a reduced GPT-2-like one, trained on the labels of every prefix as far as
minutes reach: the learning curve, with classical and unrolled algorithms of equal depth beside it.

The paper trains on 10^6 epochs of 50,000 instances; a step here sees `batch` of them, with a new
matrix each. What is stored is the curve, so that its law can be fitted and its end be compared.
The small decoder has no LayerNorm: at a rate of 1e-3 its gradient left the finite numbers at step
66, at 1e-4 its loss at step 166. With LayerNorms it takes 1e-3. Both decoders can be trained with a
curriculum (`dynamics.curriculum`), and the GPT-2-like one on the paper's prompts, whose y-tokens
repeat x: on the first five coordinates its loss fell from 0.88 to 0.41 in 600 steps, to 0.70 on
prompts without the repetition.
"""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.experiment import experiment
from saccade.networks import transformer
from saccade.networks.training import Problem, Trained, train
from saccade.networks.transformer import Transformer, TransformerConfig
from saccade.studies.sparse_recovery.dynamics import decoders
from saccade.studies.sparse_recovery.dynamics.curriculum import Curriculum, with_curriculum
from saccade.studies.sparse_recovery.dynamics.decoders import DecoderRecipe
from saccade.studies.sparse_recovery.dynamics.solvers import squared_errors
from saccade.studies.sparse_recovery.experiments import common, full_matrix
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

REDUCED = {"width": 64, "heads": 4, "hidden": 256, "layers": 4}
"""The GPT-2-like decoder, a quarter as wide as the paper's and a third as deep, or less."""
RECORDS = 24
GROUPS = 50
"""Test tasks are taken together in so many groups, each of which has a curve of its own."""


def config_of(
    task: SparseRecovery, decoder: str, layers: int, norm: bool = False, repeat_x: bool = False
) -> TransformerConfig:
    """The small decoder, with LayerNorms where asked for, which the paper's has not; or the
    GPT-2-like one, on prompts of its own or on the paper's."""
    if decoder == "small":
        changes = {"norm": "scale", "residual_init": 0.2} if norm else {}
        return transformer.small_decoder(task.dim, layers, **changes)
    features = 2 * task.dim + 2 if repeat_x else task.dim
    sizes = {**REDUCED, "layers": min(layers, REDUCED["layers"])}
    return transformer.gpt2_decoder(features, 2 * task.measurements + 1, **sizes)


def prefix_errors(model: Transformer, sample: RecoverySample) -> np.ndarray:
    """Squared errors of the labels, [prefix][task]; the query is the last prefix."""
    labels = np.concatenate([sample.y, np.asarray(sample.query_y)[:, None]], 1)
    return ((decoders.label_estimates(model, sample) - labels) ** 2).T


@experiment(
    "sparse-recovery.paper-size",
    scales={"standard": {
        "dim": 20, "measurements": 10, "sparsity": 3, "layers": 12, "steps": 200,
        "learning_rate": 3e-5, "test_tasks": 2000}})
def paper_size(
    key: Any, *, decoder: Literal["small", "gpt2-like"] = "small", dim: int = 4,
    measurements: int = 3, sparsity: int = 1, layers: int = 2, steps: int = 200, batch: int = 64,
    learning_rate: float = 1e-3, first_dim: int = 0, first_sparsity: int = 1, grown: float = 0.5,
    norm: bool = False, repeat_x: bool = False, seeds: int = 1, test_tasks: int = 500,
    rivals: bool = True,
) -> xarray.Dataset:
    """Mean squared errors of the label after each prefix along training (`curve`, by groups of test
    tasks), at the end task by task for the query, and |b - beta|^2, whose mean over queries is the
    label's error, of algorithms with 12 steps or layers on the same tasks. Training starts with
    `first_dim` coordinates and `first_sparsity` non-zeros and has all after a share `grown` of the
    steps (0 coordinates: it has all from the start); `norm` gives the small decoder LayerNorms,
    `repeat_x` the GPT-2-like one the paper's prompts. `misled_error` is that of the query when the
    values shown are another task's."""
    require(test_tasks % GROUPS == 0, "test_tasks", test_tasks, f"must be a multiple of {GROUPS}")
    task = SparseRecovery.create(dim, measurements, sparsity)
    test_key, *keys = jax.random.split(key, seeds + 1)
    sample = task.sample(test_key, test_tasks)
    recipe = DecoderRecipe(decoder, layers, steps, batch, learning_rate=learning_rate)
    config = config_of(task, decoder, layers, norm, repeat_x)
    problem = decoders.decoder_problem(task, recipe)
    curriculum = Curriculum(first_dim, first_sparsity, grown)
    if first_dim:
        problem = with_curriculum(problem, task, curriculum, steps)
    about = {
        **recipe._asdict(), "dim": dim, "measurements": measurements,
        "curriculum": list(curriculum), "norm": norm, "repeat_x": repeat_x}
    name = f"paper-size-{decoder}{'-grown' if first_dim else ''}"
    ended = [
        _trained(problem, config, one, recipe, sample, f"{name}-seed-{number}", about)
        for number, one in enumerate(keys)]
    made = _outcome(ended, sample, batch)
    rival_key = jax.random.fold_in(key, 1)
    return made.merge(_rivals(task, rival_key, sample, config.layers)) if rivals else made


def _trained(
    problem: Problem, config: TransformerConfig, key: Any, recipe: DecoderRecipe,
    sample: RecoverySample, name: str, about: dict[str, Any],
) -> Trained:
    """One decoder from random weights, its curve on the test tasks taken on the way."""
    start_key, train_key = jax.random.split(key)

    def by_groups(model: Transformer) -> np.ndarray:
        errors = prefix_errors(model, sample)
        return errors.reshape(len(errors), GROUPS, -1).mean(-1)

    return train(
        problem, transformer.init_transformer(start_key, config), train_key, recipe.steps,
        chunk=max(1, decoders.INSTANCES_A_CHUNK // recipe.batch), measure=by_groups,
        measure_every=-(-recipe.steps // RECORDS), name=name, about=about)


def _outcome(ended: list[Trained], sample: RecoverySample, batch: int) -> xarray.Dataset:
    """Curves and final errors of decoders of several seeds on the same test tasks."""
    misled = sample._replace(y=np.roll(sample.y, 1, axis=0))
    last, lost = (
        [prefix_errors(one.model, shown)[-1] for one in ended] for shown in (sample, misled))
    steps = ended[0].measured_steps
    return xarray.Dataset(
        {
            "curve": (("seed", "record", "prefix", "group"), [one.measured for one in ended]),
            "label_error": (("seed", "task"), last), "misled_error": (("seed", "task"), lost),
            "zero_error": ("task", np.asarray(sample.query_y) ** 2),
            "instances": ("record", batch * steps), "parameters": _size(ended[0].model)},
        {"record": steps, "prefix": np.arange(ended[0].measured.shape[1])})


def _size(model: Transformer) -> int:
    leaves = jax.tree.leaves(model)
    return sum(leaf.size for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating))


def _rivals(task: SparseRecovery, key: Any, sample: RecoverySample, depth: int) -> xarray.Dataset:
    """|b - beta|^2 of algorithms with 12 steps or layers, of ISTA and FISTA with as many as the
    decoder has, of the shortest least squares and of the LASSO's minimum. All networks are trained
    on ever new matrices; LISTA and LISTA-CP then predict zero or nearly so."""
    short = sample._replace(query=None)
    numbers, full = full_matrix.trained_vm(task, key)
    networks = {
        "LISTA": ("lista", common.network("lista", key, task)),
        "LISTA-CP": ("lista-cp", common.network("lista-cp", key, task)),
        "LISTA-VM": ("lista-vm", numbers.at()), "LISTA-VM, full": ("lista-vm", full.at()),
        "ALISTA": ("alista", common.network("alista", key, task))}
    errors = {
        label: common.errors_of(name, layers, short)[-1]
        for label, (name, layers) in networks.items()}
    for name in ("ISTA", "FISTA"):
        errors[name] = common.classical(name.lower(), short)[-1]
        errors[f"{name}, its depth"] = common.classical(name.lower(), short, depth)[-1]
    shortest = np.einsum("tdn,tn->td", np.linalg.pinv(np.asarray(sample.X)), np.asarray(sample.y))
    errors |= {
        "least squares": squared_errors(shortest, np.asarray(sample.beta)),
        "LASSO": common.converged(short), "zero": (np.asarray(sample.beta) ** 2).sum(1)}
    return xarray.Dataset(
        {"rival_error": (("rival", "task"), list(errors.values()))}, {"rival": list(errors)})
