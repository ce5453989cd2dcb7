"""The claims of sparse recovery: the task, what is computed beside plain versions of it, the
construction, its certificate, classical solvers, learned algorithms, trained decoders."""

from collections.abc import Callable
from typing import Any

from saccade.lab.claim import Citation, Claim, Sabotage, Scale

ORDER = (
    "data", "by_hand", "construction", "certificate", "solvers", "lasso", "learned", "full_matrix",
    "questions", "trained", "inside", "probing", "paper_size", "rates", "outside")
PAPER = "arXiv 2410.13981"
OURS = Citation("none: our own statement", "", "ours")


def cited(place: str, words: str, reading: str) -> Citation:
    """Where a sentence stands in the paper, of which we have a summary with quotations."""
    return Citation(f"{PAPER}, {place}", words, reading)


def answers(place: str, words: str) -> Citation:
    """A statement of ours that answers a sentence or a question of the paper."""
    return cited(place, words, "ours")


LINEAR_RATE = "a provable convergence rate linear in K"
OTHER_MATRICES = (
    "able to solve sparse recovery problems generated with different measurement matrices")
MUST_MATCH = "require the measurement matrix involved in training to match that in testing"
OTHER_LENGTHS = "Transformers can handle different numbers of measurements during inference"
STRUCTURE = "can leverage structural information embedded in the training tasks"
POOLED = (
    "if the support of beta lies in a subset S of [1:d], [...] then by slightly modifying the"
    " parameters of the Transformer [...] the ICL performance can be improved")
UNLIKE_CLASSICAL = (
    "Transformers generalize across different measurement matrices without retraining, unlike"
    " classical L2O algorithms requiring parameter updates")
COMPARABLE = (
    "Transformers achieve comparable or better performance than traditional iterative algorithms"
    " (ISTA, FISTA) and L2O algorithms")


def claim(
    id: str, spec: str, statement: str, argued: str, *sabotages: Sabotage, **fields: Any
) -> Claim:
    """A claim from its name, its row on the page, what is said, why its resolution is what it is,
    and what must break it; it is ours unless a source and a citation are given."""
    texts: dict[str, Any] = {"id": id, "spec": spec, "statement": statement, "argued": argued}
    return Claim(**texts, sabotages=sabotages, **{"source": "ours", "citation": OURS, **fields})


def broken(name: str, says: str, measure: Callable[..., Any], *more: Any, **named: Any) -> Sabotage:
    """A sabotage by measuring something else, `measure(run, ...)`."""
    return Sabotage(name, says, measure=lambda run: measure(run, *more, **named))


def seconds(
    quick: float = 0, standard: float = 0, repetitions: int = 1, **parameters: Any
) -> dict[str, Scale]:
    """The scales at which a claim runs, by what it costs there, and its parameters at them."""
    costs = {"quick": quick, "standard": standard}
    return {scale: Scale(parameters, repetitions, cost) for scale, cost in costs.items() if cost}
