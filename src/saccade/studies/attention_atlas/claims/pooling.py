"""Where pooling is enough: the sparse-token theory's line, asked for by the calculator's name, and
the map."""

from functools import cache

from saccade.lab import registry
from saccade.lab.claim import Sabotage
from saccade.lab.kinds import ESTIMATE
from saccade.studies.attention_atlas.claims import each, of_map

SETTINGS = {
    "sparse-token-1-theta-2": (1, 2.0), "sparse-token-1": (1, 4.0),
    "sparse-token-1-theta-6": (1, 6.0), "sparse-token-3": (3, 2.0),
    "sparse-token-3-theta-3": (3, 3.0)}
"""R and theta of each task"""


@cache
def oracle(length: int, informative: int, signal: float) -> float:
    """The smallest error of mean pooling, from the study that has its formula."""
    name = "sparse-token.oracle-error"
    calculator = registry.one("calculator", name, registry.of_study(name, registry.calculators))
    answer = calculator(
        {"length": length, "informative": informative, "signal": signal, "positive_rate": 0.5})
    return float(answer["pooled"])


def _line(run, longer: int = 1):
    return [oracle(longer * run.parameters.length, *one) for one in SETTINGS.values()]


POOLING = of_map(
    "AA-10", "pooling-on-its-line",
    "Where pooling is enough is where theory says: from 800 samples a linear function of the"
    " mean token errs as the theory of sparse tokens says of pooling that knows the direction,"
    " within .03, from one faint token in eight to three clear ones.", tuple(SETTINGS), ("pooled",),
    (800,), seconds=8, figure="curves", kind=ESTIMATE, measure=lambda run: each(run, "error"),
    predict=_line, resolution=0.03, argued="8 weights learned from 800 samples cost about .01",
    parts=tuple(f"R = {count}, theta = {signal:g}" for count, signal in SETTINGS.values()),
    sabotages=(
        Sabotage(
            "twelve samples", "Learn from 12 samples: the direction is not known.",
            {"samples": (12,)}),
        Sabotage(
            "twice as long", "The theory's line for sequences of twice as many tokens.",
            predict=lambda run: _line(run, 2))))
