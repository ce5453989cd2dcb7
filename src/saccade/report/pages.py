"""Renders the pages: everything that comes from data is escaped by the templates, without
exception."""

import json
import shutil
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from saccade.report import reproduction, words
from saccade.report.entries import STYLES, SYMBOLS
from saccade.report.light import PACKED, write_packed_plotly
from saccade.report.site import Site

ASSETS = ("style.css", "script.js")


@cache
def templates() -> Environment:
    """The templates; autoescape is on for every one of them (their endings would not turn it on by
    themselves)."""
    made = Environment(
        loader=PackageLoader("saccade.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True)
    filters = ("number", "interval", "duration", "prose", "waiting_for", "counted", "file_name")
    made.filters.update({name: getattr(words, name) for name in filters})
    made.globals.update(
        {"finite": words.finite, "reproduction": reproduction, "symbols": SYMBOLS, "styles": STYLES}
    )
    made.globals["plotly"] = PACKED
    return made


def write_pages(site: Site, folder: Path) -> None:
    """All pages, the shared files (one copy of Plotly among them) and the ledger itself."""
    (folder / "claims").mkdir()
    (folder / "study").mkdir()
    _render("index.html.j2", folder / "index.html", site, root="")
    for study in site.studies:
        _render("study.html.j2", folder / study.page, site, root="../", study=study)
    for entry in site.entries:
        _render(
            "claim.html.j2", folder / entry.page, site, root="../", entry=entry,
            study=site.study(entry.study))
    for name in ASSETS:
        with as_file(files("saccade.report") / name) as source:
            shutil.copyfile(source, folder / name)
    if any(picture.live for picture in site.pictures):
        write_packed_plotly(folder)
    rows = [dict(entry.row) for entry in site.entries]
    (folder / "ledger.json").write_text(
        json.dumps({"claims": rows}, separators=(",", ":")), encoding="utf-8")


def _render(template: str, path: Path, site: Site, **context: object) -> None:
    path.write_text(
        templates().get_template(template).render(site=site, **context), encoding="utf-8")
