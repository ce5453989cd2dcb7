"""Pictures of the report that is about to be replaced: one that the same code drew with the same
libraries at the same scale and seed is taken over, not drawn again."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from saccade.lab.compare import read_text
from saccade.lab.figure import Figure
from saccade.lab.fingerprint import environment
from saccade.lab.registry import lacking
from saccade.report.light import LEDGER
from saccade.report.pictures import Conditions, Picture, blank


def unchanged(figures: Sequence[Figure], report: Path, conditions: Conditions) -> list[Picture]:
    """The pictures in the folder of a report that need not be drawn again."""
    drawn = _drawn(report)
    return [
        drawn[figure.id] for figure in figures if figure.id in drawn
        and not lacking(figure.requires)
        and _is_the_same(drawn[figure.id], blank(figure, conditions))
        and bool(drawn[figure.id].pdf) == conditions.pdf
        and all((report / name).is_file() for name in _names(drawn[figure.id]))]


def copy(kept: Sequence[Picture], report: Path, place: Path) -> None:
    """Put the files of the `kept` pictures of a `report` under `place`."""
    for name in (name for picture in kept for name in _names(picture)):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(report / name, place / name)


def _names(picture: Picture) -> list[str]:
    return [name for name in (picture.png, picture.pdf, picture.live) if name]


def _drawn(report: Path) -> dict[str, Picture]:
    """The pictures of a report, by id; none if other libraries drew them."""
    try:
        ledger: dict[str, Any] = json.loads(read_text(report / LEDGER))
        if ledger["versions"] != environment():
            return {}
        return {item["id"]: Picture(**item) for item in ledger["figures"]}
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return {}  # no report, or one that an older saccade wrote


def _is_the_same(picture: Picture, now: Picture) -> bool:
    asked = ("title", "caption", "source", "scale", "seed", "code", "module")
    return bool(picture.png) and all(getattr(picture, name) == getattr(now, name) for name in asked)
