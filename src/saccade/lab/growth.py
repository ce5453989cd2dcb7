"""How cost grows with size, as a row of `saccade bench`: the exponent b of CPU seconds ~ size^b.

A study declares one at the top of its `benchmarks`, where it is found:

    GROWTH = Growth(
        "my-study.steps-against-dim", "100 steps of descent.", "dim", (1e3, 1e4, 1e5), prepare,
        Target("<=", 1.1), tiny=(10, 20))

`prepare(size)` does everything that is not to be timed (data, compilation) and gives the work: a
call that does the whole of it once and waits until it is done.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from saccade.errors import InvalidInput
from saccade.lab.timing import QUIET, Target, Work, cost, peak_memory_mb


@dataclass(frozen=True)
class Growth:
    """`axis` names what `sizes` count: dim, length, problems, ... `tiny` are the sizes of the small
    version, which is for correctness only."""

    id: str
    work: str
    axis: str
    sizes: tuple[float, ...]
    prepare: Callable[[Any], Work]
    target: Target | None = None
    tiny: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for sizes in (self.sizes, self.tiny or self.sizes):
            if len(set(sizes)) < 2 or min(sizes) <= 0:
                raise InvalidInput(
                    f"The benchmark {self.id!r} needs two different positive sizes or more.")

    @property
    def study(self) -> str:
        return self.id.split(".")[0]


def measure_growth(one: Growth, rounds: int = 7, tiny: bool = False) -> dict[str, Any]:
    """All sizes in turns, round after round, forwards and backwards; the exponent of a round is the
    slope of log seconds against log size, and the row has their median and quartiles."""
    sizes = (one.tiny or one.sizes) if tiny else one.sizes
    works = [one.prepare(size) for size in sizes]
    for work in works * QUIET:
        work()
    seconds: list[list[float]] = [[] for _ in sizes]
    for number in range(rounds):
        order = list(range(len(sizes)))
        for place in order if number % 2 == 0 else reversed(order):
            seconds[place].append(cost(works[place]).cpu)
    slopes = [slope(sizes, [own[number] for own in seconds]) for number in range(rounds)]
    low, middle, high = (
        statistics.quantiles(slopes, n=4, method="inclusive") if rounds > 1 else slopes * 3)
    judged = one.target is not None and not tiny
    return {
        "kind": "growth", "id": one.id, "work": one.work, "axis": one.axis, "sizes": list(sizes),
        "cpu_seconds": [statistics.median(own) for own in seconds], "exponent": middle,
        "exponent_low": low, "exponent_high": high,
        "target": f"exponent {one.target.direction} {one.target.value:g}" if one.target
        else "reported only", "met": one.target.met_by(middle) if one.target and judged else None,
        "peak_memory_mb": peak_memory_mb(), "rounds": rounds, "tiny": tiny}


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Least squares of log seconds on log sizes; a clock too coarse to see a call gives its
    smallest reading."""
    from time import get_clock_info

    least = get_clock_info("process_time").resolution
    x = [math.log(size) for size in sizes]
    y = [math.log(max(value, least)) for value in seconds]
    return statistics.linear_regression(x, y).slope


def sentence(row: dict[str, Any]) -> str:
    """One line on a measured row."""
    verdict = {True: "met", False: "not met", None: "not judged"}[row["met"]]
    costs = ", ".join(f"{s:.3g} s at {n:g}" for n, s in zip(row["sizes"], row["cpu_seconds"]))
    spread = f"{row['exponent_low']:.2f} .. {row['exponent_high']:.2f}"
    return (
        f"  CPU ~ {row['axis']}^{row['exponent']:.2f} ({spread}), {costs}; {row['target']}:"
        f" {verdict}")
