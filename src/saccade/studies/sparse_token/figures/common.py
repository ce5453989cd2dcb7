"""What the figures share: colours of the models, and points with their standard errors."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from saccade.lab.style import BLUE, GREEN, ORANGE

BESIDE = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}  # of a legend
COLOURS = {"attention": BLUE, "pooled": ORANGE, "vectorised": GREEN}


def points(axes: Axes, x, values: np.ndarray, colour: str, label: str | None = None) -> None:
    """Means over trials (first axis) with one standard error."""
    error = values.std(0, ddof=1) / np.sqrt(len(values))
    axes.errorbar(
        x, values.mean(0), error, fmt="o", color=colour, markersize=4, capsize=2, label=label)


def name_points(axis: Axis, values) -> None:
    """The values themselves as ticks of a logarithmic axis, and no others."""
    axis.set_ticks(values, [f"{value:g}" for value in values])
    axis.set_ticks([], minor=True)
