"""How the group-sparse layer learns: exact maps first, the full-dimensional layer as their check,
online SGD for transfer. Here: which states of a run are kept, and the run itself, which notes its
divergence (`saccade.descent`).

position_map   two numbers, W11 frozen at 0, deterministic (quadrature); how its runs end
reduced_map    six free numbers, the full layer, graded nodes and antithetic pairs (Monte Carlo)
mixture_map    position-only from any attention, for labels made by any groups (quadrature)
unmerged       query and key matrices apart: every weight, and rank one in three numbers
full           every weight, fresh batches or a fixed sample, any encoding, start and variant
transfer       online SGD from learned attention, and logistic regression on the same stream
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PyTree

from saccade.descent import Watched, descend, watch, watched
from saccade.errors import require
from saccade.studies.group_sparse.task import whole_number
from saccade.studies.group_sparse.theory.stability import StepSizeWarning


class Record(NamedTuple):
    """`stops`: the steps to keep, ascending; `order` puts kept rows back as they were asked."""

    stops: Int[Array, " records"]
    order: Int[np.ndarray, " asked"]
    asked: Int[np.ndarray, " asked"]


def plan_record(steps: int, record: Sequence[int] | None = None) -> Record:
    """Which states to keep: step numbers from 0 (the start) to `steps`, in any order [last]."""
    steps = whole_number(steps, "steps", 1)
    asked = [steps] if record is None else [whole_number(step, "record", 0) for step in record]
    require(len(asked) > 0, "record", record, "must name at least one step")
    require(max(asked) <= steps, "record", max(asked), f"must lie between 0 and steps = {steps}")
    stops, order = np.unique(np.asarray(asked), return_inverse=True)
    return Record(jnp.asarray(stops), order, np.asarray(asked))


def follow(
    step: Callable, observe: Callable, start: PyTree, stops: Int[Array, " records"]
) -> tuple[Watched, PyTree]:
    """Apply `step(state, t)` from `start`; the last state with the step of its divergence, and
    `observe(state)` at every stop."""
    return descend(watched(step), lambda at, _: observe(at.state), watch(start), stops)
