"""The task of this study on the map of all learners and all tasks: one fixed group decides."""

from typing import Any

import jax
import numpy as np

from saccade.lab.chart import ChartedTask
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task


def _task(key: Any, length: int, dim: int) -> GroupSparseTask:
    return group_sparse_task(length, dim, direction=np.asarray(jax.random.normal(key, (dim,))))


GROUPS = ChartedTask(
    "group-sparse", "group-sparse", "the sign of one direction at a fixed, unmarked place", _task)
