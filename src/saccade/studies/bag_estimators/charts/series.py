"""Series on the map: windows as tokens, as many in each; nobody knows which windows matter."""

from functools import cache

import numpy as np

from saccade.datasets.bags import load_bags
from saccade.datasets.recorded import Recorded
from saccade.lab.chart import ChartedTask
from saccade.studies.bag_estimators.charts import FLOOR, STUDY


@cache
def read(name: str) -> Recorded:
    """Standardised windows (n, L, d)."""
    found = load_bags(name)
    X = np.asarray(found.tokens, float).reshape(len(found), -1, found.tokens.shape[1])
    return Recorded.of_one_length(name, (X - X.mean()) / X.std(), found.labels > 0)


def _charted(name: str, says: str, count: int, length: int, dim: int) -> ChartedTask:
    return ChartedTask(
        name, STUDY, says, lambda key, *size: read(name), floor=FLOOR, size=(length, dim),
        most=count, quick=False, requires=f"data:{name}", located=False)


SERIES = (
    _charted("italy", "days of power demand, windows as tokens: winter?", 1096, 19, 6),
    _charted("arrowhead", "outlines of points, windows as tokens: class 0?", 211, 29, 24))
