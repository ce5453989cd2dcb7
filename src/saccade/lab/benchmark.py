"""Speed, as a ratio to a peer that does the same work in the same run: accuracy first, then
interleaved rounds.

CPU seconds are what is compared: on a machine that others use as well, wall seconds tell who else
was working. Both are reported. Rows of another kind, how cost grows with size, are in
`lab/growth.py`.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from importlib.util import find_spec
from typing import Any, NamedTuple

from saccade.errors import require, unknown
from saccade.lab import growth, registry
from saccade.lab.growth import Growth
from saccade.lab.timing import QUIET, Cost, Target, Work, cost, peak_memory_mb


class Accuracy(NamedTuple):
    """How far the sides are apart, and may be for a comparison of their speed to mean something."""

    difference: float
    tolerance: float

    @property
    def reached(self) -> bool:
        return self.difference <= self.tolerance  # a NaN is not reached


class Sides(NamedTuple):
    """A benchmark at chosen parameters: each call does the whole work once and waits for it."""

    ours: Work
    peer: Work
    check: Callable[[], Accuracy]


@dataclass(frozen=True)
class Benchmark:
    """`prepare(**parameters)` gives the sides; ratio: the peer's CPU time over ours, or inverse."""

    id: str
    work: str
    prepare: Callable[..., Sides]
    target: Target | None = None
    ours_over_peer: bool = False
    tiny: dict[str, Any] = field(default_factory=dict)
    """parameters of the small version, which is for correctness only"""
    needs: str = ""
    """the peer's library; where it is not installed the row is left out, and that is said"""

    @property
    def study(self) -> str:
        return self.id.split(".")[0]

    @property
    def is_lacking(self) -> bool:
        return bool(self.needs) and find_spec(self.needs) is None


@dataclass(frozen=True)
class Result:
    """Seconds are medians over the rounds; low and high are the quartiles of the ratio."""

    id: str
    work: str
    ratio: float
    ratio_low: float
    ratio_high: float
    ratio_means: str
    target: str
    met: bool | None
    """None where there is no target, or where the small version says nothing about speed"""
    ours_cpu_seconds: float
    peer_cpu_seconds: float
    ours_wall_seconds: float
    peer_wall_seconds: float
    accuracy: float
    tolerance: float
    accuracy_reached: bool
    peak_memory_mb: float
    rounds: int
    tiny: bool
    kind: str = "ratio"


Row = Benchmark | Growth


def find(names: Sequence[str], known: Sequence[Row] | None = None) -> list[Row]:
    """Benchmarks whose id, its last part or study matches any name (shell wildcards), all without
    names; each must match something."""
    known = registry.benchmarks() if known is None else known
    wanted: set[str] = set()
    for name in names:
        matched = {
            one.id for one in known for label in (one.id, one.id.split(".", 1)[-1], one.study)
            if fnmatchcase(label, name)}
        if not matched:
            raise unknown("benchmark", name, [one.id for one in known])
        wanted |= matched
    return [one for one in known if not names or one.id in wanted]


def measure_all(
    names: Sequence[str] = (), rounds: int = 7, tiny: bool = False,
    report: Callable[[str], None] = lambda text: None, known: Sequence[Row] | None = None,
) -> list[dict[str, Any]]:
    """Measure them in turn; `report` is told the work before and the outcome after each."""
    require(rounds >= 1, "rounds", rounds, "must be at least 1")
    results = []
    for one in find(names, known):
        report(f"{one.id}: {one.work}")
        if isinstance(one, Growth):
            results.append(growth.measure_growth(one, rounds, tiny))
            report(growth.sentence(results[-1]))
        elif one.is_lacking:
            report(f"  left out: its peer {one.needs} is not installed")
        else:
            results.append(asdict(measure(one, rounds, tiny)))
            report(sentence(results[-1]))
    return [row | {"day": datetime.now(UTC).strftime("%Y-%m-%d")} for row in results]


def measure(one: Benchmark, rounds: int = 7, tiny: bool = False) -> Result:
    """Check that both sides do the same work, warm up, then run them in turns."""
    sides = one.prepare(**(one.tiny if tiny else {}))
    accuracy = sides.check()
    for _ in range(QUIET):
        sides.ours()
        sides.peer()
    ours, peer = _in_turns(sides, rounds)
    ratios = [_ratio(a, b, one.ours_over_peer) for a, b in zip(ours, peer)]
    low, middle, high = (
        statistics.quantiles(ratios, n=4, method="inclusive") if rounds > 1 else ratios * 3)
    judged = one.target is not None and not tiny
    return Result(
        id=one.id, work=one.work, ratio=middle, ratio_low=low, ratio_high=high,
        ratio_means="ours / peer" if one.ours_over_peer else "peer / ours",
        target=str(one.target) if one.target else "reported only",
        met=bool(accuracy.reached and one.target.met_by(middle)) if one.target and judged else None,
        ours_cpu_seconds=statistics.median(cost.cpu for cost in ours),
        peer_cpu_seconds=statistics.median(cost.cpu for cost in peer),
        ours_wall_seconds=statistics.median(cost.wall for cost in ours),
        peer_wall_seconds=statistics.median(cost.wall for cost in peer),
        accuracy=float(accuracy.difference), tolerance=float(accuracy.tolerance),
        accuracy_reached=bool(accuracy.reached), peak_memory_mb=peak_memory_mb(), rounds=rounds,
        tiny=tiny)


def _in_turns(sides: Sides, rounds: int) -> tuple[list[Cost], list[Cost]]:
    """In turns, the first alternating, so that a slow minute of the machine falls on both."""
    ours: list[Cost] = []
    peer: list[Cost] = []
    for number in range(rounds):
        turns = [(sides.ours, ours), (sides.peer, peer)]
        for work, costs in turns if number % 2 == 0 else reversed(turns):
            costs.append(cost(work))
    return ours, peer


def _ratio(ours: Cost, peer: Cost, ours_over_peer: bool) -> float:
    """By CPU time; a clock too coarse to see a tiny version gives its smallest positive reading."""
    least = time.get_clock_info("process_time").resolution
    a, b = max(ours.cpu, least), max(peer.cpu, least)
    return a / b if ours_over_peer else b / a


def sentence(result: dict[str, Any]) -> str:
    """One line on a measured benchmark."""
    verdict = {True: "met", False: "not met", None: "not judged"}[result["met"]]
    apart = f"sides {result['accuracy']:.2g} apart (allowed {result['tolerance']:.2g})"
    seconds = f"{result['ours_cpu_seconds']:.3g} s CPU against {result['peer_cpu_seconds']:.3g} s"
    spread = f"{result['ratio_low']:.3g} .. {result['ratio_high']:.3g}"
    return (
        f"  {result['ratio_means']} = {result['ratio']:.3g} ({spread}), {seconds}, {apart};"
        f" {result['target']}: {verdict}")
