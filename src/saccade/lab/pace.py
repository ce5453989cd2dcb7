"""How long the rest of some work takes, said honestly: what each piece should cost, corrected by
what the finished ones did cost, dealt out to the workers there are.

Costs are of another day, another machine and sometimes other code: they are off by a factor, and by
an error of their own, of variance s^2 in log c. Because of it large costs are more often too large
than too small, the more the worse they fit. So the seconds a of a piece that should cost c follow

    log a = m + b log c,    b = T / (T + s^2),

with T = SPREAD, the variance of true costs, and s^2 from the finished pieces (and from running ones
that are late already; BELIEF pieces' worth of belief in SCATTER; an error counts at most ODD). b is
corrected by a regression with PULL of belief in it, and m so that the finished ones add up to what
they took. Before anything is finished the costs are believed. A piece that ended at once did
nothing (what it needs is not here) and says nothing of the others. A late piece is taken to need
LATE of what it has had. The numbers were chosen on the recorded runs that `tests/lab/test_pace.py`
replays.
"""

import heapq
import math
import time
from collections.abc import Callable, Mapping

SPREAD, SCATTER, BELIEF = 0.9, 0.03, 8
PULL = 200.0
LATE = 0.2
ODD = 1.0  # an error counts no more: a piece that found its runs made says nothing of the others
CPU_YEAR = 365.25 * 24 * 3600
LEAST = 0.05  # seconds: smaller pieces cost their bookkeeping


def spoken(seconds: float) -> str:
    """A duration in the unit a person would use."""
    sizes = {"CPU-years": CPU_YEAR, "days": 86400.0, "hours": 3600.0, "minutes": 60.0}
    for name, size in sizes.items():
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {name}"
    return f"{max(seconds, 1):.0f} seconds"


class Pace:
    """`costs`: seconds by piece, in the order in which they will be handed to `workers`."""

    def __init__(
        self, costs: Mapping[str, float], workers: int, clock: Callable[[], float] = time.monotonic
    ):
        self.waiting, self.workers, self.clock = dict(costs), max(workers, 1), clock
        self.running: dict[str, tuple[float, float]] = {}  # since when, at which cost
        self.finished: list[tuple[float, float]] = []  # cost, seconds

    def start(self, name: str) -> None:
        self.running[name] = self.clock(), self.waiting.pop(name, 0.0)

    def finish(self, name: str) -> None:
        since, cost = self.running.pop(name, (self.clock(), 0.0))
        self.finished.append((cost, self.clock() - since))

    def left(self) -> float:
        """Seconds until the last piece is finished: the waiting ones go, in order, to whichever
        worker is free first."""
        now = self.clock()
        expected = fitted(self.finished)
        late = [
            (cost, now - since) for since, cost in self.running.values()
            if now - since > expected(cost)]
        expected = fitted(self.finished + late)
        free = [
            max(expected(cost) - (now - since), LATE * (now - since))
            for since, cost in self.running.values()]
        free += [0.0] * (self.workers - len(free))
        heapq.heapify(free)
        for cost in self.waiting.values():
            heapq.heapreplace(free, free[0] + expected(cost))
        return max(free)


def fitted(finished: list[tuple[float, float]]) -> Callable[[float], float]:
    """Seconds by cost, from pairs of both."""
    pairs = [
        (math.log(cost), math.log(spent)) for cost, spent in finished if min(cost, spent) > LEAST]
    if not pairs:
        return lambda cost: max(cost, LEAST)
    middle = [sum(values) / len(pairs) for values in zip(*pairs)]
    off = middle[1] - middle[0]
    errors = sum(min((y - x - off) ** 2, ODD) for x, y in pairs)
    shrink = SPREAD / (SPREAD + (BELIEF * SCATTER + errors) / (BELIEF + len(pairs)))
    spread = sum((x - middle[0]) ** 2 for x, _ in pairs)
    together = sum((x - middle[0]) * (y - middle[1]) for x, y in pairs)
    power = (PULL * shrink + together) / (PULL + spread)
    believed = sum(math.exp(power * (x - middle[0])) for x, _ in pairs)
    scale = sum(math.exp(y) for _, y in pairs) / believed
    return lambda cost: scale * math.exp(power * (math.log(max(cost, LEAST)) - middle[0]))
