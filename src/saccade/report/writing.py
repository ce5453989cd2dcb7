"""Renders the pages and puts the report in its place: built in a temporary sibling and renamed, so
that a folder is a whole report or none.

Everything that comes from data is escaped by the templates, without exception. A folder that
saccade did not make is never replaced; one that it made is known by its marker file.
"""

import gzip
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

import saccade
from saccade.errors import InvalidInput
from saccade.lab.compare import FORMAT
from saccade.lab.fingerprint import environment
from saccade.lab.store import Store
from saccade.lab.whole import unfinished
from saccade.lab.workers import Watcher, carry_out
from saccade.report import pictures, words
from saccade.report.entries import SIGNS, STYLES, read_rows
from saccade.report.evidence import READINGS
from saccade.report.light import LEDGER, PACKED, lean, pack_live, write_packed_plotly
from saccade.report.site import Site

if TYPE_CHECKING:
    from saccade.lab.figure import Figure

MARKER = ".saccade-report"
ASSETS = ("style.css", "script.js")
FILTERS = ("number", "interval", "duration", "prose", "waiting_for", "counted", "file_name")


def write_report(
    rows: Sequence[Mapping[str, Any]], folder: str | Path, *, scale: str, seed: int,
    store: Store | None, figures: "Sequence[Figure] | None" = None, jobs: int = 0,
    watch: Watcher | None = None, costs: Mapping[str, float] | None = None, pdf: bool = False,
) -> Path:
    """Write the static report of judged `rows` to `folder` and return the path of its first page.

    Every figure (`figures`, or all of the studies in `rows`) is drawn once at `scale` and `seed`
    from `store`, in this process or in `jobs` others, and `watch` is told of it; with `pdf` each is
    saved for print too. An older report in `folder` is replaced when the new one is complete; any
    other folder is refused before work starts.
    """
    entries = read_rows(rows)
    with building(folder) as place:
        shown, problems = (
            (figures, {}) if figures is not None
            else pictures.registered_figures({entry.study for entry in entries}))
        conditions = pictures.Conditions(
            scale, seed, store and store.address, pictures.needs_by_figure(entries), pdf)
        parts = pictures.pieces(shown, place, conditions, costs or {}, apart=jobs > 0)
        drawings = pictures.pictures_of(shown, conditions, carry_out(parts, jobs, watch))
        write_pages(Site(entries, drawings, scale, seed, problems), place)
    return Path(folder).expanduser().resolve() / "index.html"


def write_pages(site: Site, folder: Path) -> None:
    """All pages, the shared files (one copy of Plotly among them) and the ledger itself."""
    (folder / "claims").mkdir()
    (folder / "study").mkdir()
    _render("index", folder / "index.html", site=site, root="")
    if site.findings:
        _render("findings", folder / "findings.html", site=site, root="")
    for study in site.studies:
        _render("study", folder / study.page, site=site, root="../", study=study)
        for entry in study.entries:
            _render("claim", folder / entry.page, site=site, root="../", entry=entry, study=study)
    for name in ASSETS:
        with as_file(files("saccade.report") / name) as source:
            shutil.copyfile(source, folder / name)
    live = [picture.live for picture in site.pictures if picture.live]
    for name in live:
        pack_live(folder / name)
    if live:
        write_packed_plotly(folder)
    ledger = {
        "format": FORMAT, "claims": [entry.row for entry in site.entries],
        "figures": [picture._asdict() for picture in site.pictures], "versions": environment()}
    text = json.dumps(ledger, separators=(",", ":"))
    (folder / LEDGER).write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    (folder / MARKER).write_text(f"saccade {saccade.__version__}\n", encoding="utf-8")


@cache
def _templates() -> Environment:
    """The templates, all with autoescape (their endings would not turn it on)."""
    environment = Environment(
        loader=PackageLoader("saccade.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True)
    environment.filters.update({name: getattr(words, name) for name in FILTERS})
    environment.globals.update({
        "finite": words.finite, "signs": SIGNS, "styles": STYLES, "plotly": PACKED,
        "readings": READINGS, "ledger_file": LEDGER})
    return environment


def _render(name: str, path: Path, **context: object) -> None:
    template = _templates().get_template(f"{name}.html.j2")
    path.write_text(lean(template.render(**context)), encoding="utf-8")


def _check_target(target: Path, name: str) -> None:
    """Refuse a file, and a folder with anything in it that is not a report of ours."""
    if target.exists() and not target.is_dir():
        raise InvalidInput(f"folder = {name!r} is a file; choose a folder for the report.")
    if target.is_dir() and not (target / MARKER).is_file() and any(target.iterdir()):
        raise InvalidInput(
            f"folder = {name!r} holds files that are not a saccade report; choose another or an"
            " empty one.")


@contextmanager
def building(folder: str | Path) -> Iterator[Path]:
    """A temporary folder beside `folder`, which it replaces when the block ends well; else it is
    gone. A full disk is one sentence."""
    target = Path(folder).expanduser().resolve()
    place = target.with_name(f".{target.name}-writing-{uuid.uuid4().hex[:8]}")
    try:
        _check_target(target, str(folder))
        with unfinished(place):
            place.mkdir(parents=True)
            yield place
            _put_in_place(place, target)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InvalidInput(f"folder = {str(folder)!r} cannot be written ({reason}).") from None


def _put_in_place(building: Path, target: Path) -> None:
    """Rename, with an older report moved aside first and brought back if the rename fails."""
    if not target.exists():
        os.rename(building, target)
        return
    aside = target.with_name(f".{target.name}-old-{uuid.uuid4().hex[:8]}")
    os.rename(target, aside)
    try:
        os.rename(building, target)
    except BaseException:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside, ignore_errors=True)
