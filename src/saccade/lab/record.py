"""The ledger of record: the judged ledger that travels with saccade, and its figures.

`saccade/record` holds the rows of a study in `<study>.json` (each with the scale it was judged at,
and in `judged` the date, commit, code version and libraries), the figures with their titles in
`figures.json`, their pictures in `figures`, and the index (`lab/index.py`). `tools/record.py`
writes it.

A row whose experiment has another code version here than the one that was judged is not current,
and whoever shows it says so.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from saccade.lab import index
from saccade.lab.compare import Change
from saccade.lab.fingerprint import code_version
from saccade.lab.slack import loose_words, words
from saccade.studies import STUDIES

FOLDER = files("saccade") / "record"
WAITING = "waiting"
SUMMARY = ("verdict", "scale", "as_expected", "judged", "current", "slack", "loose")

Row = dict[str, Any]


@cache
def rows() -> dict[str, dict[str, Row]]:
    """Published rows by claim and scale; those of studies that are not installed here too."""
    found: dict[str, dict[str, Row]] = {}
    for study in [*STUDIES, *sorted(_studies() - set(STUDIES))]:
        place = FOLDER / f"{study}.json"
        for row in json.loads(place.read_text("utf-8"))["claims"] if place.is_file() else ():
            found.setdefault(row["id"], {})[row["scale"]] = row
    return found


def _studies() -> set[str]:
    names = [item.name for item in FOLDER.iterdir()] if FOLDER.is_dir() else []
    return {name.removesuffix(".json") for name in names if name.endswith(".json")} - {"figures"}


@cache
def figures() -> list[dict[str, Any]]:
    """The published figures, as the report describes them."""
    place = FOLDER / "figures.json"
    return json.loads(place.read_text("utf-8"))["figures"] if place.is_file() else []


def published(claim: str, scale: str | None = None) -> Row | None:
    """The published row of a claim at `scale`; without one, its first verdict from the small scales
    up, or the row that waits."""
    known = rows().get(claim, {})
    if scale is not None:
        return known.get(scale)
    decided = [row for row in known.values() if row["verdict"] != WAITING]
    return next(iter([*decided, *known.values()]), None)


def is_current(row: Mapping[str, Any], code: Mapping[str, str] | None = None) -> bool | None:
    """Whether the code that judged a row is the code installed here (`code`: its versions by
    experiment, where they are known); None where the row does not say what judged it."""
    judged = row.get("judged")
    if not judged:
        return None
    here = (code or {}).get(row["experiment"]) or code_version(judged["module"])
    return here == judged["code"]


def misfit(row: Mapping[str, Any], claim: Mapping[str, Any]) -> str | None:
    """Why a row may not stand in the record for a claim as it is described now, or None."""
    from saccade.lab.ledger import reasons

    for name in ("statement", "expected"):
        if row[name] != claim[name]:
            return f"its {name} is no longer the claim's"
    for name in ("sabotages", "repairs"):
        if _names(row.get(name)) != _names(claim[name]):
            return f"its {name} are no longer the claim's"
    controls = [*row["sabotages"], *row.get("repairs", [])]
    for name, holders in (("citation", [row]), ("slack", [row]), ("broke", controls)):
        if any(name not in holder for holder in holders):
            return f"it does not say its {name}"
    return next(iter([] if row["verdict"] == WAITING else reasons(row)), None)


def _names(controls: Iterable[Mapping[str, Any]] | None) -> list[str]:
    return [item["name"] for item in controls or ()]


def summary(row: Row, code: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A published verdict in a few words."""
    more = {"current": is_current(row, code), "loose": loose_words(row)}
    return {name: (row | more).get(name) for name in SUMMARY}


def told(row: Mapping[str, Any] | None) -> str:
    """A published verdict (as `summary` gives it) in a line."""
    if row is None:
        return "not judged"
    room = words(row.get("slack"))
    items = [
        f"{row['verdict']} at {row['scale']}", "" if room == "-" else f"slack {room}",
        f"judged {row['judged']['date']}" if row["judged"] else "",
        "by earlier code" if row["current"] is False else ""]
    return ", ".join(filter(None, items))


def in_listing(claims: Iterable[Row]) -> list[Row]:
    """Descriptions of claims, each with its published verdict (or None)."""
    known = [(item, published(item["id"])) for item in claims]
    return [
        item | {"published": row and summary(row, index.of(item["study"])["code"])}
        for item, row in known]


def with_published(judged: Sequence[Row]) -> list[Row]:
    """Rows of a ledger; those that wait here carry the published row of another scale."""
    return [
        row | {"published": _elsewhere(row)} if row["verdict"] == WAITING else row for row in judged
    ]


def _elsewhere(row: Row) -> Row | None:
    found = published(row["id"])
    if found is None or found["verdict"] == WAITING:
        return None
    return found | {"current": is_current(found)}


class Agreement(NamedTuple):
    """How a ledger compares with the record: verdicts judged in both at the same scale, those that
    differ, and claims that only the ledger judged."""

    compared: int
    differing: list[Change]
    unpublished: list[str]

    @property
    def sentence(self) -> str:
        if not self.compared:
            return "No verdict of this ledger is in the ledger of record."
        same = self.compared - len({item.claim for item in self.differing})
        return f"{same} of {self.compared} verdicts as published."


def agreement(judged: Sequence[Row]) -> Agreement:
    """Verdicts, and those of sabotages and repairs, against the published ones."""
    from saccade.lab.compare import compare

    decided = [row for row in judged if row["verdict"] != WAITING]
    pairs = [(row, published(row["id"], row["scale"])) for row in decided]
    both = [(row, old) for row, old in pairs if old and old["verdict"] != WAITING]
    changed = compare([old for _, old in both], [row for row, _ in both]).changed
    known = {row["id"] for row, _ in both}
    return Agreement(len(both), changed, [row["id"] for row in decided if row["id"] not in known])
