"""Numbers of an interactive figure as a page carries them: five digits, whole numbers without a
point, even steps as a rule."""

from typing import Any

import numpy as np
from matplotlib.path import Path

FEWEST_TO_RULE = 12  # shorter rows are said number by number
UNSEEN = 0.2  # points of the screen at 100 dots per inch: an outline may be off by this much


def number(value: float, digits: int = 5) -> float | int | None:
    """A number of so many digits; None, a gap, where it is not finite."""
    if not np.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def numbers(values: Any, digits: int = 5) -> list[float | int | None]:
    """A row of numbers, valid in JSON."""
    return [number(value, digits) for value in np.asarray(values, dtype=float).ravel()]


def points(along: Any, up: Any) -> dict[str, Any]:
    """`x` and `y` of a curve. Where x goes in even steps, its start and step are all that Plotly
    needs."""
    along = np.asarray(along, dtype=float)
    said: dict[str, Any] = {"y": numbers(up)}
    if len(along) >= FEWEST_TO_RULE and np.all(np.isfinite(along)):
        step = (along[-1] - along[0]) / (len(along) - 1)
        if step and np.allclose(np.diff(along), step, rtol=1e-6, atol=0):
            return {"x0": float(along[0]), "dx": float(step), **said}
    return {"x": numbers(along), **said}


def outline(pieces: list[np.ndarray], axes: Any) -> np.ndarray:
    """Pieces of an outline (in the axes' numbers) with gaps between them, without the points that
    no eye would miss."""
    gap = np.full((1, 2), np.nan)
    rows = [row for piece in pieces for row in (_fewer(piece, axes), gap)]
    return np.vstack(rows)


def _fewer(piece: np.ndarray, axes: Any) -> np.ndarray:
    """The piece simplified on the screen; as it is where it is short or leaves the screen
    (infinite, or nothing on a log axis)."""
    if len(piece) < FEWEST_TO_RULE:
        return piece
    with np.errstate(all="ignore"):
        seen = axes.transData.transform(piece)
    if not np.all(np.isfinite(seen)):
        return piece
    path = Path(seen)
    path.simplify_threshold = UNSEEN
    kept = path.cleaned(simplify=True)
    inside = np.asarray(kept.vertices)[np.asarray(kept.codes) != Path.STOP]
    return axes.transData.inverted().transform(inside) if len(inside) > 2 else piece
