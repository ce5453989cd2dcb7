"""The claims of sparse recovery: the construction, its certificate, classical solvers, learned
algorithms, trained decoders."""

from collections.abc import Callable
from typing import Any

from saccade.lab.claim import Claim, Sabotage

ORDER = (
    "construction", "certificate", "solvers", "learned", "questions", "trained", "trained_limits")
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
