"""A row of the ledger as the pages read it: which page it has, whether it passes, what its chip
says."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from saccade.errors import InvalidInput
from saccade.report import words
from saccade.report.scale_drawing import Drawing, Glyph, draw_to_scale, glyph

VERDICTS = ("holds", "refuted", "undecided", "waiting")
SYMBOLS = {"holds": "✓", "refuted": "×", "undecided": "?", "waiting": "…"}
STYLES = {word: word for word in VERDICTS} | {"refuted": "finding"}
TEXTS = ("spec", "statement", "source", "status", "kind", "argued", "finding")
NUMBERS = (
    "prediction", "measurement", "interval", "resolution", "part", "seconds", "replicates", "looks")
OTHERS = (
    "figure", "corrected", "needs", "error", "side", "experiment", "scale", "seed", "statistic")


class Chip(NamedTuple):
    """A verdict as shown: a style class, a symbol and words, so that nothing depends on colour
    alone; `note` stands beside it."""

    style: str
    symbol: str
    text: str
    note: str = ""


@dataclass(frozen=True)
class Entry:
    """One judged (or waiting) claim."""

    row: Mapping[str, Any]

    @property
    def id(self) -> str:
        return self.row["id"]

    @property
    def study(self) -> str:
        return self.row["study"]

    @property
    def short(self) -> str:
        """The id without its study."""
        return self.id.removeprefix(f"{self.study}.")

    @property
    def page(self) -> str:
        return f"claims/{words.file_name(self.id)}.html"

    @property
    def verdict(self) -> str:
        return self.row["verdict"]

    @property
    def status_word(self) -> str:
        """The status without what a claim says about it: "exact" of "exact in law: ..."; what the
        ledger is filtered by."""
        return re.split(r"[^a-z-]", self.row["status"], maxsplit=1)[0] or self.row["status"]

    @property
    def waits(self) -> bool:
        return self.verdict == "waiting"

    @property
    def as_expected(self) -> bool:
        """The verdict is the expected one. A waiting claim has none, so it never counts here."""
        return self.verdict == self.row["expected"]

    @property
    def surviving(self) -> list[str]:
        """Names of sabotages that were run and did not break the claim."""
        return [
            item["name"] for item in self.row["sabotages"]
            if item["verdict"] not in ("refuted", None)]

    @property
    def unexpected(self) -> bool:
        return not self.waits and (not self.as_expected or bool(self.surviving))

    @property
    def is_finding(self) -> bool:
        return self.row["expected"] == "refuted" or bool(self.row["finding"])

    @property
    def chip(self) -> Chip:
        if self.waits or self.as_expected:
            note = "as expected" if self.verdict == "refuted" else ""
            return Chip(STYLES[self.verdict], SYMBOLS[self.verdict], self.verdict, note)
        return Chip(
            "unexpected", SYMBOLS[self.verdict], self.verdict, f"expected: {self.row['expected']}")

    @property
    def sabotage_words(self) -> str:
        made = self.row["sabotages"]
        tried = [item for item in made if item["verdict"] is not None]
        if self.waits or not tried:
            return "not run" if made else "none"
        broken = sum(item["verdict"] == "refuted" for item in tried)
        return f"{broken} of {len(tried)} refuted"

    @cached_property
    def glyph(self) -> Glyph | None:
        return glyph(self.row)

    @cached_property
    def drawing(self) -> Drawing | None:
        return draw_to_scale(self.row)

    def glyph_of(self, numbers: Mapping[str, Any]) -> Glyph | None:
        """The small drawing of one part or sabotage of this claim."""
        return glyph({"kind": self.row["kind"], "side": self.row["side"], **numbers})


def read_rows(rows: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Entries of ledger rows; fields that an older ledger lacks are filled in, a row that is no
    claim is refused."""
    return [Entry(_complete(row)) for row in rows]


def _complete(row: Any) -> dict[str, Any]:
    if (
        not isinstance(row, Mapping) or not isinstance(row.get("id"), str)
        or row.get("verdict") not in VERDICTS
    ):
        name = row.get("id") if isinstance(row, Mapping) else row
        raise InvalidInput(
            f"ledger row {str(name)[:60]!r} needs an id and a verdict out of {', '.join(VERDICTS)}."
        )
    defaults = dict.fromkeys(TEXTS, "") | dict.fromkeys(NUMBERS) | dict.fromkeys(OTHERS)
    defaults |= {
        "study": row["id"].split(".")[0], "expected": "holds", "parts": [], "sabotages": []}
    given = {key: value for key, value in row.items() if value is not None and key != "traceback"}
    made = [
        dict.fromkeys((*NUMBERS, "verdict", "error")) | dict(item)
        for item in given.get("sabotages", ())]
    return (
        defaults | given
        | {"sabotages": [{key: item[key] for key in item if key != "traceback"} for item in made]})


class Tally(NamedTuple):
    """How many entries got which verdict; `unexpected` are those whose verdict, or a sabotage's, is
    not the expected one."""

    holds: int
    refuted: int
    undecided: int
    waiting: int
    unexpected: int
    total: int

    @property
    def judged(self) -> int:
        return self.total - self.waiting

    @property
    def chips(self) -> list[Chip]:
        """The verdicts that occur, with their numbers. Refutations count here whether or not they
        were expected."""
        said = {"holds": "hold" if self.holds != 1 else "holds"}
        counts = zip(VERDICTS, self[:4])
        found = [
            Chip(STYLES[word], SYMBOLS[word], f"{count} {said.get(word, word)}")
            for word, count in counts if count]
        return found + (
            [Chip("unexpected", "!", f"{self.unexpected} not as expected")] if self.unexpected
            else [])

    @property
    def sentence(self) -> str:
        if not self.judged:
            return "Nothing was judged yet."
        if self.unexpected:
            return f"{words.counted(self.unexpected, 'of them is', 'of them are')} not as expected."
        return "Every verdict reached is the expected one."


def tally(entries: Sequence[Entry]) -> Tally:
    counts = [sum(entry.verdict == verdict for entry in entries) for verdict in VERDICTS]
    return Tally(*counts, unexpected=sum(entry.unexpected for entry in entries), total=len(entries))
