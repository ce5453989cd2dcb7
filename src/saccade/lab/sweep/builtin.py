"""The sweeps that saccade brings along: one phase diagram per study, as a TOML file to copy from, with its figure."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from saccade.errors import unknown
from saccade.lab.sweep.design import Specification, read
from saccade.studies import STUDIES

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class BuiltIn:
    """`draw(data)` draws the opened sweep; `minutes` is what it took in one process of a busy machine when it was last measured."""

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


def all_built_in() -> list[BuiltIn]:
    """Those of every study that has any."""
    rooms = [study.room("sweeps") for study in STUDIES.values()]
    return [item for room in rooms if _exists(room) for item in import_module(room).SWEEPS]


def _exists(room: str) -> bool:
    try:
        return find_spec(room) is not None
    except ModuleNotFoundError:  # not even the folder
        return False


def find(name: str) -> BuiltIn:
    known = {item.id: item for item in all_built_in()}
    if name not in known:
        raise unknown("sweep", name, known)
    return known[name]


def draw(item: BuiltIn, data: "xarray.Dataset") -> "Drawing":
    """The figure, in the house style."""
    import matplotlib

    from saccade.lab.style import STYLE

    with matplotlib.rc_context(STYLE):
        return item.draw(data)
