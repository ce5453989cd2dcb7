"""The figures of a report: each drawn once, saved for the page (PNG) and, if asked for, for a paper
(PDF: most of it is fonts, a fifth of the report, and `saccade figure` writes one from the same
runs). One that waits for a package or a data set, or that fails, leaves a sentence."""

import json
import struct
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from saccade.datasets.packages import AbsentData
from saccade.errors import InvalidInput
from saccade.lab import registry
from saccade.lab.figure import draw, save
from saccade.lab.fingerprint import version_of
from saccade.lab.registry import lacking
from saccade.lab.store import Store
from saccade.lab.workers import Died, Piece
from saccade.report.entries import Entry
from saccade.report.light import save_light_png
from saccade.report.words import file_name, waiting_for
from saccade.studies import STUDIES

if TYPE_CHECKING:
    from saccade.lab.figure import Figure

FOLDER = "figures"


class Picture(NamedTuple):
    """A figure as shown: its files, or the reason why there are none (`missing`), and whether that
    is something to wait for; how it was drawn, by which `code`, and whether that is `current`."""

    id: str
    study: str
    title: str
    caption: str
    source: str
    command: str
    png: str = ""
    pdf: str = ""
    width: int = 0
    height: int = 0
    live: str = ""
    missing: str = ""
    waits: bool = False
    scale: str = "quick"
    seed: int = 0
    seconds: float = 0.0
    code: str = ""
    module: str = ""
    current: bool = True


class Conditions(NamedTuple):
    """How figures are drawn; `needs` says by figure what the claims that name it wait for, `pdf`
    whether each is saved for print too."""

    scale: str
    seed: int
    folder: str | None
    needs: Mapping[str, Mapping[str, Any]]
    pdf: bool = False


def registered_figures(
    studies: Collection[str] | None = None,
) -> "tuple[list[Figure], dict[str, str]]":
    """The figures of `studies` (of all if none are named), and by study the sentence for those that
    could not be loaded."""
    figures: list[Figure] = []
    problems: dict[str, str] = {}
    for study in STUDIES if studies is None else [name for name in STUDIES if name in studies]:
        try:
            figures += registry.figures(study)
        except (ImportError, AttributeError) as problem:
            problems[study] = f"The figures of this study could not be loaded: {problem}."
    return figures, problems


def needs_by_figure(entries: Iterable[Entry]) -> dict[str, Mapping[str, Any]]:
    """What waiting claims need beyond a larger scale, by the figure they name."""
    return {
        id: entry.row["needs"] for entry in entries for id in entry.figure_ids
        if isinstance(entry.row["needs"], Mapping) and "scale" not in entry.row["needs"]}


def pieces(
    figures: "Sequence[Figure]", folder: Path, conditions: Conditions, costs: Mapping[str, float],
    *, apart: bool,
) -> list[Piece]:
    """The figures as pieces of work, each of which draws one under `folder` and gives its Picture,
    for processes `apart` or for this one."""
    return [
        Piece(
            figure.id, _draw_by_name if apart else picture,
            (figure.id if apart else figure, folder, conditions), costs.get(figure.id, 1.0),
            frozenset(item.id for item, _ in figure.runs.values()))
        for figure in figures]


def pictures_of(
    figures: "Sequence[Figure]", conditions: Conditions, results: Sequence[Any]
) -> list[Picture]:
    """The pictures in the order of `figures`; a process that died leaves its reason."""
    return [
        blank(figure, conditions)._replace(missing=f"Not drawn here: {result.reason}.")
        if isinstance(result, Died) else result
        for figure, result in zip(figures, results, strict=True)]


def _draw_by_name(name: str, folder: Path, conditions: Conditions) -> Picture:
    return picture(
        registry.one("figure", name, registry.of_study(name, registry.figures)), folder, conditions)


def blank(figure: "Figure", conditions: Conditions) -> Picture:
    """A figure that has not been drawn."""
    return Picture(
        figure.id, figure.study, figure.title, figure.caption, figure.source,
        _command(figure.id, conditions.scale, conditions.seed), scale=conditions.scale,
        seed=conditions.seed, code=version_of(figure.draw), module=figure.draw.__module__)


def picture(figure: "Figure", folder: Path, conditions: Conditions) -> Picture:
    """Draw and save a figure under `folder`; whatever goes wrong is a sentence in its place."""
    scale, seed, store, needs, for_print = conditions
    empty, start = blank(figure, conditions), time.perf_counter()
    try:
        lacks = lacking(figure.requires)
        if not lacks:
            shown = _saved(empty, draw(figure, scale, seed, Store(store)), folder, for_print)
            return shown._replace(seconds=time.perf_counter() - start)
        waits, reason = True, f"it {waiting_for(lacks)}."
    except Exception as problem:  # One figure must not cost the reader the other pages.
        waits, reason = _why_not(problem, needs.get(figure.id))
    return empty._replace(missing=f"Not drawn here: {reason}", waits=waits)


def _why_not(problem: Exception, needs: Mapping[str, Any] | None) -> tuple[bool, str]:
    """Whether a figure that could not be drawn waits for something, and the reason; `needs` is what
    its claims wait for."""
    if isinstance(problem, ImportError):
        return True, f"it needs the package {problem.name or str(problem)!r}."
    if isinstance(problem, AbsentData):
        return True, str(problem)
    if needs:
        return True, f"it {waiting_for(needs)}."
    kind = "" if isinstance(problem, InvalidInput) else f"{type(problem).__name__}: "
    return False, f"{kind}{problem}"


def _command(id: str, scale: str, seed: int) -> str:
    """What a reader types to get the figure again."""
    options = f" --scale {scale}" if scale != "quick" else ""
    options += f" --seed {seed}" if seed else ""
    return f"saccade figure {id}{options} -o {id.rsplit('/', 1)[-1]}.pdf"


def _saved(empty: Picture, drawing: Any, folder: Path, for_print: bool) -> Picture:
    import matplotlib.pyplot as plt

    stem = f"{FOLDER}/{file_name(empty.id.replace('/', '.'))}"
    png, pdf, live = (f"{stem}.{ending}" for ending in ("png", "pdf", "js"))
    try:
        save_light_png(drawing, folder / png)
        pdf = save(drawing, folder / pdf) and pdf if for_print else ""
        live = live if _write_live(drawing, folder / live, empty.id) else ""
    finally:
        plt.close(drawing)
    # from the PNG's header, so that the page does not jump when the picture arrives
    width, height = struct.unpack(">II", (folder / png).read_bytes()[16:24])
    return empty._replace(png=png, pdf=pdf, width=width, height=height, live=live)


def _write_live(drawing: Any, path: Path, id: str) -> bool:
    """The interactive version, as a script because a page from the file system may load scripts but
    not data; False if there is none."""
    from saccade.report.live import interactive

    try:
        text = json.dumps(interactive(drawing), allow_nan=False, separators=(",", ":"))
    except Exception:  # What has no interactive counterpart must not cost the picture.
        return False
    path.write_text(
        f"(window.saccadeFigures ??= {{}})[{json.dumps(id)}] = {text};\n", encoding="utf-8")
    return True
