"""Pictures of the report that is about to be replaced: one that the same code drew with the same
libraries at the same scale and seed is taken over, not drawn again."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from saccade.lab.figure import Figure
from saccade.lab.fingerprint import environment
from saccade.lab.registry import lacking
from saccade.report.pictures import Conditions, Picture, blank


def taken_over(
    figures: Sequence[Figure], old: str | Path, place: Path, conditions: Conditions
) -> dict[str, Picture]:
    """By id, the pictures of the report in `old` that need not be drawn again; their files are
    copied to `place`."""
    folder = Path(old).expanduser()
    drawn = _drawn(folder)
    same = [
        drawn[figure.id] for figure in figures
        if figure.id in drawn and not lacking(figure.requires)
        and _is_the_same(drawn[figure.id], blank(figure, conditions))]
    return {picture.id: picture for picture in same if _copied(picture, folder, place)}


def _drawn(old: Path) -> dict[str, Picture]:
    """The pictures of a report, by id; none if other libraries drew them."""
    try:
        ledger: dict[str, Any] = json.loads((old / "ledger.json").read_text("utf-8"))
        if ledger["versions"] != environment():
            return {}
        return {item["id"]: Picture(**item) for item in ledger["figures"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}  # no report, or one that an older saccade wrote


def _is_the_same(picture: Picture, now: Picture) -> bool:
    asked = ("title", "caption", "source", "scale", "seed", "code", "module")
    return bool(picture.png and picture.pdf) and all(
        getattr(picture, name) == getattr(now, name) for name in asked)


def _copied(picture: Picture, old: Path, place: Path) -> bool:
    names = [name for name in (picture.png, picture.pdf, picture.live) if name]
    if not all((old / name).is_file() for name in names):
        return False
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(old / name, place / name)
    return True
