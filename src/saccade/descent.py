"""Running a map for many steps and keeping only what was asked for: the one recorder of descent.

One compiled loop: a scan over the recorded stops, a counted loop between two of them. The numbers
of steps are data, not shapes, so one program serves every choice of stops of the same length, and
memory is proportional to what is recorded.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PyTree

import saccade.precision  # noqa: F401  float64 before the first array

# A parameter beyond this is no longer training: softmax and sigmoid are long saturated.
LARGEST = 1e8


def descend(
    step: Callable[[Any, Any], Any], observe: Callable[[Any, Any], Any], state: PyTree,
    stops: Int[Array, " stops"],
) -> tuple[Any, Any]:
    """Apply `state = step(state, t)` for t = 0, 1, ..., and call `observe(state, stop)` after each
    number of steps in the ascending `stops`.

    Returns (state at the last stop, observations with the stops leading).
    """

    def advance(carry, stop):
        state, start = carry
        state = jax.lax.fori_loop(start, stop, lambda t, state: step(state, t), state)
        return (state, stop), observe(state, stop)

    (state, _), observed = jax.lax.scan(advance, (state, jnp.zeros((), stops.dtype)), stops)
    return state, observed


class Watched(NamedTuple):
    """A state, and the first step whose result left the finite numbers (-1: none did)."""

    state: PyTree
    diverged_at: Int[Array, ""]


def watch(state: PyTree) -> Watched:
    """The start of a descent that notes its divergence."""
    return Watched(state, jnp.asarray(-1))


def watched(step: Callable[[Any, Any], Any]) -> Callable[[Watched, Any], Watched]:
    """The same step on a watched state."""

    def one(before: Watched, t: Any) -> Watched:
        state = step(before.state, t)
        newly = (before.diverged_at < 0) & ~_is_sound(state)
        return Watched(state, jnp.where(newly, t + 1, before.diverged_at))

    return one


def _is_sound(state: PyTree) -> Array:
    """Every number is finite and below `LARGEST` in size (a NaN fails the comparison)."""
    leaves = jax.tree.leaves(state)
    return jnp.all(jnp.stack([jnp.all(jnp.abs(leaf) < LARGEST) for leaf in leaves]))


def divergence_report(diverged_at: int, step_size: float, name: str = "step_size") -> str:
    """The sentence for a run that left the finite numbers; empty for one that did not. `name` is
    what the user calls the step size."""
    advice = f"{name} = {step_size:g} is too large; try a tenth of it."
    return f"diverged at step {diverged_at}: {advice}" if diverged_at >= 0 else ""
