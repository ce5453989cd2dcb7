"""One study's page: its claims and figures, its citation, and its story and table of symbols, taken
from the study's own `page.md`, so that there is one text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from markdown_it import MarkdownIt
from markupsafe import Markup

import saccade
from saccade.report.entries import Entry, Tally, tally
from saccade.report.formulas import joined, mathml
from saccade.report.heroes import Hero, hero
from saccade.report.pictures import Picture
from saccade.report.signs import escaped
from saccade.report.words import file_name
from saccade.studies import STUDIES, Study


@dataclass(frozen=True)
class StudyView:
    """What the page of a study shows; one that only the ledger knows has neither title nor text."""

    name: str
    entries: list[Entry]
    pictures: list[Picture]
    problem: str = ""

    @property
    def known(self) -> Study | None:
        return STUDIES.get(self.name)

    @property
    def page(self) -> str:
        return f"study/{file_name(self.name)}.html"

    @property
    def title(self) -> str:
        return self.known.title if self.known else self.name

    @property
    def short_title(self) -> str:
        return self.name.replace("-", " ").capitalize() if self.known else self.name

    @cached_property
    def hero(self) -> Hero | None:
        """Where attention looks while it learns, if the study has recorded it."""
        return hero(self.known)

    @property
    def named(self) -> list[Entry]:
        """The claims that the study calls its most surprising ones."""
        names = self.known.highlights if self.known else ()
        by_name = {entry.short: entry for entry in self.entries}
        return [by_name[name] for name in names if name in by_name]

    @cached_property
    def pictures_first(self) -> list[Picture]:
        """The figures, those of the named claims first."""
        wanted = {id for entry in self.named for id in entry.figure_ids}
        return sorted(self.pictures, key=lambda picture: picture.id not in wanted)

    @property
    def cover(self) -> Picture | None:
        """The picture for a study without a moving one."""
        return next((picture for picture in self.pictures_first if picture.png), None)

    @property
    def asks(self) -> str:
        return self.known.asks if self.known else ""

    @property
    def reference(self) -> str:
        """Authors, venue and year; given names first, as a reader says them."""
        if not self.known:
            return ""
        people = [
            " ".join(reversed(name.split(", ", 1))) for name in self.known.authors.split(" and ")]
        authors = f"{', '.join(people)}. " if self.known.authors else ""
        return f"{authors}{self.known.venue}, {self.known.year}."

    @property
    def bibtex(self) -> str:
        """BibTeX of the paper, where the study is a known one, and of this library."""
        library = (
            "@software{saccade,\n  title = {saccade: when does attention learn where to look?},\n"
            "  author = {{The saccade authors}},\n"
            f"  version = {{{saccade.__version__}}}\n}}")
        return "\n\n".join([*([self.known.bibtex] if self.known else []), library])

    @property
    def tally(self) -> Tally:
        return tally(self.entries)

    @property
    def findings(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.is_finding]

    @cached_property
    def story(self) -> Markup:
        return self._section("For a newcomer")

    @cached_property
    def symbols(self) -> Markup:
        return self._section("Symbols")

    @cached_property
    def items(self) -> Markup:
        return self._section("Item by item")

    def _section(self, heading: str) -> Markup:
        """A section of the study's page as HTML, with links to the claims it names."""
        addresses = {entry.id: f"../{entry.page}" for entry in self.entries}
        text = re.sub(r"<!--.*?-->", "", section(page_text(self.known), heading))
        return linked(rendered(text), addresses)


def page_text(study: Study | None) -> str:
    """The text of the study's `page.md`; empty if there is none."""
    place = files(study.package) / "page.md" if study else None
    return place.read_text(encoding="utf-8") if place and place.is_file() else ""


def section(text: str, heading: str) -> str:
    """What stands under a second-level heading, up to the next one."""
    match = re.search(
        rf"^## {re.escape(heading)}[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return match[1].strip() if match else ""


@cache
def _reader() -> MarkdownIt:
    """CommonMark with tables; HTML in the text is escaped, not passed on."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def rendered(text: str) -> Markup:
    """Markdown as HTML, formulas between dollar signs included (taken out first, so that neither
    side sees the other's marks)."""
    formulas: list[str] = []

    def keep(match: "re.Match[str]") -> str:
        formulas.append(mathml(match[1].replace("\n", " ")))
        return f"\ue000{len(formulas) - 1}\ue001"

    html = _reader().render(
        re.sub(r"\$([^$]+)\$", keep, text.replace("\ue000", "").replace("\ue001", "")))
    html = html.replace("<th>", '<th scope="col">').replace("</table>", "</table></div>")
    html = html.replace(
        "<table>", '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>')
    html = re.sub("\ue000(\\d+)\ue001", lambda match: formulas[int(match[1])], html)
    return Markup(joined(html))


def linked(html: Markup, addresses: Mapping[str, str]) -> Markup:
    """The text with the claims it names as links to their addresses, without the study they share:
    the whole id does not fit a phone."""

    def link(match: "re.Match[str]") -> str:
        address, short = addresses.get(match[1]), match[1].partition(".")[2]
        if address is None:
            return match[0]
        return f'<a href="{escaped(address)}" title="{match[1]}"><code>{short}</code></a>'

    return Markup(re.sub(r"<code>([a-z0-9.-]+)</code>", link, html))
