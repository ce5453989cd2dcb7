"""The figures: the task and the layer, risks and the field on the manifold, how long a step may be,
and descent from random starts. Most draw one run."""

from collections.abc import Callable, Mapping
from typing import Any

from saccade.lab.experiment import Experiment, Run
from saccade.lab.figure import Figure

ORDER = ("task", "risk", "steps", "runs", "beyond")


def figure(
    id: str, title: str, caption: str, source: str, experiment: Experiment,
    changes: Mapping[str, Any], draw: Callable[[Run], Any],
    scales: Mapping[str, Mapping[str, Any]] | None = None, **fields: Any,
) -> Figure:
    """A figure that draws one run; `scales` holds what differs from `changes`."""
    return Figure(
        id=id, title=title, caption=caption, source=source, runs={"run": (experiment, changes)},
        draw=lambda runs: draw(runs["run"]),
        scales={scale: {"run": more} for scale, more in (scales or {}).items()}, **fields)
