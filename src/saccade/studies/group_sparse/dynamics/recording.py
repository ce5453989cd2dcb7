"""Running a map and keeping only what was asked for: a scan over the recorded steps, a counted loop
between two of them.

The gaps between recorded steps are data, not shapes, so one compiled program serves every choice of
`record` of the same length.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PyTree

from saccade.errors import require
from saccade.studies.group_sparse.task import whole_number

# A parameter beyond this is no longer training: softmax and sigmoid are long saturated.
LARGEST = 1e8


class Plan(NamedTuple):
    """`gaps`: steps between consecutive recorded ones, ascending; `order` puts the recorded rows
    back as they were asked for."""

    gaps: Int[Array, " records"]
    order: Int[np.ndarray, " asked"]
    asked: Int[np.ndarray, " asked"]


class Progress(NamedTuple):
    """The carry of a run: the state, the steps done, and the first step whose result left the
    finite numbers (-1: none)."""

    state: PyTree
    step: Int[Array, ""]
    diverged_at: Int[Array, ""]


def plan_record(steps: int, record: Sequence[int] | None) -> Plan:
    """Which states to keep: step numbers from 0 (the start) to `steps`, in any order; [the last]
    when none are named."""
    steps = whole_number(steps, "steps", 1)
    asked = [steps] if record is None else [whole_number(step, "record", 0) for step in record]
    require(len(asked) > 0, "record", record, "must name at least one step")
    require(max(asked) <= steps, "record", max(asked), f"must lie between 0 and steps = {steps}")
    ordered, order = np.unique(np.asarray(asked), return_inverse=True)
    return Plan(jnp.asarray(np.diff(ordered, prepend=0)), order, np.asarray(asked))


def _is_sound(state: PyTree) -> Array:
    """Every number is finite and below `LARGEST` in size (a NaN fails the comparison)."""
    return jnp.all(jnp.stack([jnp.all(jnp.abs(leaf) < LARGEST) for leaf in jax.tree.leaves(state)]))


def advance(
    step: Callable, observe: Callable, state: PyTree, gaps: Int[Array, " records"]
) -> tuple[Progress, PyTree]:
    """Apply `step(state, number)` (number = 0 at the first) through all gaps; return the end and
    `observe(state)` at every record."""

    def one(_, progress: Progress) -> Progress:
        state = step(progress.state, progress.step)
        newly = (progress.diverged_at < 0) & ~_is_sound(state)
        return Progress(
            state, progress.step + 1, jnp.where(newly, progress.step + 1, progress.diverged_at))

    def segment(progress: Progress, gap):
        progress = jax.lax.fori_loop(0, gap, one, progress)
        return progress, observe(progress.state)

    start = Progress(state, jnp.asarray(0), jnp.asarray(-1))
    return jax.lax.scan(segment, start, gaps)


def divergence_report(diverged_at: int, step_size: float) -> str:
    """The sentence for a run that left the finite numbers; empty for one that did not."""
    if diverged_at < 0:
        return ""
    return (
        f"diverged at step {diverged_at}: step_size = {step_size:g} is too large; try a tenth"
        " of it.")
