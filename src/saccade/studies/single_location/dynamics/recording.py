"""Running a map for many steps and keeping only what was asked for: one compiled loop, memory
proportional to what is recorded."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int

from saccade.errors import require
from saccade.studies.single_location.theory import Overlaps, Setting


class Trajectory(NamedTuple):
    """What was seen on the way, in NumPy arrays. Recorded ones carry the recorded steps on their
    last axis, after the batch's."""

    steps: Int[np.ndarray, " recorded"]
    """The recorded step numbers; 1 is the state after the first step, 0 the start."""
    overlaps: Overlaps
    """The five overlaps at those steps."""
    risk: Float[np.ndarray, "*batch recorded"]
    """The risk at those overlaps, with the inverse temperature that the recorded step used."""
    final: Overlaps
    """The overlaps after the last step, recorded or not."""
    diverged_at: Int[np.ndarray, "*batch"]
    """The first recorded step at which a number was not finite, or -1."""


def steps_to_record(
    steps: int, record_every: int | None = None, record: Sequence[int] | None = None
) -> np.ndarray:
    """The step numbers to keep: every k-th one, or the given ascending list, or (told nothing) the
    last one."""
    require(_is_whole(steps) and steps >= 0, "steps", steps, "must be a whole number of at least 0")
    require(
        record is None or record_every is None, "record_every", record_every,
        "cannot be given together with record")
    if record_every is not None:
        whole = _is_whole(record_every) and record_every >= 1
        require(whole, "record_every", record_every, "must be a whole number of at least 1")
        return np.arange(record_every, steps + 1, record_every, dtype=np.int64)
    wanted = np.asarray([steps] if record is None else record, dtype=float)
    require(wanted.ndim == 1, "record", record, "must be a list of step numbers")
    inside = bool(np.all((wanted >= 0) & (wanted <= steps) & (wanted == np.floor(wanted))))
    require(inside, "record", record, f"must hold whole numbers in 0..{steps} (steps)")
    require(bool(np.all(np.diff(wanted) >= 0)), "record", record, "must be ascending")
    return wanted.astype(np.int64)


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and float(value) == int(value)


def run_recorded(
    step: Callable, observe: Callable, state: Any, stops: Int[Array, " stops"]
) -> tuple[Any, Any]:
    """Apply `state = step(state, t)` for t = 0, 1, ..., and call `observe(state, stop)` after each
    number of steps in `stops`.

    An outer scan over the stops, an inner loop of the length between two of them: the compiled
    program does not depend on the number of steps, and only what is observed is stored. Returns
    (state at the last stop, observations with stops leading).
    """

    def advance(carry, stop):
        state, start = carry
        state = jax.lax.fori_loop(start, stop, lambda t, state: step(state, t), state)
        return (state, stop), observe(state, stop)

    (state, _), seen = jax.lax.scan(advance, (state, jnp.zeros((), stops.dtype)), stops)
    return state, seen


def with_end(recorded: np.ndarray, steps: int) -> Int[np.ndarray, " stops"]:
    """The stops of a run: what is recorded, then the end, repeated until their number is a power of
    two, at least 8.

    So runs that record a different number of steps mostly share one compiled program.
    `as_trajectory` drops the padding.
    """
    size = max(8, 2 ** int(np.ceil(np.log2(len(recorded) + 1))))
    return np.append(recorded, np.full(size - len(recorded), steps))


def as_trajectory(recorded: np.ndarray, overlaps: Overlaps, risk: Array) -> Trajectory:
    """Observations with stops leading, the end last -> a `Trajectory` with recorded steps on the
    last axis.

    In NumPy: thirty JAX operations outside a compiled function would cost as much as a thousand
    steps.
    """
    count = len(recorded)
    seen = [np.asarray(values) for values in (*overlaps, risk)]
    *kept, kept_risk = (np.moveaxis(values[:count], 0, -1) for values in seen)
    final = Overlaps(*(values[-1] for values in seen[:-1]))
    broken = first_not_finite(recorded, Overlaps(*kept), kept_risk)
    return Trajectory(recorded, Overlaps(*kept), kept_risk, final, broken)


def first_not_finite(
    steps: np.ndarray, overlaps: Overlaps, risk: np.ndarray
) -> Int[np.ndarray, "*batch"]:
    """The first recorded step at which the risk or an overlap is not a finite number, or -1."""
    if steps.size == 0:
        return np.full(risk.shape[:-1], -1)
    broken = ~np.isfinite(np.stack([*overlaps, risk])).all(axis=0)
    return np.where(broken.any(axis=-1), steps[np.argmax(broken, axis=-1)], -1)


def cooled(setting: Setting, decay: Float[Array, ""], t: Int[Array, ""]) -> Setting:
    """The setting of step t (0 is the first): lambda_t = lambda / (1 + decay t)."""
    return setting._replace(
        inverse_temperature=jnp.asarray(setting.inverse_temperature) / (1 + decay * t))


def cooled_at(setting: Setting, decay: Float[Array, ""], stop: Int[Array, ""]) -> Setting:
    """The setting that the step leading to recorded number `stop` used (the start itself is judged
    with that of the first step)."""
    return cooled(setting, decay, jnp.maximum(stop - 1, 0))


def check_run(step_size: Any, decay: Any) -> None:
    """Refuse a step size or a decay that no run can have."""
    for name, value in (("step_size", step_size), ("decay", decay)):
        numbers = np.asarray(value, dtype=float)
        fine = bool(np.all(np.isfinite(numbers) & (numbers >= 0)))
        require(fine, name, value, "must be finite and at least 0")


def numbers(values: Iterable[ArrayLike]) -> tuple[Array, ...]:
    """The fields of overlaps or of a setting as float arrays, to be unpacked by name."""
    return tuple(jnp.asarray(value, float) for value in values)


def as_batch(overlaps: Overlaps, setting: Setting, *others: Any) -> tuple:
    """Everything as NumPy floats, for a compiled function to take; the overlaps have the common
    shape of the whole batch."""
    given = Overlaps(*_floats(overlaps)), Setting(*_floats(setting)), *_floats(others)
    shape = np.broadcast_shapes(*(np.shape(value) for value in (*given[0], *given[1], *given[2:])))
    return Overlaps(*(np.broadcast_to(value, shape) for value in given[0])), *given[1:]


def _floats(values: Iterable[Any]) -> list[np.ndarray]:
    return [np.asarray(value, float) for value in values]
