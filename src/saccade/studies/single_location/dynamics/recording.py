"""What a run of descent keeps: which steps, and the overlaps and risk there."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from saccade.arrays import Array
from saccade.descent import descend
from saccade.errors import require
from saccade.studies.single_location import theory
from saccade.studies.single_location.theory import Overlaps, Setting, risk

Numbers = Float[Array, "..."]
Stops = Int[Array, " stops"]
Observed = tuple[Overlaps, Array]
Record = int | Sequence[int] | np.ndarray | None
"""What to keep: every so many steps (the last if they are fewer), the given ascending steps, or
the last one only."""


class Trajectory(NamedTuple):
    """What was recorded on the way, in NumPy arrays with the steps as the last axis: step numbers
    (1 is the state after the first step, 0 the start), overlaps and risk there, with the inverse
    temperature of that step; then the overlaps after the last step, recorded or not, and the first
    recorded step at which a number was not finite, or -1."""

    steps: Int[np.ndarray, " recorded"]
    overlaps: Overlaps
    risk: Float[np.ndarray, "*batch recorded"]
    final: Overlaps
    diverged_at: Int[np.ndarray, "*batch"]


def follow(
    step: Callable[[Any, Any, Setting], Any], overlaps: Callable[[Any], Overlaps], state: Any,
    setting: Setting, decay: Array, stops: Stops, risk: Callable[[Overlaps, Setting], Array] = risk,
) -> Observed:
    """`state = step(state, t, setting of step t)` for t = 0, 1, ...; the overlaps and the risk
    after each number of steps in `stops`. To be called inside a compiled function.

    The risk is judged at the temperature of the step that led there (the start, of the first).
    """

    def observe(state, stop):
        here = overlaps(state)
        return here, risk(here, _cooled(setting, decay, jnp.maximum(stop - 1, 0)))

    def advance(state, t):
        return step(state, t, _cooled(setting, decay, t))

    return descend(advance, observe, state, stops)[1]


def _cooled(setting: Setting, decay: Array, t: Array) -> Setting:
    """The setting of step t (0 is the first): lambda_t = lambda / (1 + decay t)."""
    return setting._replace(
        inverse_temperature=jnp.asarray(setting.inverse_temperature) / (1 + decay * t))


def trajectory(
    run: Callable[[np.ndarray], Observed], steps: int, record: Record, least: int = 8
) -> Trajectory:
    """What `run(stops)` observes, at `least` so many stops."""
    recorded = steps_to_record(steps, record)
    overlaps, risk = run(_with_end(recorded, steps, least))
    # In NumPy: thirty JAX operations outside a compiled function would cost a thousand steps.
    observed = [np.asarray(values) for values in (*overlaps, risk)]
    *kept, kept_risk = (np.moveaxis(values[: len(recorded)], 0, -1) for values in observed)
    final = Overlaps(*(values[-1] for values in observed[:-1]))
    broken = ~np.isfinite(np.stack([*kept, kept_risk])).all(axis=0)
    first = np.append(recorded, -1)[np.argmax(broken, axis=-1)] if recorded.size else -1
    diverged_at = np.where(broken.any(axis=-1), first, -1)
    return Trajectory(recorded, Overlaps(*kept), kept_risk, final, diverged_at)


def steps_to_record(steps: int, record: Record = None) -> np.ndarray:
    """The step numbers to keep, checked."""
    require(_is_whole(steps) and steps >= 0, "steps", steps, "must be a whole number of at least 0")
    if isinstance(record, int | float):
        whole = _is_whole(record) and record >= 1
        require(whole, "record", record, "must be a list, or a whole number of at least 1")
        if steps < record:  # at least the end
            return np.array([steps], dtype=np.int64)
        return np.arange(record, steps + 1, record, dtype=np.int64)
    wanted = np.asarray([steps] if record is None else record, dtype=float)
    require(wanted.ndim == 1, "record", record, "must be a list of step numbers")
    inside = bool(np.all((wanted >= 0) & (wanted <= steps) & (wanted == np.floor(wanted))))
    require(inside, "record", record, f"must hold whole numbers in 0..{steps} (steps)")
    require(bool(np.all(np.diff(wanted) >= 0)), "record", record, "must be ascending")
    return wanted.astype(np.int64)


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and float(value).is_integer()


def _with_end(recorded: np.ndarray, steps: int, least: int) -> Int[np.ndarray, " stops"]:
    """What is recorded, then the end, repeated until their number is a power of two: so runs that
    record a different number of steps mostly share one compiled program."""
    size = max(least, 2 ** int(np.ceil(np.log2(len(recorded) + 1))))
    return np.append(recorded, np.full(size - len(recorded), steps))


def check_run(setting: Setting, step_size: Any, decay: Any) -> None:
    """`InvalidInput` for a setting, a step size or a decay that no run can have."""
    theory.check_setting(setting)
    for name, value in (("step_size", step_size), ("decay", decay)):
        numbers = np.asarray(value, dtype=float)
        fine = bool(np.all(np.isfinite(numbers) & (numbers >= 0)))
        require(fine, name, value, "must be finite and at least 0")


def as_batch(overlaps: Overlaps, setting: Setting, step_size: Any, decay: Any) -> tuple:
    """All of these, checked, as NumPy floats; the overlaps have the shape of the whole batch."""
    theory.check_overlaps(overlaps)
    check_run(setting, step_size, decay)
    numbers = [np.asarray(value, float) for value in (*overlaps, *setting, step_size, decay)]
    shape = np.broadcast_shapes(*map(np.shape, numbers))
    start = Overlaps(*(np.broadcast_to(value, shape) for value in numbers[:5]))
    return start, Setting(*numbers[5:10]), *numbers[10:]
