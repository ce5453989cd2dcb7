"""Figures: a drawing of stored runs beside their theory. A figure and a claim about the same thing
read the same run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saccade.errors import InvalidInput
from saccade.lab.calculator import as_json
from saccade.lab.experiment import Experiment, Run
from saccade.lab.run import run
from saccade.lab.settings import Changes, changed_figure, refusal, words
from saccade.lab.store import Store, StoreUnwritable
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
            "source": self.source, "parameters": as_json(self._parameters())}

    def _parameters(self) -> dict[str, Any]:
        """What `figure(..., name=value)` may change, as drawn: of the first run that has it."""
        known: dict[str, Any] = {}
        for label, (experiment, fixed) in self.runs.items():
            for name, about in experiment.describe()["parameters"].items():
                own = {scale: changes.get(label, {}) for scale, changes in self.scales.items()}
                known.setdefault(
                    name,
                    {
                        "type": about["type"], "default": fixed.get(name, about["default"]),
                        "scales": about["scales"]
                        | {
                            scale: changes[name] for scale, changes in own.items()
                            if name in changes}})
        return known


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
    import matplotlib

    changed = changed_figure(figure, changes)
    with matplotlib.rc_context(STYLE):
        try:
            drawing = figure.draw(collect(changed, scale, seed, store, fresh))
        except StoreUnwritable:
            raise
        except Exception as problem:
            raise refusal(f"figure {figure.id!r}", "drawn", changes, problem) from problem
        said = f"Not the published setting: {words(changes)}"
        drawing.text(0.01, -0.01, said, fontsize="small", va="top", color="#a33")
    return drawing


def draw_as_asked(
    figure: Figure, changes: Changes, scale: str, seed: int, store: Store, fresh: bool
) -> "Drawing":
    """As published, or at somebody's own parameters where there are changes."""
    if changes:
        return draw_changed(figure, changes, scale, seed, store, fresh)
    return draw(figure, scale, seed, store, fresh)


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
