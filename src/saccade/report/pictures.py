"""The figures of a report: each drawn once, saved for the page (PNG) and for a paper (PDF). A
figure that fails leaves a sentence."""

import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from saccade.errors import InvalidInput
from saccade.lab import registry
from saccade.lab.figure import draw, save
from saccade.report.light import save_light_png
from saccade.report.words import file_name, waiting_for
from saccade.lab.needs import lacking
from saccade.lab.store import Store
from saccade.studies import STUDIES

if TYPE_CHECKING:
    from saccade.lab.figure import Figure

FOLDER = "figures"


class Picture(NamedTuple):
    """A figure as shown: its files, or the reason why there are none."""

    id: str
    study: str
    title: str
    caption: str
    source: str
    png: str = ""
    pdf: str = ""
    width: int = 0
    height: int = 0
    live: str = ""
    missing: str = ""


def registered_figures() -> "tuple[list[Figure], dict[str, str]]":
    """Every study's figures, and by study the sentence for those that could not be loaded."""
    found: list[Figure] = []
    problems: dict[str, str] = {}
    for study in STUDIES:
        try:
            found += registry.figures(study)
        except (ImportError, AttributeError) as problem:
            problems[study] = f"The figures of this study could not be loaded: {problem}."
    return found, problems


def draw_all(
    figures: "Sequence[Figure]", folder: Path, scale: str, seed: int, store: Store | None,
    drawn: "Callable[[Picture], None]" = lambda picture: None,
) -> list[Picture]:
    """Draw and save every figure under `folder`, telling `drawn` of each; never raises because of
    one of them."""
    made: list[Picture] = []
    for figure in figures:
        made.append(_picture(figure, folder, scale, seed, store))
        drawn(made[-1])
    return made


def _picture(figure: "Figure", folder: Path, scale: str, seed: int, store: Store | None) -> Picture:
    blank = Picture(figure.id, figure.study, figure.title, figure.caption, figure.source)
    needs = lacking(figure.requires)
    if needs:
        return blank._replace(missing=f"Not drawn here: it {waiting_for(needs)}.")
    try:
        return _saved(blank, draw(figure, scale, seed, store), folder)
    except ImportError as problem:
        return blank._replace(
            missing=f"Not drawn here: it needs the package {problem.name or str(problem)!r}.")
    except InvalidInput as problem:
        return blank._replace(missing=f"Not drawn here: {problem}")
    except Exception as problem:  # One figure must not cost the reader the other pages.
        return blank._replace(missing=f"Not drawn here: {type(problem).__name__}: {problem}")


def _saved(blank: Picture, drawing: Any, folder: Path) -> Picture:
    import matplotlib.pyplot as plt

    stem = f"{FOLDER}/{file_name(blank.id.replace('/', '.'))}"
    try:
        png, pdf = (
            save_light_png(drawing, folder / f"{stem}.png"), save(drawing, folder / f"{stem}.pdf"))
        live = _live(drawing, folder / f"{stem}.js", blank.id)
    finally:
        plt.close(drawing)
    width, height = _size(png)
    shown = f"{stem}.js" if live else ""
    return blank._replace(
        png=f"{stem}.png", pdf=f"{stem}.{pdf.suffix[1:]}", width=width, height=height, live=shown)


def _live(drawing: Any, path: Path, id: str) -> bool:
    """The interactive version, as a script because a page from the file system may load scripts but
    not data; False if there is none."""
    from saccade.report.live import interactive

    try:
        said = json.dumps(interactive(drawing), allow_nan=False, separators=(",", ":"))
    except (
        Exception
        # The picture itself is saved; an artist that has no interactive counterpart must not cost it.
    ):
        return False
    path.write_text(
        f"(window.saccadeFigures ??= {{}})[{json.dumps(id)}] = {said};\n", encoding="utf-8")
    return True


def _size(png: Path) -> tuple[int, int]:
    """Width and height from a PNG's header, so that the page does not jump when the picture
    arrives."""
    return struct.unpack(">II", png.read_bytes()[16:24])
