"""What the pages show: studies with their claims and figures, findings, conditions, versions."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

import saccade
from saccade.lab.fingerprint import environment
from saccade.report.entries import VERDICTS, Entry, Tally, tally
from saccade.report.evidence import READINGS
from saccade.report.pictures import Picture
from saccade.report.study import StudyView
from saccade.studies import STUDIES

HIGHLIGHTS = 5


@dataclass(frozen=True)
class Site:
    """Everything a report shows."""

    entries: list[Entry]
    pictures: list[Picture]
    scale: str
    seed: int
    problems: dict[str, str] = field(default_factory=dict)
    recorded: bool = False
    written: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))

    @cached_property
    def studies(self) -> list[StudyView]:
        """Those with something to show: the known ones, then those that only the ledger knows."""
        present = dict.fromkeys(item.study for item in [*self.entries, *self.pictures])
        return [
            StudyView(
                name, [entry for entry in self.entries if entry.study == name],
                [picture for picture in self.pictures if picture.study == name],
                self.problems.get(name, ""))
            for name in dict.fromkeys([*STUDIES, *present]) if name in present]

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
    def findings(self) -> list[Entry]:
        return [*self.refuted_sentences, *self.other_findings]

    @cached_property
    def highlights(self) -> list[tuple[Entry, Picture]]:
        """What is most surprising, with a picture: of each study the first of the claims it names
        that came out as expected and has a figure; what refutes comes first."""
        chosen = [
            next(
                (
                    (entry, shown) for entry in study.named
                    if entry.as_expected and (shown := self.picture(entry)) and shown.png),
                None)
            for study in self.studies]
        drawn = [pair for pair in chosen if pair]
        drawn.sort(key=lambda pair: (not pair[0].against_paper, pair[0].verdict != "refuted"))
        return drawn[:HIGHLIGHTS]

    @property
    def atlas(self) -> Picture | None:
        """The map of every learner on every task, if a study has drawn one."""
        drawn = (picture for picture in self.pictures if picture.png)
        return next((picture for picture in drawn if picture.id.endswith("/map")), None)

    @property
    def surprises(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.unexpected]

    @property
    def choices(self) -> dict[str, list[tuple[str, str]]]:
        """What the ledger can be filtered by: (value, text) pairs."""
        statuses = sorted({entry.status_word for entry in self.entries if entry.status_word})
        choices = {
            "studies": [study.name for study in self.studies], "verdicts": VERDICTS,
            "statuses": statuses}
        present = {entry.reading for entry in self.entries}
        readings = [(name or "none", name or "not stated") for name in READINGS if name in present]
        return {
            "readings": readings,
            **{what: [(name, name) for name in names] for what, names in choices.items()}}

    @property
    def outdated(self) -> list[Entry]:
        """Those that other code judged than is installed here."""
        return [entry for entry in self.entries if entry.shown.outdated]

    @property
    def judged_on(self) -> str:
        """From the first to the last day on which a row was judged, where rows say it."""
        rows = [entry.shown.row["judged"] or {} for entry in self.entries]
        days = sorted({row["date"] for row in rows if row.get("date")})
        return " to ".join(dict.fromkeys([*days[:1], *days[-1:]]))

    @cached_property
    def versions(self) -> dict[str, str]:
        return environment() | {"saccade": saccade.__version__, "python": platform.python_version()}

    def entry(self, id: str | None) -> Entry | None:
        return next((entry for entry in self.entries if entry.id == id), None)

    def study(self, name: str) -> StudyView:
        return next(study for study in self.studies if study.name == name)

    def picture(self, entry: Entry) -> Picture | None:
        """The figure a claim names."""
        return next((picture for picture in self.pictures if picture.id in entry.figure_ids), None)

    def beside(self, entry: Entry) -> Sequence[Entry | None]:
        """The claims before and after this one."""
        place = self.entries.index(entry)
        before = self.entries[place - 1] if place else None
        return before, self.entries[place + 1] if place + 1 < len(self.entries) else None
