"""Claims: one statement that judges an experiment, with a prediction, a measurement, and sabotages
that must break it.

A claim reads stored runs of one experiment. `measure` turns a run into replicates (rows) of one or
more quantities (columns); `predict` gives what theory says of the same quantities; `resolution` is
the difference the claim can tell apart, and `argued` says why. Where theory and measurement meet is
only here.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from saccade.errors import InvalidInput, unknown
from saccade.lab.experiment import SCALES, Experiment, Run
from saccade.lab.intervals import STATISTICS
from saccade.lab.kinds import Kind

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

    def __post_init__(self) -> None:
        if not (self.parameters or self.measure or self.predict):
            raise InvalidInput(f"The control {self.name!r} changes nothing.")


class Repair(Sabotage):
    """What mends a claim that is expected to be refuted: under it the verdict must be holds."""


READINGS = ("exact", "scaled", "proxy", "ours")


@dataclass(frozen=True)
class Citation:
    """Where a sentence stands: the `place` (theorem, figure, table, page), the `words` or the
    number of the source, and how the claim reads them:

        exact    the source's statement at its own parameters
        scaled   the same statement at smaller sizes, which the claim states
        proxy    another data set, model or statistic stands in
        ours     no source says it

    Only `exact` and `scaled` can be said to refute a paper.
    """

    place: str
    words: str
    reading: str

    def __post_init__(self) -> None:
        if self.reading not in READINGS:
            raise unknown("reading", self.reading, READINGS)


@dataclass(frozen=True)
class Scale:
    """How a claim runs at one scale: parameters of its experiment, how many repetitions of it the
    sequential looks may draw, and its cost."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    repetitions: int = 1
    seconds: float = 1.0


def nothing(run: Run) -> float:
    """The prediction of a difference, an error or a bound that should not be there."""
    return 0.0


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One row of the ledger. Claims that share fields: `functools.partial(Claim, ...)`.

    `resolution` is a number, one per part, or a function of the run (a share of what is predicted).
    `scales` says at which scales the claim runs (asked for a larger one, it runs at its largest).
    `parts` names the columns of `measure`. `expected` is "refuted" where a paper's sentence fails
    as written; `corrected` then names the claim that holds instead, `finding` says it in one plain
    sentence, and `repairs` mend it: under each the claim must hold. One expected to hold has
    `sabotages`, each of which must be refuted, and every part is broken by one of them; one that is
    refuted anyway has none.
    """

    id: str
    spec: str
    statement: str
    source: str
    status: str = "exact"
    kind: Kind
    experiment: Experiment
    measure: Measure
    predict: Measure = nothing
    resolution: Any
    argued: str
    sabotages: tuple[Sabotage, ...]
    statistic: str = "exact"
    parts: tuple[str, ...] = ()
    expected: str = "holds"
    scales: Mapping[str, Scale] = field(default_factory=lambda: {"quick": Scale()})
    figure: str | None = None
    finding: str = ""
    corrected: str | None = None
    requires: str | None = None
    citation: Citation
    repairs: tuple[Repair, ...] = ()

    def __post_init__(self) -> None:
        """A claim that cannot be judged is refused where it is made, not amid a ledger."""
        for is_right, what in (
            (
                isinstance(self.kind, Kind),
                f"its kind is {self.kind!r}, not one of saccade.lab.kinds"),
            (
                self.statistic.split(":")[0] in {name.split(":")[0] for name in STATISTICS},
                f"its statistic is {self.statistic!r}"),
            (self.expected in ("holds", "refuted"), f"it is expected to be {self.expected!r}"),
            (
                set(self.scales) <= set(SCALES) and self.scales,
                f"its scales are {list(self.scales)}"),
            (self.measure is not self.predict, "it measures and predicts by one function"),
            (isinstance(self.sabotages, tuple), "its sabotages are no tuple"),
            (
                isinstance(self.citation, Citation),
                f"its citation is {self.citation!r}: say where its sentence stands"),
            (
                bool(self.sabotages) or self.expected == "refuted",
                "it is expected to hold and has no sabotage"),
            (
                not self.sabotages or self.expected == "holds",
                "it is expected to be refuted and has a sabotage, which would prove nothing: say"
                " what mends it"),
            (
                bool(self.repairs) or self.expected == "holds",
                "it is expected to be refuted and has no repair"),
        ):
            if not is_right:
                raise InvalidInput(f"The claim {self.id!r} cannot be judged: {what}.")

    @property
    def study(self) -> str:
        return self.id.split(".")[0]

    def describe(self) -> dict[str, Any]:
        """The static fields of the ledger's JSON."""
        same = (
            "id", "study", "spec", "statement", "source", "status", "statistic", "expected",
            "argued", "figure", "finding", "corrected")
        return {name: getattr(self, name) for name in same} | {
            "kind": self.kind.name, "side": self.kind.side, "experiment": self.experiment.id,
            "scales": list(self.scales), "citation": asdict(self.citation),
            "sabotages": [{"name": item.name, "says": item.says} for item in self.sabotages],
            "repairs": [{"name": item.name, "says": item.says} for item in self.repairs]}


def columns(values: Any) -> np.ndarray:
    """Replicates as rows, quantities as columns: a scalar is one replicate of one quantity, a
    vector replicates of one."""
    array = np.asarray(values, dtype=float)
    return array.reshape(1, 1) if array.ndim == 0 else array[:, None] if array.ndim == 1 else array


def one_row(values: Any) -> np.ndarray:
    """One replicate of several quantities, for identities and other deterministic measurements."""
    return np.asarray(values, dtype=float).reshape(1, -1)
