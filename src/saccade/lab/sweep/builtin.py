"""The sweeps that saccade brings along: one phase diagram per study, as a TOML file to copy from,
with its figure."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from saccade.lab import registry
from saccade.lab.sweep.design import Specification, read

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class BuiltIn:
    """`draw(data)` draws the opened sweep; `minutes` is what it took in one process of a busy
    machine when it was last measured."""

    id: str
    title: str
    caption: str
    file: Path
    draw: Callable[["xarray.Dataset"], "Drawing"]
    minutes: float

    @property
    def study(self) -> str:
        return self.id.split("/")[0]

    def specification(self) -> Specification:
        return read(self.file)


def find(name: str) -> BuiltIn:
    return registry.one("sweep", name, registry.of_study(name, registry.sweeps))


def draw(item: BuiltIn, data: "xarray.Dataset") -> "Drawing":
    """The figure, in the house style."""
    import matplotlib

    from saccade.lab.style import STYLE

    with matplotlib.rc_context(STYLE):
        return item.draw(data)
