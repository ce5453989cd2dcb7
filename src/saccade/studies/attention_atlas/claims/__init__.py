"""Claims of the map (reading: ours): no paper asked one layer about another's task."""

from functools import partial
from typing import Any

import numpy as np

from saccade.lab.claim import Citation, Claim
from saccade.studies.attention_atlas.experiments import meetings

ORDER = ("floor", "blind", "looking", "samples", "pooling", "external")


def ours(words: str) -> Citation:
    return Citation("saccade's atlas; no paper has it", words, "ours")


ours_of_map = partial(
    Claim, source="saccade's atlas", status="measured", statistic="mean", experiment=meetings)


def of(run: Any, quantity: str, meeting: int) -> np.ndarray:
    """A quantity by draw, of the meeting of this number."""
    return run.data[quantity].values[meeting]


def columns(*values: np.ndarray) -> np.ndarray:
    """Quantities side by side, a draw a row."""
    return np.stack(values, axis=1)


def each(run: Any, quantity: str = "excess") -> np.ndarray:
    """A quantity of every meeting, side by side."""
    return run.data[quantity].values.T
