"""Figures: a drawing of stored runs beside their theory. A figure and a claim about the same thing
read the same run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saccade.errors import InvalidInput
from saccade.lab.experiment import Experiment, Run
from saccade.lab.run import run
from saccade.lab.settings import Changes, changed_figure, words
from saccade.lab.store import Store
from saccade.lab.style import STYLE
from saccade.lab.whole import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

FORMATS = ("pdf", "png", "svg")


@dataclass(frozen=True)
class Figure:
    """`runs`: the experiments it draws with their changes, further ones per scale in `scales`."""

    id: str
    title: str
    caption: str
    source: str
    runs: Mapping[str, tuple[Experiment, Mapping[str, Any]]]
    draw: Callable[[Mapping[str, Run]], "Drawing"]
    scales: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    requires: str | None = None

    @property
    def study(self) -> str:
        return self.id.split("/")[0]

    def describe(self) -> dict[str, Any]:
        return {
            "id": self.id, "study": self.study, "title": self.title, "caption": self.caption,
            "source": self.source}


def collect(
    figure: Figure, scale: str = "quick", seed: int = 0, store: Store | None = None,
    fresh: bool = False,
) -> dict[str, Run]:
    """The runs a figure draws, from the store where they are there."""
    changes = figure.scales.get(scale, {})
    return {
        name: run(
            item, {**fixed, **changes.get(name, {})}, scale=scale, seed=seed, store=store,
            fresh=fresh)
        for name, (item, fixed) in figure.runs.items()}


def draw(
    figure: Figure, scale: str = "quick", seed: int = 0, store: Store | None = None,
    fresh: bool = False,
) -> "Drawing":
    """Collect and draw, in the house style."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        return figure.draw(collect(figure, scale, seed, store, fresh))


def draw_changed(
    figure: Figure, changes: Changes, scale: str = "quick", seed: int = 0,
    store: Store | None = None, fresh: bool = False,
) -> "Drawing":
    """The figure at somebody's own parameters, and marked so."""
    runs = collect(changed_figure(figure, changes), scale, seed, store, fresh)
    import matplotlib

    with matplotlib.rc_context(STYLE):
        try:
            drawing = figure.draw(runs)
        except Exception as problem:
            raise InvalidInput(
                f"The figure {figure.id!r} cannot be drawn with {words(changes)}"
                f" ({type(problem).__name__}: {problem}).") from problem
        said = f"Not the published setting: {words(changes)}"
        drawing.text(0.01, -0.01, said, fontsize="small", va="top", color="#a33")
    return drawing


def check_output(path: str | Path) -> None:
    """Refuse an impossible output name before anything is computed."""
    if Path(path).suffix.removeprefix(".").lower() not in FORMATS:
        raise InvalidInput(f"output = {str(path)!r} must end in .pdf, .png or .svg.")


def save(drawing: "Drawing", path: str | Path) -> Path:
    """Write a drawing; the ending of the name chooses the format."""
    check_output(path)
    with whole(path) as part:
        drawing.savefig(part, bbox_inches="tight", dpi=200)
    return Path(path)
