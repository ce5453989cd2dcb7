"""A drawing one can zoom and point at: the data of a matplotlib figure, said again in Plotly's
words.

Figures are drawn once, for paper. What they hold (curves, points, error bars, bands, maps, words)
is read off their axes, so that every figure is interactive without a second version of its code.
What has no counterpart is left to the picture beside it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib import colors
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.figure import Figure as Drawing

from saccade.report.live_maps import contour_traces, image_trace, mesh_trace
from saccade.report.live_numbers import numbers, outline, points
from saccade.report.mathematics import plain_words

DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
MARKERS = {
    "o": "circle", "s": "square", "^": "triangle-up", "v": "triangle-down", "x": "x",
    "D": "diamond", "*": "star", "+": "cross", ".": "circle"}
UPRIGHT = {
    "top": "top", "bottom": "bottom", "baseline": "bottom", "center": "middle",
    "center_baseline": "middle"}


def colour(value: Any, opacity: float | None = None) -> str:
    red, green, blue, alpha = colors.to_rgba(value)
    alpha = alpha if opacity is None else opacity
    return f"rgba({round(255 * red)},{round(255 * green)},{round(255 * blue)},{alpha:.3g})"


def _in_data(axes: Any, artist: Any, points: Any) -> np.ndarray:
    """Points of an artist in the axes' own numbers, whatever coordinates it was given in (a
    vertical line has heights 0 to 1)."""
    return axes.transData.inverted().transform(
        artist.get_transform().transform(np.asarray(points, dtype=float)))


def _line(axes: Any, line: Any) -> dict[str, Any] | None:
    given = np.column_stack([
        np.asarray(line.get_xdata(orig=False), float),
        np.asarray(line.get_ydata(orig=False), float)])
    if not len(given):
        return None
    placed = given if line.get_transform() == axes.transData else _in_data(axes, line, given)
    drawn, marker = (
        line.get_linestyle() not in ("None", "", " "), MARKERS.get(str(line.get_marker())))
    dash = (
        DASHES.get(line.get_linestyle(), "dash") if line._unscaled_dash_pattern[1] is None
        else "dash")
    return {
        "type": "scatter", **points(placed[:, 0], placed[:, 1]),
        "mode": "+".join(["lines"] * drawn + ["markers"] * bool(marker)) or "lines",
        "line": {
            "color": colour(line.get_color(), line.get_alpha()),
            "width": float(line.get_linewidth()), "dash": dash},
        **(
            {"marker": {
                "symbol": marker, "size": float(line.get_markersize()), **_marker_colours(line)}}
            if marker else {}),
        **_named(line)}


def _marker_colours(line: Any) -> dict[str, Any]:
    face = line.get_markerfacecolor()
    inside = "rgba(0,0,0,0)" if isinstance(face, str) and face == "none" else colour(face)
    return {"color": inside, "line": {"color": colour(line.get_markeredgecolor()), "width": 1}}


def _named(artist: Any) -> dict[str, Any]:
    label = str(artist.get_label() or "")
    shown = bool(label) and not label.startswith("_")
    return {
        "name": plain_words(label) if shown else "", "showlegend": shown,
        "hoverinfo": "all" if shown else "x+y"}


def _polygons(axes: Any, paths: Any, artist: Any, face: Any, edge: Any) -> dict[str, Any] | None:
    """Filled shapes (bands, bars) or strokes (error bars) as one trace with gaps between them."""
    pieces = [
        _in_data(axes, artist, path.to_polygons(closed_only=False)[0]) for path in paths
        if len(path.vertices)]
    if not pieces:
        return None
    drawn = outline(pieces, axes)
    filled = face is not None
    return {
        "type": "scatter", "mode": "lines", "x": numbers(drawn[:, 0]), "y": numbers(drawn[:, 1]),
        "fill": "toself" if filled else "none", **({"fillcolor": colour(face)} if filled else {}),
        "line": {"color": colour(edge) if edge is not None else "rgba(0,0,0,0)", "width": 1},
        **_named(artist)}


def _points(collection: Any) -> dict[str, Any]:
    offsets = np.ma.filled(np.ma.asarray(collection.get_offsets(), dtype=float), np.nan)
    faces = collection.get_facecolors()
    shades = (
        [colour(face) for face in faces] if len(faces) == len(offsets) else colour(faces[0])
        if len(faces) else "rgba(0,0,0,0.6)")
    size = float(np.sqrt(collection.get_sizes()[0])) if len(collection.get_sizes()) else 6.0
    return {
        "type": "scatter", "mode": "markers", "x": numbers(offsets[:, 0]),
        "y": numbers(offsets[:, 1]), "marker": {"color": shades, "size": size},
        **_named(collection)}


def _traces(axes: Any) -> Iterator[dict[str, Any] | None]:
    """Everything drawn in one pair of axes, in the order it is painted."""
    artists = [*axes.images, *axes.collections, *axes.patches, *axes.lines]
    for artist in sorted(artists, key=lambda item: item.get_zorder()):
        if not artist.get_visible():
            continue
        if artist in axes.lines:
            yield _line(axes, artist)
        elif artist in axes.images:
            yield image_trace(artist)
        elif isinstance(artist, QuadMesh):
            yield mesh_trace(artist)
        elif type(artist).__name__ in ("QuadContourSet", "TriContourSet", "ContourSet"):
            yield from contour_traces(artist, axes)
        elif isinstance(artist, PathCollection):
            yield _points(artist)
        elif isinstance(artist, LineCollection):
            edges = artist.get_colors()
            yield _polygons(
                axes, artist.get_paths(), artist, None, edges[0] if len(edges) else "black")
        elif isinstance(artist, PolyCollection):
            faces = np.asarray(artist.get_facecolor())
            yield _polygons(
                axes, artist.get_paths(), artist, faces[0] if len(faces) else None, None)
        elif hasattr(artist, "get_path"):
            yield _polygons(axes, [artist.get_path()], artist, artist.get_facecolor(), None)


def _axis(
    axes: Any, letter: str, low: float, high: float, number: str, other: str
) -> dict[str, Any]:
    kind = getattr(axes, f"get_{letter}scale")()
    limits = np.asarray(getattr(axes, f"get_{letter}lim")(), dtype=float)
    ticks = getattr(axes, f"get_{letter}ticklabels")()
    named = [
        (float(tick.get_position()["xy".index(letter)]), plain_words(tick.get_text()))
        for tick in ticks if tick.get_text()]
    fixed = type(getattr(axes, f"{letter}axis").get_major_locator()).__name__ == "FixedLocator"
    return {
        "domain": [float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))],
        "anchor": f"{other}{number}", "type": "log" if kind == "log" else "linear",
        "exponentformat": "power", "range": numbers(np.log10(limits) if kind == "log" else limits),
        "title": {"text": plain_words(getattr(axes, f"get_{letter}label")()), "standoff": 6},
        "visible": bool(axes.axison),
        **(
            {"tickvals": [place for place, _ in named], "ticktext": [text for _, text in named]}
            if fixed and named else {})}


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
        placed = {
            "x": float(along), "y": float(up), "xanchor": text.get_ha(),
            "yanchor": UPRIGHT[text.get_va()]}
        yield {**frame, **placed, "text": plain_words(text.get_text()), "font": {"size": 11}}


def interactive(drawing: Drawing) -> dict[str, Any]:
    """Plotly's `data` and `layout` of a drawing; colours of ground and words are left to the page,
    which may be dark."""
    drawing.canvas.draw()
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "annotations": [], "margin": {"l": 64, "r": 16, "t": 32, "b": 84}, "hovermode": "closest"}
    layout["legend"] = {
        "orientation": "h", "yref": "container", "y": 0.02, "yanchor": "bottom", "x": 0}
    panels = [axes for axes in drawing.axes if not hasattr(axes, "_colorbar")]
    for count, axes in enumerate(panels, start=1):
        number = "" if count == 1 else str(count)
        box = axes.get_position()
        layout[f"xaxis{number}"] = _axis(axes, "x", box.x0, box.x1, number, "y")
        layout[f"yaxis{number}"] = _axis(axes, "y", box.y0, box.y1, number, "x")
        layout["annotations"] += list(_words(axes, number))
        data += [
            {**trace, "xaxis": f"x{number}", "yaxis": f"y{number}"} for trace in _traces(axes)
            if trace]
    layout["showlegend"] = any(trace.get("showlegend") for trace in data)
    return {"data": _first_of_each_name(data), "layout": layout}


def _first_of_each_name(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Panels repeat names; the legend says each once, and a click on it hides all of that name."""
    seen: set[str] = set()
    for trace in data:
        name = trace.get("name", "")
        if trace.get("showlegend"):
            trace["legendgroup"] = name
            trace["showlegend"] = name not in seen
            seen.add(name)
    return data
