"""The claims of sparse recovery: the construction, its certificate, classical solvers, learned
algorithms, trained decoders."""

from collections.abc import Callable
from typing import Any

from saccade.lab.claim import Claim, Sabotage, Scale

ORDER = ("construction", "certificate", "solvers", "learned", "questions", "trained")
PAPER = "arXiv 2410.13981"


def claim(
    id: str, spec: str, statement: str, argued: str, *sabotages: Sabotage, **fields: Any
) -> Claim:
    """A claim from its name, its row on the page, what is said, why its resolution is what it is,
    and what must break it; it is ours unless a source is named."""
    texts: dict[str, Any] = {"id": id, "spec": spec, "statement": statement, "argued": argued}
    return Claim(**texts, sabotages=sabotages, **{"source": "ours", **fields})


def broken(name: str, says: str, measure: Callable[..., Any], *more: Any, **named: Any) -> Sabotage:
    """A sabotage by measuring something else, `measure(run, ...)`."""
    return Sabotage(name, says, measure=lambda run: measure(run, *more, **named))


def seconds(
    quick: float = 0, standard: float = 0, repetitions: int = 1, **parameters: Any
) -> dict[str, Scale]:
    """The scales at which a claim runs, by what it costs there, and its parameters at them."""
    costs = {"quick": quick, "standard": standard}
    return {scale: Scale(parameters, repetitions, cost) for scale, cost in costs.items() if cost}
