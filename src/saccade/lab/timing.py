"""What one call costs, and what may be asked of it: the measures that all benchmarks share."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

Work = Callable[[], Any]
QUIET = 2  # rounds that are run and forgotten: compilation, caches, the first touch of memory


class Cost(NamedTuple):
    """What one call took."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Target:
    """The ratio or exponent asked for: at least (`>=`) or at most (`<=`) a value."""

    direction: str
    value: float

    def met_by(self, number: float) -> bool:
        return number >= self.value if self.direction == ">=" else number <= self.value

    def __str__(self) -> str:
        return f"ratio {self.direction} {self.value:g}"


def cost(work: Work) -> Cost:
    """One call, with the garbage collector held back: it must not fall on one side by chance."""
    gc.collect()
    gc.disable()
    try:
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        return Cost(time.process_time() - cpu, time.perf_counter() - wall)
    finally:
        gc.enable()


def peak_memory_mb() -> float:
    """The most resident memory this process and its children have had, in MB (10^6 bytes)."""
    import resource
    import sys

    unit = 1 if sys.platform == "darwin" else 1024  # what ru_maxrss counts in
    peaks = (
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(peaks) * unit / 1e6
