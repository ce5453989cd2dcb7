"""Training by stochastic gradients: many steps in one compiled program, with curves, checkpoints
that resume exactly and clear failure.

    problem = Problem(loss, batch, optimiser, data)
    trained = train(problem, model, key, steps=5000, measure=error_on_test, measure_every=500)

Step t draws its batch from `fold_in(key, t)`, so a training is determined by (problem, model, key):
interrupted after any checkpoint and resumed, it ends bit-equal to one that was not. `devices`
spreads each batch over several devices by JAX's sharding; the loss curve is the same up to
rounding.

That a training is watched, or resumed, does not change its numbers; so that is no parameter of an
experiment but a surrounding, set by whoever started it:

    with watching(progress=print, folder="checkpoints", resume=True):
        run(experiment)
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from saccade.errors import Diverged, require
from saccade.networks.saving import Trained, load_checkpoint, save_checkpoint

SHOWN_LOSSES = 5
SECONDS_BETWEEN_CHECKPOINTS = 600.0

Progress = Callable[[str, int, int, float], None]
"""progress(name, step, steps, loss)"""


class Watch(NamedTuple):
    """Whom to tell, where checkpoints go (None: nowhere), and whether to go on from one there."""

    progress: Progress | None = None
    folder: Path | None = None
    resume: bool = False


NOBODY = Watch()
_WATCH: ContextVar[Watch] = ContextVar("watch", default=NOBODY)


@contextmanager
def watching(
    progress: Progress | None = None, folder: str | Path | None = None, resume: bool = False
) -> Iterator[None]:
    """Every training inside reports to `progress` and keeps its checkpoint in `folder` by name."""
    token = _WATCH.set(Watch(progress, None if folder is None else Path(folder), resume))
    try:
        yield
    finally:
        _WATCH.reset(token)


class Problem(NamedTuple):
    """What is trained on: `loss(model, batch)`, `batch(key, step, data)` (traced, so random and
    pure), an Optax optimiser, and `data`.

    A step takes the mean gradient of `accumulate` batches, one after the other, where one large
    batch would not fit into memory. `data` is any PyTree of arrays; it is passed to the compiled
    program as an argument rather than baked in. Trainings that share the same Problem object share
    one compiled program.
    """

    loss: Callable[[Any, Any], jax.Array]
    batch: Callable[[jax.Array, jax.Array, Any], Any]
    optimiser: optax.GradientTransformation
    data: Any = None
    accumulate: int = 1


def train(
    problem: Problem, model: Any, key: jax.Array, steps: int, *, chunk: int = 50,
    measure: Callable[[Any], Any] | None = None, measure_every: int = 0, name: str = "training",
    checkpoint: str | os.PathLike | None = None, checkpoint_every: int = 0, resume: bool = False,
    about: Mapping[str, Any] | None = None, progress: Progress | None = None, devices: int = 1,
) -> Trained:
    """Train `model` for `steps` steps, `chunk` of them in each compiled call.

    `measure(model)` (numbers of a fixed shape) is recorded at step 0, then every `measure_every`
    steps and at the end. A checkpoint is written every `checkpoint_every` steps (0: ten times in
    all), at the end, and whenever ten minutes passed without one; both are rounded up to whole
    chunks. `about` (JSON) says whose training it is: resuming another one's checkpoint is refused.
    Progress and checkpoints can also be set from outside (`watching`). A loss or gradient that is
    not finite raises `Diverged`, which carries `step` and `losses`.
    """
    require(steps >= 1, "steps", steps, "must be at least 1")
    require(chunk >= 1, "chunk", chunk, "must be at least 1")
    watch = _WATCH.get()
    progress = progress or watch.progress
    path = (
        Path(checkpoint) if checkpoint else watch.folder / f"{name}.npz" if watch.folder else None)
    state = _start(problem, model)
    if path is not None and (resume or watch.resume) and path.exists():
        state = load_checkpoint(path, state, key, about or {})
    mesh = _mesh(devices)
    save_every, saved_at = checkpoint_every or -(-steps // 10), time.monotonic()
    if measure is not None and state.step == 0:
        state = _measured(state, measure)
    while state.step < steps:
        before = state.step
        state = _advanced(problem, state, key, min(chunk, steps - before), mesh, path)
        if measure is not None and _passed(before, state.step, measure_every or steps, steps):
            state = _measured(state, measure)
        late = time.monotonic() - saved_at > SECONDS_BETWEEN_CHECKPOINTS
        if path is not None and (late or _passed(before, state.step, save_every, steps)):
            save_checkpoint(path, state, key, about or {})
            saved_at = time.monotonic()
        if progress is not None:
            progress(name, state.step, steps, float(state.losses[-1]))
    return state


def _start(problem: Problem, model: Any) -> Trained:
    nothing = np.zeros(0)
    # One program: array by array the moments of Adam are twenty.
    optimiser_state = jax.jit(problem.optimiser.init)(eqx.filter(model, eqx.is_inexact_array))
    return Trained(model, nothing, nothing, np.zeros(0, np.int64), nothing, optimiser_state)


def _passed(before: int, after: int, every: int, steps: int) -> bool:
    """Whether a multiple of `every`, or the end, lies in (before, after]."""
    return after // every > before // every or after == steps


def _measured(state: Trained, measure: Callable[[Any], Any]) -> Trained:
    value = np.asarray(measure(state.model), dtype=float)[None]
    measured = np.concatenate([state.measured, value]) if len(state.measured_steps) else value
    return state._replace(
        measured=measured, measured_steps=np.append(state.measured_steps, state.step))


def _advanced(
    problem: Problem, state: Trained, key: jax.Array, count: int, mesh: Mesh | None,
    path: Path | None,
) -> Trained:
    """`count` more steps; raises if any number on the way was not finite."""
    first = jnp.asarray(state.step)
    model, optimiser_state, losses, norms = _steps(
        problem, state.model, state.optimiser_state, key, first, count, mesh)
    losses = np.concatenate([state.losses, np.asarray(losses, float)])
    norms = np.concatenate([state.gradient_norms, np.asarray(norms, float)])
    bad = ~(np.isfinite(losses) & np.isfinite(norms))
    if bad.any():
        raise _diverged(int(np.argmax(bad)), losses, path)
    return state._replace(
        model=model, optimiser_state=optimiser_state, losses=losses, gradient_norms=norms)


@eqx.filter_jit
def _steps(
    problem: Problem, model: Any, optimiser_state: Any, key: jax.Array, first: jax.Array,
    count: int, mesh: Mesh | None,
) -> tuple[Any, Any, jax.Array, jax.Array]:
    """`count` steps in one scan: the new model and optimiser state, losses and gradient norms."""
    parameters, static = eqx.partition(model, eqx.is_inexact_array)

    def loss_of(parameters: Any, batch: Any) -> jax.Array:
        return problem.loss(eqx.combine(parameters, static), batch)

    def one(
        carry: tuple[Any, Any], step: jax.Array
    ) -> tuple[tuple[Any, Any], tuple[jax.Array, jax.Array]]:
        parameters, optimiser_state = carry
        loss, slope = _slope(
            problem, loss_of, parameters, jax.random.fold_in(key, step), step, mesh)
        updates, optimiser_state = problem.optimiser.update(slope, optimiser_state, parameters)
        return (optax.apply_updates(parameters, updates), optimiser_state), (
            loss, optax.global_norm(slope))

    carry = (parameters, optimiser_state)
    (parameters, optimiser_state), (losses, norms) = jax.lax.scan(
        one, carry, first + jnp.arange(count))
    return eqx.combine(parameters, static), optimiser_state, losses, norms


def _slope(
    problem: Problem, loss_of: Callable, parameters: Any, key: jax.Array, step: jax.Array,
    mesh: Mesh | None,
) -> tuple[jax.Array, Any]:
    """Loss and gradient of one step: of one batch, or the mean over `accumulate` of them."""
    if problem.accumulate == 1:
        batch = _spread(problem.batch(key, step, problem.data), mesh)
        return jax.value_and_grad(loss_of)(parameters, batch)

    def more(total: tuple[jax.Array, Any], key: jax.Array) -> tuple[tuple[jax.Array, Any], None]:
        batch = _spread(problem.batch(key, step, problem.data), mesh)
        return jax.tree.map(jnp.add, total, jax.value_and_grad(loss_of)(parameters, batch)), None

    keys = jax.random.split(key, problem.accumulate)
    nothing = jax.tree.map(jnp.zeros_like, parameters)
    loss_type = jax.eval_shape(
        lambda: loss_of(parameters, problem.batch(key, step, problem.data))).dtype
    total, _ = jax.lax.scan(more, (jnp.zeros((), loss_type), nothing), keys)
    return jax.tree.map(lambda leaf: leaf / problem.accumulate, total)


def _mesh(devices: int) -> Mesh | None:
    """The first `devices` devices as one axis; None for one, where nothing has to be spread."""
    known = jax.devices()
    require(
        1 <= devices <= len(known), "devices", devices,
        f"must be from 1 to {len(known)}, all that JAX sees")
    return Mesh(np.array(known[:devices]), ("data",)) if devices > 1 else None


def _spread(batch: Any, mesh: Mesh | None) -> Any:
    """Each array of the batch split along its first axis over the devices; JAX does the rest."""
    if mesh is None:
        return batch
    for leaf in jax.tree.leaves(batch):
        even = leaf.ndim > 0 and leaf.shape[0] % mesh.size == 0
        require(
            even, "batch size", leaf.shape[:1], f"must be a multiple of the {mesh.size} devices")
    return jax.lax.with_sharding_constraint(batch, NamedSharding(mesh, PartitionSpec("data")))


def _diverged(step: int, losses: np.ndarray, path: Path | None) -> Diverged:
    """The exception with the step, the losses before it and what to change."""
    shown = losses[max(0, step - SHOWN_LOSSES) : step]
    before = ", ".join(f"{loss:.3g}" for loss in shown) or "none"
    what = "the loss" if not np.isfinite(losses[step]) else "its gradient"
    saved = path is not None and path.exists()
    kept = f" The last good checkpoint is kept in {str(path)!r}." if saved else ""
    problem = Diverged(
        f"Training stopped at step {step}: {what} was not finite (losses before: {before}). Lower"
        " the learning rate, clip the gradients harder, warm up longer or start from smaller"
        f" weights.{kept}")
    problem.step, problem.losses = step, losses[: step + 1]  # type: ignore[attr-defined]
    return problem


def adam_with_cosine(
    learning_rate: float, steps: int, warmup: int = 100, last: float = 0.02, clip: float = 1.0,
    second_moment: float = 0.98,
) -> optax.GradientTransformation:
    """Linear warm-up to `learning_rate`, cosine down to `last` of it at step `steps`, gradients
    clipped to global norm `clip`: what most trainings here use."""
    require(learning_rate > 0, "learning_rate", learning_rate, "must be above 0")
    require(steps >= 1, "steps", steps, "must be at least 1")
    require(clip > 0, "clip", clip, "must be above 0")
    require(0 <= last <= 1, "last", last, "must lie in [0, 1]")
    warmup = min(warmup, steps - 1)
    schedule = optax.warmup_cosine_decay_schedule(
        0.0, learning_rate, warmup, steps, last * learning_rate)
    return optax.chain(
        optax.clip_by_global_norm(clip), optax.adam(schedule, b1=0.9, b2=second_moment))
