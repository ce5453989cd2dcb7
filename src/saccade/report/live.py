"""A drawing one can zoom and point at: the data of a matplotlib figure, said again in Plotly's
words.

Figures are drawn once, for paper. What they hold (curves, points, error bars, bands, maps, words)
is read off their axes, so that every figure is interactive without a second version of its code.
What has no counterpart is left to the picture beside it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.report.traces import numbers, traces
from saccade.report.words import plain_words

UPRIGHT = {
    "top": "top", "bottom": "bottom", "baseline": "bottom", "center": "middle",
    "center_baseline": "middle"}


def interactive(drawing: Drawing) -> dict[str, Any]:
    """Plotly's `data` and `layout` of a drawing; ground and words are coloured by the page."""
    drawing.canvas.draw()
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "annotations": [], "margin": {"l": 64, "r": 16, "t": 32, "b": 84}, "hovermode": "closest",
        "legend": {"orientation": "h", "yref": "container", "y": 0.02, "yanchor": "bottom", "x": 0}}
    panels = [axes for axes in drawing.axes if not hasattr(axes, "_colorbar")]
    for count, axes in enumerate(panels, start=1):
        number = "" if count == 1 else str(count)
        box = axes.get_position()
        layout[f"xaxis{number}"] = _axis(axes, "x", box.x0, box.x1, f"y{number}")
        layout[f"yaxis{number}"] = _axis(axes, "y", box.y0, box.y1, f"x{number}")
        layout["annotations"] += _words(axes, number)
        data += [{**trace, "xaxis": f"x{number}", "yaxis": f"y{number}"} for trace in traces(axes)]
    layout["showlegend"] = any(trace.get("showlegend") for trace in data)
    _name_once(data)
    return {"data": data, "layout": layout}


def _axis(axes: Any, letter: str, low: float, high: float, anchor: str) -> dict[str, Any]:
    logarithmic = getattr(axes, f"get_{letter}scale")() == "log"
    limits = np.asarray(getattr(axes, f"get_{letter}lim")(), dtype=float)
    axis: dict[str, Any] = {
        "domain": [float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))], "anchor": anchor,
        "type": "log" if logarithmic else "linear", "exponentformat": "power",
        "range": numbers(np.log10(limits) if logarithmic else limits),
        "title": {"text": plain_words(getattr(axes, f"get_{letter}label")()), "standoff": 6},
        "visible": bool(axes.axison)}
    ticks = [tick for tick in getattr(axes, f"get_{letter}ticklabels")() if tick.get_text()]
    locator = getattr(axes, f"{letter}axis").get_major_locator()
    if ticks and type(locator).__name__ == "FixedLocator":
        axis["tickvals"] = [float(tick.get_position()["xy".index(letter)]) for tick in ticks]
        axis["ticktext"] = [plain_words(tick.get_text()) for tick in ticks]
    return axis


def _words(axes: Any, number: str) -> Iterator[dict[str, Any]]:
    """The axes' title and the texts written into them."""
    frame = {"xref": f"x{number} domain", "yref": f"y{number} domain", "showarrow": False}
    for title in filter(None, (axes.get_title(loc) for loc in ("left", "center", "right"))):
        yield {
            **frame, "text": f"<b>{plain_words(title)}</b>", "x": 0, "y": 1, "yanchor": "bottom",
            "xanchor": "left"}
    for text in filter(lambda item: item.get_text(), axes.texts):
        along, up = axes.transAxes.inverted().transform(
            text.get_transform().transform(text.get_unitless_position()))
        yield {
            **frame, "x": float(along), "y": float(up), "xanchor": text.get_ha(),
            "yanchor": UPRIGHT[text.get_va()], "text": plain_words(text.get_text()),
            "font": {"size": 11}}


def _name_once(data: list[dict[str, Any]]) -> None:
    """Panels repeat names; the legend says each once, and a click on it hides all of that name."""
    names: set[str] = set()
    for trace in data:
        if trace.get("showlegend"):
            name = trace.get("name", "")
            trace |= {"legendgroup": name, "showlegend": name not in names}
            names.add(name)
