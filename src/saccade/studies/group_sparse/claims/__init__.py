"""The claims of group-sparse classification, in the order of the paper."""

from typing import Any

from saccade.lab.claim import Citation, Claim

ORDER = (
    "data", "reduction", "states", "concentration", "departures", "structure", "transfer",
    "proportion", "online", "finding", "mixtures", "schedules", "large_steps", "unmerged",
    "pretrained", "layers", "starts", "steps", "options")
OURS = Citation("none: our own statement", "", "ours")


def cited(place: str, words: str, reading: str) -> Citation:
    """Where a sentence stands in the paper, of which we have a summary with quotations."""
    return Citation(f"arXiv 2504.08638, {place}", words, reading)


def answers(place: str, words: str) -> Citation:
    """A statement of ours that answers a sentence of the paper."""
    return cited(place, words, "ours")


def claim(
    id: str, spec: str, statement: str, argued: str, finding: str = "", **fields: Any
) -> Claim:
    """A claim whose words come first: what it states, why its resolution is right, and, where there
    is more to say, what was found. It is our own statement unless a citation is given.
    `functools.partial` of it for claims that share fields."""
    texts = {"id": id, "spec": spec, "statement": statement, "argued": argued, "finding": finding}
    return Claim(**texts, **{"citation": OURS, **fields})
