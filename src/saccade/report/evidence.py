"""What a row says about its own worth, in words: how its sentence was read, whom a refutation
speaks against, how much room a bound has, and what its controls prove."""

from collections.abc import Mapping
from typing import Any

from saccade.lab.compare import finite
from saccade.lab.schema import refutes_paper
from saccade.report.words import number

READINGS = {
    "exact": "the paper's sentence at its own parameters",
    "scaled": "the paper's sentence at stated smaller sizes",
    "proxy": "another data set, model or statistic stands in",
    "ours": "a sentence of ours, not of a paper", "": "not stated for this claim"}
NOWHERE = "no factor moves it: it is 0, or the resolution alone allows what was measured"
AGAINST = {"proxy": "refuted (a stand-in)", "ours": "refuted (our reading)"}


def reading(row: Mapping[str, Any]) -> str:
    """exact, scaled, proxy, ours; empty where the claim does not say."""
    return (row.get("citation") or {}).get("reading", "")


def refuted_words(row: Mapping[str, Any]) -> str:
    """Only a sentence read as it stands refutes a paper."""
    return "refutes the paper" if refutes_paper(row) else AGAINST.get(reading(row), "refuted")


def is_loose(row: Mapping[str, Any]) -> bool:
    return bool((row.get("slack") or {}).get("loose"))


def slack_words(row: Mapping[str, Any]) -> str:
    """By how much a bound holds, or how far a two-sided prediction could move; empty for a row that
    says nothing about it."""
    slack = row.get("slack")
    if not slack:
        return ""
    low, high, share = (finite(slack.get(name)) for name in ("low", "high", "share"))
    if slack.get("factor") is None and (near_zero := _room_words(row)):
        return near_zero
    if low is None and high is None:
        return "" if not is_loose(row) else NOWHERE
    if low and high and max(1 - low, high - 1) < 0.01:
        nearest = number(min(1 - low, high - 1), 2)
        return f"for predictions within {nearest} of the stated one, relatively"
    if low and high:
        return f"for predictions from {number(low, 3)} to {number(high, 3)} times the stated one"
    factor = high if high is not None else 1 / low if low else None
    if factor is None or factor < 1:
        return ""
    measured = "" if share is None else f" (measured / bound {number(share, 3)})"
    return f"by a factor of {number(factor, 3)}{measured}"


def _room_words(row: Mapping[str, Any]) -> str:
    """For a prediction within a resolution of zero; empty for another, and for an old row."""
    slack, size = row["slack"], abs(finite(row["prediction"]) or 0.0)
    resolutions, room = (finite(slack.get(name)) for name in ("resolutions", "room"))
    if room is None or size > (finite(row["resolution"]) or 0.0):
        return ""
    if resolutions is None:
        return f"with room for {number(room, 3)}"
    return f"with room for {number(resolutions, 3)} resolutions"


def broke_words(item: Mapping[str, Any], parts: int) -> str:
    """Which of several parts a sabotage broke; empty where there is nothing to tell apart."""
    broken = item.get("broke")
    if broken is None or parts < 2 or item.get("verdict") is None:
        return ""
    if not broken:
        return "no part"
    return "every part" if len(broken) == parts else ", ".join(map(str, broken))
