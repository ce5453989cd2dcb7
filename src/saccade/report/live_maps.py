"""Maps of a drawing in Plotly's words: pictures, meshes and contours, with the colours they were
drawn in."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib import colors

from saccade.report.live_numbers import number, numbers, outline

STOPS = 11
MOST_CELLS = 40_000  # of one map; larger ones are thinned, for the page's weight


def _scale(mapped: Any) -> dict[str, Any]:
    """A colour scale and its limits, sampled from the colour map (linear norms; others keep the
    picture's order of colours)."""
    low, high = (float(value) for value in mapped.get_clim())
    shades = [colors.to_hex(mapped.cmap(place)) for place in np.linspace(0, 1, STOPS)]
    stops = [[place, shade] for place, shade in zip(numbers(np.linspace(0, 1, STOPS)), shades)]
    return {"colorscale": stops, "zmin": low, "zmax": high, "showscale": False}


def _rows(values: Any) -> list[list[float | int | None]]:
    table = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
    return [[number(value, 4) for value in row] for row in table]


def _thin(size: int, other: int) -> slice:
    return slice(None, None, max(1, int(np.ceil(np.sqrt(size * other / MOST_CELLS)))))


def image_trace(image: Any) -> dict[str, Any] | None:
    """An image of numbers as a heat map; photographs have no counterpart and stay in the
    picture."""
    values = np.ma.asarray(image.get_array())
    if values.ndim != 2:
        return None
    rows, columns = values.shape
    left, right, bottom, top = image.get_extent()
    if image.origin == "upper":
        bottom, top = top, bottom
    along = left + (np.arange(columns) + 0.5) * (right - left) / columns
    up = bottom + (np.arange(rows) + 0.5) * (top - bottom) / rows
    every = _thin(rows, columns)
    return {
        "type": "heatmap", "x": numbers(along[every], 7), "y": numbers(up[every], 7),
        "z": _rows(values[every, every]), **_scale(image)}


def mesh_trace(mesh: Any) -> dict[str, Any] | None:
    """A rectangular mesh as a heat map over the middles of its cells."""
    corners = np.asarray(mesh.get_coordinates())
    values = np.ma.asarray(mesh.get_array())
    rows, columns = corners.shape[0] - 1, corners.shape[1] - 1
    if values.size != rows * columns:  # shaded from corner to corner
        rows, columns = corners.shape[0], corners.shape[1]
        along, up = corners[0, :, 0], corners[:, 0, 1]
    else:
        along, up = (
            (corners[0, :-1, 0] + corners[0, 1:, 0]) / 2,
            (corners[:-1, 0, 1] + corners[1:, 0, 1]) / 2)
    every = _thin(rows, columns)
    table = values.reshape(rows, columns)[every, every]
    return {
        "type": "heatmap", "x": numbers(along[every], 7), "y": numbers(up[every], 7),
        "z": _rows(table), **_scale(mesh)}


def contour_traces(found: Any, axes: Any) -> Iterator[dict[str, Any]]:
    """Each level as an outline, filled where the drawing fills it."""
    faces = found.get_facecolors() if found.filled else found.get_edgecolors()
    for path, shade in zip(found.get_paths(), faces):
        pieces = [piece for piece in path.to_polygons(closed_only=False) if len(piece)]
        if not pieces:
            continue
        drawn = outline(pieces, axes)
        red, green, blue, alpha = colors.to_rgba(shade)
        paint = f"rgba({round(255 * red)},{round(255 * green)},{round(255 * blue)},{alpha:.3g})"
        yield {
            "type": "scatter", "mode": "lines", "x": numbers(drawn[:, 0]),
            "y": numbers(drawn[:, 1]), "fill": "toself" if found.filled else "none",
            "fillcolor": paint, "line": {"color": paint, "width": 0 if found.filled else 1},
            "name": "", "showlegend": False, "hoverinfo": "skip"}
