"""The task of this study on the map of all learners and all tasks: two sets of places, one of which
agrees with the label."""

from typing import Any

import numpy as np

from saccade.errors import require
from saccade.lab.chart import ChartedTask
from saccade.studies.spatial.task import Spatial

SPURIOUS = 0.6


def _task(key: Any, length: int, dim: int) -> Spatial:
    require(
        length % 2 == 0 and length >= 4, "length", length,
        "must be even and at least 4 for the task 'spatial', which has two sets of places")
    return Spatial.create(key, np.arange(length) % 2, dim, SPURIOUS)


SETS = ChartedTask(
    "spatial", "spatial", "one of two sets of places agrees with y, the other has look-alikes",
    _task)
