"""The story of a study and its table of symbols, taken from the study's own documentation page, so
that there is one text."""

import re
from functools import cache
from importlib.resources import files

from markdown_it import MarkdownIt
from markupsafe import Markup

from saccade.report.mathematics import escaped, formula
from saccade.studies import STUDIES

STORY, SYMBOLS = "For a newcomer", "Symbols"


def page(study: str) -> str:
    """The text of the study's `page.md`; empty if there is none."""
    if study not in STUDIES:
        return ""
    place = files(STUDIES[study].package) / "page.md"
    return place.read_text(encoding="utf-8") if place.is_file() else ""


def section(text: str, heading: str) -> str:
    """What stands under a second-level heading, up to the next one."""
    found = re.search(
        rf"^## {re.escape(heading)}[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


@cache
def _reader() -> MarkdownIt:
    """CommonMark with tables; HTML in the text is escaped, not passed on."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def rendered(text: str) -> Markup:
    """Markdown as HTML, formulas between dollar signs included (taken out first, so that neither
    side sees the other's marks)."""
    formulas: list[str] = []

    def keep(found: "re.Match[str]") -> str:
        formulas.append(formula(escaped(found[1].replace("\n", " "))))
        return f"\ue000{len(formulas) - 1}\ue001"

    page = _reader().render(
        re.sub(r"\$([^$]+)\$", keep, text.replace("\ue000", "").replace("\ue001", "")))
    page = page.replace("<th>", '<th scope="col">').replace(
        "<table>", '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>')
    page = page.replace("</table>", "</table></div>")
    return Markup(re.sub("\ue000(\\d+)\ue001", lambda found: formulas[int(found[1])], page))


def told(study: str, claims: dict[str, str]) -> dict[str, Markup]:
    """Story and symbols of a study as HTML, empty where its page has none; names of claims become
    links (`claims`: id to address)."""
    text = page(study)
    parts = {"story": section(text, STORY), "symbols": section(text, SYMBOLS)}
    return {name: _linked(rendered(part), claims) for name, part in parts.items()}


def _linked(html: Markup, claims: dict[str, str]) -> Markup:
    def link(found: "re.Match[str]") -> str:
        name = found[1]
        return (
            f'<a href="{escaped(claims[name])}"><code>{name}</code></a>' if name in claims
            else found[0])

    return Markup(re.sub(r"<code>([a-z0-9.-]+)</code>", link, html))
