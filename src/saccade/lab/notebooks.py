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
from inspect import cleandoc
from pathlib import Path
from typing import Any, NamedTuple

from saccade.errors import InvalidInput, unknown
from saccade.studies import STUDIES

GREY, LIT = "#b8c4cc", "#0072B2"
USUAL = 520  # points across
MANY = 40  # tokens: of more only those that matter are named


class Looks(NamedTuple):
    """Where attention looks on the way: `weights[i]` of all tokens after `steps[i]` steps (or
    layers, ...: the `unit`). `where` are the tokens that matter, `asks` the one that looks, if one
    does; patches of an image stand in so many `columns`. `says` is the picture in words."""

    steps: list[int]
    weights: list[list[float]]
    where: list[int]
    says: str
    unit: str = "step"
    columns: int = 0
    asks: int = -1


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
    """White ground, the legend above, room for labels; `layout` is passed on to Plotly. The width
    is for `described` to give: a figure that has one of its own is cut on a phone."""
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0}
    figure.update_layout(
        template="plotly_white", meta={"width": width}, height=height, legend=legend,
        margin={"t": 60, "b": 45, "l": 60, "r": 20})
    figure.update_layout(**layout)
    return figure


def described(figure: Any, words: str) -> Any:
    """With words for those who do not see it: a screen reader says them before the numbers. As wide
    as it was `finished` to be, or as the window allows."""
    import marimo as mo

    width = (figure.layout.meta or {}).get("width", USUAL)
    return mo.Html(
        f'<div role="figure" aria-label="{escape(words)}" style="width: min({width}px, 86vw)">'
        f"{mo.as_html(figure).text}</div>")


def looking(looks: Looks, at: int, token: str = "token", weight: str = "attention") -> Any:
    """The weights of all tokens at the recorded state number `at`, those that matter lit and
    starred; below, all of training at once, with a line at that state."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    number = min(at, len(looks.steps) - 1)
    weights, most = looks.weights[number], max(max(row) for row in looks.weights)
    places = list(range(1, len(weights) + 1))
    colours = [LIT if place - 1 in looks.where else GREY for place in places]
    figure = make_subplots(rows=2, shared_xaxes=True, row_heights=[0.55, 0.45])
    figure.add_trace(go.Bar(x=places, y=weights, marker_color=colours, name=weight), 1, 1)
    shades = {"colorscale": "Blues", "zmin": 0, "zmax": most, "showscale": False}
    figure.add_trace(go.Heatmap(x=places, z=looks.weights, name="training", **shades), 2, 1)
    across = {"x0": 0.5, "x1": len(weights) + 0.5, "y0": number, "y1": number}
    figure.add_shape(type="line", line_color="#E69F00", row=2, col=1, **across)
    named = [place for place in places if len(places) <= MANY or place - 1 in looks.where]
    marks = [f"★ {place}" if place - 1 in looks.where else f"{place}" for place in named]
    shown = sorted({round(part * (len(looks.steps) - 1) / 4) for part in range(5)})
    ticks = {"tickvals": shown, "ticktext": [f"{looks.steps[place]:,}" for place in shown]}
    finished(
        figure, 520, 400, showlegend=False, yaxis={"title": weight, "range": [0, 1.05 * most]},
        xaxis2={"title": f"{token} (★ matters)", "tickvals": named, "ticktext": marks},
        yaxis2={"title": looks.unit, "autorange": "reversed"} | ticks,
        title={"text": f"after {looks.steps[number]:,} {looks.unit}s", "font": {"size": 13}})
    words = ", ".join(f"{weights[place]:.2f} at {token} {place + 1}" for place in looks.where)
    return described(figure, f"{weight} on every {token}: {words}, where the information is.")


def now_you(text: str) -> Any:
    """The end of every notebook: something to try, said where the cell to change stands."""
    import marimo as mo

    edit = "`saccade explore ... --edit` opens this notebook with its code: change the cell below."
    return mo.md(f"## Now you\n{cleandoc(text)}\n\n{edit}")
