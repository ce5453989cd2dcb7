"""What the pages show, gathered: studies with their claims and figures, findings, conditions and
versions."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from markupsafe import Markup

import saccade
from saccade.lab.fingerprint import environment
from saccade.report.entries import VERDICTS, Entry, Tally, tally
from saccade.report.pictures import Picture
from saccade.report.reproduction import citation
from saccade.report.story import told
from saccade.report.words import file_name
from saccade.studies import STUDIES


@dataclass(frozen=True)
class StudyView:
    """One study's page."""

    name: str
    entries: list[Entry]
    pictures: list[Picture]
    problem: str = ""

    @cached_property
    def told(self) -> dict[str, Markup]:
        """The story and the symbols, with links to the claims they name."""
        return told(self.name, {entry.id: f"../{entry.page}" for entry in self.entries})

    @property
    def page(self) -> str:
        return f"study/{file_name(self.name)}.html"

    @property
    def title(self) -> str:
        return STUDIES[self.name].title if self.name in STUDIES else self.name

    @property
    def asks(self) -> str:
        return STUDIES[self.name].asks if self.name in STUDIES else ""

    @property
    def reference(self) -> str:
        """Authors, venue and year; given names first, as a reader says them."""
        if self.name not in STUDIES:
            return ""
        study = STUDIES[self.name]
        people = [
            " ".join(reversed(person.split(", ", 1))) for person in study.authors.split(" and ")]
        named = f"{', '.join(people)}. " if study.authors else ""
        return f"{named}{study.venue}, {study.year}."

    @property
    def bibtex(self) -> str:
        return citation(self.name)

    @property
    def tally(self) -> Tally:
        return tally(self.entries)

    @property
    def findings(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.is_finding]


@dataclass(frozen=True)
class Site:
    """Everything a report shows."""

    entries: list[Entry]
    pictures: list[Picture]
    scale: str
    seed: int
    problems: dict[str, str] = field(default_factory=dict)
    written: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))

    @cached_property
    def studies(self) -> list[StudyView]:
        """The library's studies in its order, then those that only the ledger knows; only where
        there is something to show."""
        present = [item.study for item in [*self.entries, *self.pictures]]
        names = [name for name in STUDIES if name in present] + [
            name for name in present if name not in STUDIES]
        return [self._study(name) for name in dict.fromkeys(names)]

    def _study(self, name: str) -> StudyView:
        mine = [entry for entry in self.entries if entry.study == name]
        return StudyView(
            name, mine, [item for item in self.pictures if item.study == name],
            self.problems.get(name, ""))

    @property
    def tally(self) -> Tally:
        return tally(self.entries)

    @property
    def refuted_sentences(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.row["expected"] == "refuted"]

    @property
    def other_findings(self) -> list[Entry]:
        return [
            entry for entry in self.entries
            if entry.is_finding and entry.row["expected"] != "refuted"]

    @property
    def surprises(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.unexpected]

    @property
    def choices(self) -> dict[str, list[tuple[str, str]]]:
        """What the ledger can be filtered by: (value, text) pairs."""
        statuses = sorted({entry.status_word for entry in self.entries if entry.status_word})
        names = {
            "studies": [study.name for study in self.studies], "verdicts": VERDICTS,
            "statuses": statuses}
        return {what: [(name, name) for name in found] for what, found in names.items()}

    @cached_property
    def versions(self) -> dict[str, str]:
        return environment() | {"saccade": saccade.__version__, "python": platform.python_version()}

    def entry(self, id: str | None) -> Entry | None:
        return next((entry for entry in self.entries if entry.id == id), None)

    def study(self, name: str) -> StudyView:
        return next(study for study in self.studies if study.name == name)

    def picture(self, entry: Entry) -> Picture | None:
        """The figure a claim names, by its full id or by its name within the study."""
        wanted = (entry.row["figure"], f"{entry.study}/{entry.row['figure']}")
        return next(
            (picture for picture in self.pictures if entry.row["figure"] and picture.id in wanted),
            None)

    def beside(self, entry: Entry) -> Sequence[Entry | None]:
        """The claims before and after this one."""
        place = self.entries.index(entry)
        before = self.entries[place - 1] if place else None
        return before, self.entries[place + 1] if place + 1 < len(self.entries) else None
