"""The live laboratory: one marimo notebook a study, an app on localhost and a plain script at once,
and the look of its pictures.

A notebook computes with saccade's exact maps and closed forms, so that a moved slider answers in
under a second. `python -m saccade.studies.single_location.explore` runs one from top to bottom;
`saccade explore single-location` opens it.
"""

import sys
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from saccade.errors import InvalidInput, unknown
from saccade.studies import STUDIES


def notebooks() -> dict[str, Path]:
    """The notebook of every study that has one."""
    places = {
        name: Path(str(files(study.package))) / "explore.py" for name, study in STUDIES.items()}
    return {name: place for name, place in places.items() if place.is_file()}


def notebook(study: str) -> Path:
    """The notebook of a study."""
    known = notebooks()
    if study not in known:
        raise unknown("notebook", study, known)
    return known[study]


def command(
    study: str, port: int | None = None, edit: bool = False, headless: bool = False
) -> list[str]:
    """The command line that serves a notebook on this machine only."""
    if find_spec("marimo") is None:
        raise InvalidInput(
            "The live laboratory needs marimo, which is not installed: pip install"
            " 'saccade[explore]'.")
    if port is not None and not 1 <= port <= 65535:
        raise InvalidInput(f"port = {port} must lie between 1 and 65535.")
    words = [
        sys.executable, "-m", "marimo", "edit" if edit else "run", str(notebook(study)), "--host",
        "127.0.0.1"]
    words += [] if port is None else ["--port", str(port)]
    return words + (["--headless"] if headless else [])


def finished(figure: Any, width: int, height: int, **layout: Any) -> Any:
    """White ground, the legend above, room for labels; `layout` is passed on to Plotly."""
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0}
    figure.update_layout(
        template="plotly_white", width=width, height=height, legend=legend,
        margin={"t": 60, "b": 45, "l": 60, "r": 20})
    figure.update_layout(**layout)
    return figure


def described(figure: Any, words: str) -> Any:
    """With words for those who do not see it: a screen reader says them before the numbers."""
    import marimo as mo

    return mo.Html(
        f'<div role="figure" aria-label="{escape(words)}">{mo.as_html(figure).text}</div>')
