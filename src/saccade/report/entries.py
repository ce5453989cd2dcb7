"""A row of the ledger as the pages read it: which page it has, whether it passes, what its chip
says, and what a reader types to get it again."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from saccade.errors import InvalidInput
from saccade.lab import slack
from saccade.lab.precisions import DOUBLE
from saccade.lab.schema import refutes_paper
from saccade.report import evidence, words
from saccade.report.scale_drawing import Drawing, Glyph, draw_to_scale, glyph

VERDICTS = ("holds", "refuted", "undecided", "waiting")
SIGNS = {"holds": "yes", "refuted": "no", "undecided": "open", "waiting": "later"}  # by style.css
STYLES = {word: word for word in VERDICTS} | {"refuted": "finding"}
TEXTS = ("spec", "statement", "source", "status", "kind", "argued", "finding")
NUMBERS = (
    "prediction", "measurement", "interval", "resolution", "part", "seconds", "replicates", "looks")
OTHERS = (
    "figure", "corrected", "needs", "error", "side", "experiment", "scale", "seed", "statistic",
    "judged", "current", "published", "citation", "slack", "unbroken", "setting", "changes",
    "precision")


class Chip(NamedTuple):
    """A verdict as shown: style class, sign and words, so that nothing depends on colour alone;
    `note` stands beside it."""

    style: str
    sign: str
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
        """What the ledger is filtered by: "exact" of "exact in law: ..."."""
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
        return [item["name"] for item in self.tried_sabotages if item["verdict"] != "refuted"]

    @property
    def unmended(self) -> list[str]:
        """Names of repairs that were run and under which the claim does not hold."""
        return [
            item["name"] for item in self.row["repairs"] if item["verdict"] not in ("holds", None)]

    @property
    def trivial(self) -> list[tuple[str, str]]:
        """Controls that prove nothing, with the reason."""
        items = (*self.row["sabotages"], *self.row["repairs"])
        return [(item["name"], item["trivial"]) for item in items if item.get("trivial")]

    @property
    def unbroken(self) -> list[str]:
        """Parts that none of its judged sabotages broke."""
        return list(map(str, self.row["unbroken"] or ()))

    @property
    def unexpected(self) -> bool:
        controls = (self.surviving, self.unmended, self.trivial, self.unbroken)
        return not self.waits and (not self.as_expected or any(controls))

    @property
    def is_finding(self) -> bool:
        return self.row["expected"] == "refuted" or bool(self.row["finding"])

    @property
    def chip(self) -> Chip:
        refuted = self.verdict == "refuted"
        text = evidence.refuted_words(self.row) if refuted else self.verdict
        if self.waits or self.as_expected:
            note = "as expected" if refuted else ""
            return Chip(STYLES[self.verdict], SIGNS[self.verdict], text, note)
        return Chip("unexpected", SIGNS[self.verdict], text, f"expected: {self.row['expected']}")

    @property
    def reading(self) -> str:
        return evidence.reading(self.row)

    @property
    def loose(self) -> bool:
        return evidence.is_loose(self.row)

    @property
    def loose_words(self) -> str:
        """Whether it is loose, or how many of its parts are; empty for none."""
        return slack.loose_words(self.row)

    @property
    def slack_words(self) -> str:
        return evidence.slack_words(self.row)

    @property
    def is_bound(self) -> bool:
        return self.row["kind"] in ("bound", "ordering")

    @property
    def bound_word(self) -> str:
        """What the ledger is filtered by: whether a bound or an ordering is loose, in a part at
        least; empty for other kinds."""
        return ("loose" if self.loose_words else "tight") if self.is_bound else ""

    @property
    def against_paper(self) -> bool:
        return refutes_paper(self.row)

    @property
    def tells_parts(self) -> bool:
        """Whether its controls say which of several parts they broke."""
        controls = (*self.row["sabotages"], *self.row["repairs"])
        return any(self.broke_words(item) for item in controls)

    def broke_words(self, item: Mapping[str, Any]) -> str:
        return evidence.broke_words(item, len(self.row["parts"]))

    @cached_property
    def published(self) -> "Entry | None":
        """The same claim as the ledger of record has it at another scale."""
        return Entry(_complete(self.row["published"])) if self.row["published"] else None

    @property
    def shown(self) -> "Entry":
        """Whose numbers the ledger shows: its own, or the published ones of a claim that waits."""
        return self.published or self if self.waits else self

    @property
    def outdated(self) -> bool:
        """Judged by other code than is installed here."""
        return self.row["current"] is False

    @property
    def judged_words(self) -> str:
        """When and by which commit, as far as the row says."""
        judged = self.row["judged"] or {}
        commit = f", commit {judged['commit']}" if judged.get("commit") else ""
        return f"{judged['date']}{commit}" if judged.get("date") else ""

    def other_versions(self, here: Mapping[str, str]) -> str:
        """The libraries it was judged with, as far as they are not the versions that are `here`."""
        judged = (self.shown.row["judged"] or {}).get("versions") or {}
        other = {name: version for name, version in judged.items() if here.get(name) != version}
        return ", ".join(
            f"{name} {version}" for name, version in other.items() if version != "not installed")

    @property
    def tried_sabotages(self) -> list[Mapping[str, Any]]:
        return [item for item in self.row["sabotages"] if item["verdict"] is not None]

    @property
    def sabotage_words(self) -> str:
        tried = self.tried_sabotages
        if self.waits or not tried:
            return "not run" if self.row["sabotages"] else "none"
        broken = sum(item["verdict"] == "refuted" for item in tried)
        return f"{broken} of {len(tried)} refuted"

    @property
    def figure_ids(self) -> tuple[str, ...]:
        """The id of the figure it names, which may leave the study out."""
        name = self.row["figure"]
        return (name, f"{self.study}/{name}") if name else ()

    @property
    def scale(self) -> str:
        """The scale at which the claim runs: for a waiting one, the scale it waits for."""
        needs = self.row["needs"] if isinstance(self.row["needs"], Mapping) else {}
        return needs.get("scale") or self.row["scale"] or "quick"

    @property
    def command(self) -> str:
        words = ["saccade", "verify", self.id]
        words += ["--scale", self.scale] if self.scale != "quick" else []
        words += ["--seed", str(self.row["seed"])] if self.row["seed"] else []
        for name, value in (self.row["changes"] or {}).items():
            words += ["--set", shlex.quote(f"{name}={json.dumps(value)}")]
        words += ["--precision", self.row["precision"]] if self.in_other_precision else []
        return " ".join(words + ["--sabotage"] * bool(self.tried_sabotages))

    @property
    def in_other_precision(self) -> bool:
        return self.row["precision"] not in (None, DOUBLE)

    @property
    def python_lines(self) -> str:
        options = f', scale="{self.scale}"' if self.scale != "quick" else ""
        options += f", seed={self.row['seed']}" if self.row["seed"] else ""
        options += f", changes={self.row['changes']!r}" if self.row["changes"] else ""
        options += f', precision="{self.row["precision"]}"' if self.in_other_precision else ""
        options += ", sabotage=True" if self.tried_sabotages else ""
        return (
            f'import saccade\n\n[row] = saccade.verify("{self.id}"{options})\n'
            'print(row["verdict"], row["prediction"], row["measurement"])')

    @cached_property
    def glyph(self) -> Glyph | None:
        return glyph(self.row)

    @cached_property
    def drawing(self) -> Drawing | None:
        return draw_to_scale(self.row)

    def glyph_of(self, numbers: Mapping[str, Any]) -> Glyph | None:
        """The small drawing of one part or sabotage of this claim."""
        return glyph({"kind": self.row["kind"], "side": self.row["side"], **numbers})

    def slack_of(self, part: Mapping[str, Any]) -> str:
        return slack.words(part.get("slack"))


def read_rows(rows: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Entries of ledger rows; missing fields are filled in, a row that is no claim is refused."""
    return [Entry(_complete(row)) for row in rows]


def _complete(row: Any) -> dict[str, Any]:
    name, verdict = (row.get("id"), row.get("verdict")) if isinstance(row, Mapping) else (row, None)
    if not isinstance(name, str) or verdict not in VERDICTS:
        raise InvalidInput(
            f"ledger row {str(name)[:60]!r} needs an id and a verdict out of {', '.join(VERDICTS)}."
        )
    known = {key: value for key, value in row.items() if value is not None}
    unrun = dict.fromkeys((*NUMBERS, "verdict", "error"))
    sabotages, repairs = (
        [
            _without_traceback({**unrun, "broke": None, "trivial": None, **item})
            for item in known.get(controls, ())]
        for controls in ("sabotages", "repairs"))
    return _without_traceback({
        **dict.fromkeys(TEXTS, ""), **dict.fromkeys((*NUMBERS, *OTHERS)),
        "study": name.split(".")[0], "expected": "holds", "parts": [], **known,
        "sabotages": sabotages, "repairs": repairs})


def _without_traceback(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "traceback"}


class Tally(NamedTuple):
    """How many entries got which verdict; `unexpected` ones have another than expected, or a
    sabotage that does not break them."""

    holds: int
    refuted: int
    undecided: int
    waiting: int
    unexpected: int
    total: int
    published: int = 0

    @property
    def judged(self) -> int:
        return self.total - self.waiting

    @property
    def chips(self) -> list[Chip]:
        """The verdicts that occur, with their numbers; refutations whether expected or not."""
        plural = {"holds": "hold" if self.holds != 1 else "holds"}
        chips = [
            Chip(STYLES[word], SIGNS[word], f"{count} {plural.get(word, word)}")
            for word, count in zip(VERDICTS, self[:4]) if count]
        surprises = Chip("unexpected", "alarm", f"{self.unexpected} not as expected")
        return chips + [surprises] * bool(self.unexpected)

    @property
    def sentence(self) -> str:
        if not self.judged:
            return "Nothing was judged yet."
        if self.unexpected:
            return f"{words.counted(self.unexpected, 'of them is', 'of them are')} not as expected."
        return "Every verdict reached is the expected one."


def tally(entries: Sequence[Entry]) -> Tally:
    counts = [sum(entry.verdict == verdict for entry in entries) for verdict in VERDICTS]
    return Tally(
        *counts, unexpected=sum(entry.unexpected for entry in entries), total=len(entries),
        published=sum(entry.shown is not entry for entry in entries))
