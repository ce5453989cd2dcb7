"""Everything drawn in a pair of axes as Plotly's traces, with the numbers a page carries: five
digits, whole numbers without a point, even steps as a rule."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib import colors
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.contour import ContourSet
from matplotlib.path import Path

from saccade.report.words import plain_words

FEWEST_TO_RULE = 12  # shorter rows are said number by number
UNSEEN = 0.2  # points of the screen at 100 dots per inch: an outline may be off by this much
STOPS = 11  # of a colour scale
MOST_CELLS = 40_000  # of one map; larger ones are thinned, for the page's weight
CLEAR = "rgba(0,0,0,0)"
DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
MARKERS = {
    "o": "circle", "s": "square", "^": "triangle-up", "v": "triangle-down", "x": "x",
    "D": "diamond", "*": "star", "+": "cross", ".": "circle"}

Trace = dict[str, Any]


def traces(axes: Any) -> Iterator[Trace]:
    """Everything drawn in one pair of axes, in the order it is painted."""
    artists = [*axes.images, *axes.collections, *axes.patches, *axes.lines]
    for artist in sorted(artists, key=lambda item: item.get_zorder()):
        if artist.get_visible():
            yield from filter(None, _traces_of(axes, artist))


def _traces_of(axes: Any, artist: Any) -> Iterator[Trace | None]:
    if artist in axes.lines:
        yield _line(axes, artist)
    elif artist in axes.images:
        yield _image(artist)
    elif isinstance(artist, QuadMesh):
        yield _mesh(artist)
    elif isinstance(artist, ContourSet):
        yield from _contours(artist, axes)
    elif isinstance(artist, PathCollection):
        yield _points(artist)
    elif isinstance(artist, LineCollection):
        edges = artist.get_colors()
        yield _polygons(axes, artist.get_paths(), artist, None, edges[0] if len(edges) else "black")
    elif isinstance(artist, PolyCollection):
        faces = np.asarray(artist.get_facecolor())
        yield _polygons(axes, artist.get_paths(), artist, faces[0] if len(faces) else None, None)
    elif hasattr(artist, "get_path"):
        yield _polygons(axes, [artist.get_path()], artist, artist.get_facecolor(), None)


def number(value: float, digits: int = 5) -> float | int | None:
    """A number of so many digits; None, a gap, where it is not finite."""
    if not np.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def numbers(values: Any, digits: int = 5) -> list[float | int | None]:
    """A row of numbers, valid in JSON."""
    return [number(value, digits) for value in np.asarray(values, dtype=float).ravel()]


def points(along: Any, up: Any) -> Trace:
    """`x` and `y` of a curve. Where x goes in even steps, Plotly needs only its start and step."""
    along = np.asarray(along, dtype=float)
    if len(along) >= FEWEST_TO_RULE and np.all(np.isfinite(along)):
        step = (along[-1] - along[0]) / (len(along) - 1)
        if step and np.allclose(np.diff(along), step, rtol=1e-6, atol=0):
            return {"x0": float(along[0]), "dx": float(step), "y": numbers(up)}
    return {"x": numbers(along), "y": numbers(up)}


def outline(pieces: list[np.ndarray], axes: Any) -> np.ndarray:
    """Pieces of an outline with gaps between them, without the points that no eye would miss."""
    gap = np.full((1, 2), np.nan)
    return np.vstack([row for piece in pieces for row in (_fewer(piece, axes), gap)])


def _fewer(piece: np.ndarray, axes: Any) -> np.ndarray:
    """The piece simplified on the screen; as it is where it is short or leaves the screen
    (infinite, or nothing on a log axis)."""
    if len(piece) < FEWEST_TO_RULE:
        return piece
    with np.errstate(all="ignore"):
        on_screen = axes.transData.transform(piece)
    if not np.all(np.isfinite(on_screen)):
        return piece
    path = Path(on_screen)
    path.simplify_threshold = UNSEEN
    simple = path.cleaned(simplify=True)
    inside = np.asarray(simple.vertices)[np.asarray(simple.codes) != Path.STOP]
    return axes.transData.inverted().transform(inside) if len(inside) > 2 else piece


def _colour(value: Any, opacity: float | None = None) -> str:
    red, green, blue, alpha = colors.to_rgba(value)
    alpha = alpha if opacity is None else opacity
    return f"rgba({round(255 * red)},{round(255 * green)},{round(255 * blue)},{alpha:.3g})"


def _named(artist: Any) -> Trace:
    label = str(artist.get_label() or "")
    shown = bool(label) and not label.startswith("_")
    return {
        "name": plain_words(label) if shown else "", "showlegend": shown,
        "hoverinfo": "all" if shown else "x+y"}


def _in_data(axes: Any, artist: Any, points: Any) -> np.ndarray:
    """Points of an artist in the axes' own numbers, whatever coordinates it was given in (a
    vertical line has heights 0 to 1)."""
    return axes.transData.inverted().transform(
        artist.get_transform().transform(np.asarray(points, dtype=float)))


def _line(axes: Any, line: Any) -> Trace | None:
    ends = (line.get_xdata(orig=False), line.get_ydata(orig=False))
    places = np.column_stack([np.asarray(values, float) for values in ends])
    if not len(places):
        return None
    if line.get_transform() != axes.transData:
        places = _in_data(axes, line, places)
    style, marker = line.get_linestyle(), MARKERS.get(str(line.get_marker()))
    solid = line._unscaled_dash_pattern[1] is None
    modes = ["lines"] * (style not in ("None", "", " ")) + ["markers"] * bool(marker)
    trace = {
        "type": "scatter", **points(places[:, 0], places[:, 1]), "mode": "+".join(modes) or "lines",
        "line": {
            "color": _colour(line.get_color(), line.get_alpha()),
            "width": float(line.get_linewidth()),
            "dash": DASHES.get(style, "dash") if solid else "dash"},
        **_named(line)}
    return trace | ({"marker": _marker(line, marker)} if marker else {})


def _marker(line: Any, symbol: str) -> Trace:
    face = line.get_markerfacecolor()
    inside = CLEAR if isinstance(face, str) and face == "none" else _colour(face)
    edge = {"color": _colour(line.get_markeredgecolor()), "width": 1}
    return {"symbol": symbol, "size": float(line.get_markersize()), "color": inside, "line": edge}


def _points(collection: Any) -> Trace:
    offsets = np.ma.filled(np.ma.asarray(collection.get_offsets(), dtype=float), np.nan)
    faces, sizes = collection.get_facecolors(), collection.get_sizes()
    shades = _colour(faces[0]) if len(faces) else "rgba(0,0,0,0.6)"
    marker = {
        "color": [_colour(face) for face in faces] if len(faces) == len(offsets) else shades,
        "size": float(np.sqrt(sizes[0])) if len(sizes) else 6.0}
    return {
        "type": "scatter", "mode": "markers", "x": numbers(offsets[:, 0]),
        "y": numbers(offsets[:, 1]), "marker": marker, **_named(collection)}


def _area(pieces: list[np.ndarray], axes: Any, face: str | None, line: Trace) -> Trace | None:
    """Pieces of an outline as one trace with gaps between them; None where there are none."""
    if not pieces:
        return None
    places = outline(pieces, axes)
    fill = {"fill": "none"} if face is None else {"fill": "toself", "fillcolor": face}
    return {
        "type": "scatter", "mode": "lines", "x": numbers(places[:, 0]), "y": numbers(places[:, 1]),
        **fill, "line": line}


def _polygons(axes: Any, paths: Any, artist: Any, face: Any, edge: Any) -> Trace | None:
    """Filled shapes (bands, bars) or strokes (error bars)."""
    pieces = [
        _in_data(axes, artist, path.to_polygons(closed_only=False)[0]) for path in paths
        if len(path.vertices)]
    line = {"color": CLEAR if edge is None else _colour(edge), "width": 1}
    trace = _area(pieces, axes, None if face is None else _colour(face), line)
    return trace and trace | _named(artist)


def _contours(contours: Any, axes: Any) -> Iterator[Trace | None]:
    """Each level as an outline, filled where the drawing fills it."""
    filled = contours.filled
    shades = contours.get_facecolors() if filled else contours.get_edgecolors()
    for path, shade in zip(contours.get_paths(), map(_colour, shades)):
        pieces = [piece for piece in path.to_polygons(closed_only=False) if len(piece)]
        line = {"color": shade, "width": 0 if filled else 1}
        trace = _area(pieces, axes, shade if filled else None, line)
        yield trace and trace | {"name": "", "showlegend": False, "hoverinfo": "skip"}


def _heat_map(artist: Any, along: np.ndarray, up: np.ndarray, values: np.ndarray) -> Trace:
    """A map over the middles of its cells, thinned where it is large, in the colours it was drawn
    in (linear norms; others keep the picture's order of colours)."""
    every = slice(None, None, max(1, int(np.ceil(np.sqrt(values.size / MOST_CELLS)))))
    table = np.ma.filled(np.ma.asarray(values[every, every], dtype=float), np.nan)
    places = np.linspace(0, 1, STOPS)
    shades = [colors.to_hex(artist.cmap(place)) for place in places]
    low, high = (float(value) for value in artist.get_clim())
    return {
        "type": "heatmap", "x": numbers(along[every], 7), "y": numbers(up[every], 7),
        "z": [numbers(row, 4) for row in table],
        "colorscale": [[place, shade] for place, shade in zip(numbers(places), shades)],
        "zmin": low, "zmax": high, "showscale": False}


def _image(image: Any) -> Trace | None:
    """An image of numbers; photographs have no counterpart and stay in the picture."""
    values = np.ma.asarray(image.get_array())
    if values.ndim != 2:
        return None
    rows, columns = values.shape
    left, right, bottom, top = image.get_extent()
    if image.origin == "upper":
        bottom, top = top, bottom
    along = left + (np.arange(columns) + 0.5) * (right - left) / columns
    up = bottom + (np.arange(rows) + 0.5) * (top - bottom) / rows
    return _heat_map(image, along, up, values)


def _mesh(mesh: Any) -> Trace:
    """A rectangular mesh, flat in each cell or shaded from corner to corner."""
    corners = np.asarray(mesh.get_coordinates())
    values = np.ma.asarray(mesh.get_array())
    along, up = corners[0, :, 0], corners[:, 0, 1]
    if values.size == (len(along) - 1) * (len(up) - 1):
        along, up = (along[:-1] + along[1:]) / 2, (up[:-1] + up[1:]) / 2
    return _heat_map(mesh, along, up, values.reshape(len(up), len(along)))
