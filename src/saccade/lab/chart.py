"""What studies bring to the atlas, where every learner meets every task: a task at a size that is
asked for (room `charts`), and a learner (room `learners`). Whatever stands there is on the map."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from saccade.contracts import Kind, Learner
from saccade.errors import InvalidInput

BOTH: tuple[Kind, ...] = ("regression", "classification")
TO_JUDGE = 30
"""So many samples of real data, at least, are left to judge by."""


def all_of(sample: Any) -> np.ndarray:
    """Every sample has tokens that matter."""
    return np.ones(len(np.asarray(sample.y)), bool)


@dataclass(frozen=True)
class ChartedTask:
    """`make(key, length, dim)` is the task (`saccade.contracts`) with its hidden directions drawn
    anew; `judged(sample)` says in which samples there is something to look at. `size` fixes
    (length, dim) of real data, `most` how many samples there are; `floor` says what `best` is.
    `quick` tasks are on the map that nothing is asked for. Samples of a `ragged` task have a `mask`
    (True where there is a token) as a field after the three."""

    id: str
    study: str
    says: str
    make: Callable[..., Any]
    floor: str = "Bayes"
    judged: Callable[[Any], np.ndarray] = all_of
    size: tuple[int, int] | None = None
    most: int | None = None
    quick: bool = True
    requires: str | None = None
    located: bool = True
    """whether the truth `where` is known"""
    ragged: bool = False

    def check(self, samples: int) -> None:
        """Real data end somewhere: a refusal in one sentence."""
        if self.most is not None and samples > self.most - TO_JUDGE:
            raise InvalidInput(
                f"samples = {samples} are too many for the task {self.id!r}, which has {self.most}"
                f" and keeps {TO_JUDGE} to judge by.")


@dataclass(frozen=True)
class ChartedLearner:
    """`make(kind)` is a learner for numbers or for labels; `kinds` are those it can take. One that
    is `ragged` takes samples that differ in their number of tokens."""

    id: str
    study: str
    says: str
    make: Callable[[Kind], Any]
    kinds: tuple[Kind, ...] = BOTH
    quick: bool = True
    ragged: bool = False

    def of(self, kind: Kind, ragged: bool = False) -> Learner:
        """The learner, or a refusal in one sentence."""
        if kind not in self.kinds:
            raise InvalidInput(f"The learner {self.id!r} takes {self.kinds[0]} only, not {kind}.")
        if ragged and not self.ragged:
            raise InvalidInput(
                f"The learner {self.id!r} reads places and takes samples of one length only, not"
                " bags that differ in theirs.")
        return self.make(kind)
