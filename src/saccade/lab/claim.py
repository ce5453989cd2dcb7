"""Claims: one statement that judges an experiment, with a prediction, a measurement, and sabotages
that must break it.

A claim reads stored runs of one experiment. `measure` turns a run into replicates (rows) of one or
more quantities (columns); `predict` gives what theory says of the same quantities; `resolution` is
the difference the claim can tell apart, and `argued` says why. Where theory and measurement meet is
only here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from saccade.lab.experiment import Experiment, Run

Kind = Literal["identity", "estimate", "bound", "ordering", "slope"]
Measure = Callable[[Run], Any]


@dataclass(frozen=True)
class Sabotage:
    """A way to break a claim: the assumption dropped, the coefficient altered, the schedule frozen.
    The verdict must be refuted."""

    name: str
    says: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    measure: Measure | None = None
    predict: Measure | None = None


@dataclass(frozen=True)
class Scale:
    """How a claim runs at one scale: experiment parameters, how many blocks the sequential looks
    may draw, and its cost."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    blocks: int = 1
    seconds: float = 1.0


@dataclass(frozen=True)
class Claim:
    """One row of the ledger.

    `resolution` is a number, one per part, or a function of the run (a share of what is predicted).
    `scales` says at which scales the claim runs (asked for a larger one, it runs at its largest).
    `side` is "below" or "above" for a bound. `parts` names the columns of `measure`. `expected` is
    "refuted" where a paper's sentence fails as written; `corrected` then names the claim that holds
    instead, and `finding` says it in one plain sentence.
    """

    id: str
    spec: str
    statement: str
    source: str
    status: str
    kind: Kind
    experiment: Experiment
    measure: Measure
    predict: Measure
    resolution: Any
    argued: str
    sabotages: tuple[Sabotage, ...]
    statistic: str = "exact"
    side: str | None = None
    parts: tuple[str, ...] = ()
    expected: str = "holds"
    scales: Mapping[str, Scale] = field(default_factory=lambda: {"quick": Scale()})
    figure: str | None = None
    finding: str = ""
    corrected: str | None = None
    requires: str | None = None

    @property
    def study(self) -> str:
        return self.id.split(".")[0]

    def describe(self) -> dict[str, Any]:
        """The static fields of the ledger's JSON."""
        return {
            "id": self.id, "study": self.study, "spec": self.spec, "statement": self.statement,
            "source": self.source, "status": self.status, "kind": self.kind, "side": self.side,
            "statistic": self.statistic, "expected": self.expected, "argued": self.argued,
            "experiment": self.experiment.id, "figure": self.figure, "finding": self.finding,
            "corrected": self.corrected, "scales": list(self.scales),
            "sabotages": [
                {"name": sabotage.name, "says": sabotage.says} for sabotage in self.sabotages]}


def columns(values: Any) -> np.ndarray:
    """Replicates as rows, quantities as columns: a scalar is one replicate of one quantity, a
    vector replicates of one."""
    array = np.asarray(values, dtype=float)
    return array.reshape(1, 1) if array.ndim == 0 else array[:, None] if array.ndim == 1 else array


def one_row(values: Any) -> np.ndarray:
    """One replicate of several quantities, for identities and other deterministic measurements."""
    return np.asarray(values, dtype=float).reshape(1, -1)
