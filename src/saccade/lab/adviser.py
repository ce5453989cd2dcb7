"""Advisers: what a study's theory says about somebody's data, once a few numbers of them are known.

A study that can say something offers an `Adviser` in its module `advice`; `saccade.advise` asks all
that there are. Names of classifiers are those of `saccade.advise`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Facts(NamedTuple):
    """n bags of `length` tokens in `dim` dimensions; in a positive one `informative` tokens are
    shifted by `signal` deviations of the noise."""

    n: int
    length: int
    dim: int
    signal: float
    informative: int
    positive_rate: float


class Change(NamedTuple):
    """`better` has the smaller error than `worse` from n bags on; None: nowhere up to `most`."""

    better: str
    worse: str
    n: float | None
    most: float


class Forecast(NamedTuple):
    """Predicted test error of each classifier at these n, `n[here]` being that of the facts; the
    smallest of any classifier; where the order changes."""

    n: list[float]
    here: int
    errors: Mapping[str, list[float]]
    smallest: float
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Adviser:
    """`forecast(facts)` predicts; `says` is the model it assumes, in one clause."""

    id: str
    says: str
    source: str
    status: str
    forecast: Callable[[Facts], Forecast]

    @property
    def study(self) -> str:
        return self.id.split(".")[0]
