"""The report of the ledger of record: written from what travels with saccade, nothing computed."""

import gzip
import shutil
from importlib.resources import as_file
from pathlib import Path
from typing import Any

from saccade.errors import InvalidInput
from saccade.lab import record
from saccade.lab.fingerprint import code_version
from saccade.report.entries import read_rows
from saccade.report.pictures import Picture
from saccade.report.site import Site
from saccade.report.writing import building, write_pages


def write_recorded(folder: str | Path) -> Path:
    """Write the report of the record to `folder`; the path of its first page."""
    rows = recorded_rows()
    if not rows:
        raise InvalidInput(
            "This saccade was built without a ledger of record; saccade reproduce judges one.")
    with building(folder) as place:
        drawings = [_unpacked(item, place) for item in record.figures()]
        write_pages(Site(read_rows(rows), drawings, "quick", 0, recorded=True), place)
    return Path(folder).expanduser().resolve() / "index.html"


def recorded_rows() -> list[dict[str, Any]]:
    """One row a claim: the smallest published scale, with the largest other one beside it."""
    rows = []
    for by_scale in record.rows().values():
        first, *others = by_scale.values()
        judged = [row for row in others if row["verdict"] != record.WAITING]
        beside = judged[-1] | {"current": record.is_current(judged[-1])} if judged else None
        rows.append(first | {"current": record.is_current(first), "published": beside})
    return rows


def _unpacked(item: dict[str, Any], folder: Path) -> Picture:
    """A published picture, its files put under `folder`; the record keeps scripts packed and leaves
    the PDF to whoever draws it again."""
    shown = Picture(**item | {"current": code_version(item["module"]) == item["code"]})
    for name in filter(None, (shown.png, shown.live)):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name == shown.live:
            target.write_bytes(gzip.decompress((record.FOLDER / f"{name}.gz").read_bytes()))
        else:
            with as_file(record.FOLDER / name) as source:
                shutil.copyfile(source, target)
    return shown
