"""Puts a report in its place: built in a temporary sibling and renamed, so that a folder is a whole
report or none.

A folder that saccade did not make is never replaced; one that it made is known by its marker file.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import saccade
from saccade.errors import InvalidInput
from saccade.report.entries import read_rows
from saccade.report.pages import write_pages
from saccade.report.pictures import Picture, draw_all, registered_figures
from saccade.report.site import Site
from saccade.lab.store import Store

if TYPE_CHECKING:
    from saccade.lab.figure import Figure

MARKER = ".saccade-report"


def write_report(
    rows: Sequence[Mapping[str, Any]], folder: str | Path, *, scale: str, seed: int,
    store: Store | None, figures: "Sequence[Figure] | None" = None,
    drawn: Callable[[Picture], None] = lambda picture: None,
) -> Path:
    """Write the static report of judged `rows` to `folder` and return the path of its first page.

    Every figure (`figures`, or all registered ones) is drawn once at `scale` and `seed` from
    `store`, and `drawn` is told of it. An older report in `folder` is replaced when the new one is
    complete; any other folder is refused before work starts.
    """
    entries = read_rows(rows)
    target = Path(folder).expanduser().resolve()
    with _sibling(target, str(folder)) as building:
        found, problems = (figures, {}) if figures is not None else registered_figures()
        pictures = draw_all(found, building, scale, seed, store, drawn)
        write_pages(Site(entries, pictures, scale, seed, problems), building)
        (building / MARKER).write_text(f"saccade {saccade.__version__}\n", encoding="utf-8")
        _put_in_place(building, target)
    return target / "index.html"


def _check_target(target: Path, said: str) -> None:
    """Refuse a file, and a folder with anything in it that is not a report of ours."""
    if target.exists() and not target.is_dir():
        raise InvalidInput(f"folder = {said!r} is a file; choose a folder for the report.")
    if target.is_dir() and not (target / MARKER).is_file() and any(target.iterdir()):
        raise InvalidInput(
            f"folder = {said!r} holds files that are not a saccade report; choose another or an"
            " empty one.")


@contextmanager
def _sibling(target: Path, said: str) -> Iterator[Path]:
    """A temporary folder beside `target`, gone afterwards whatever happens; a refusal of the disk
    is one sentence."""
    building = target.with_name(f".{target.name}-writing-{uuid.uuid4().hex[:8]}")
    try:
        _check_target(target, said)
        building.mkdir(parents=True)
        yield building
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InvalidInput(f"folder = {said!r} cannot be written ({reason}).") from None
    finally:
        shutil.rmtree(building, ignore_errors=True)


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
