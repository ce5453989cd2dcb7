"""The map as a sweep: a coarse one as a file to copy from; `saccade atlas` writes the whole one."""

from pathlib import Path
from typing import Any

import numpy as np
import xarray

from saccade.lab.sweep.api import BuiltIn
from saccade.studies.attention_atlas.figures import Entries, Entry, entry
from saccade.studies.attention_atlas.figures.whole import draw_map


def entries_of(data: xarray.Dataset) -> Entries:
    """Of the cells of an opened sweep, a grid or a list; one that did not finish has a word."""
    if "cell" not in data.dims:
        axes = [name for name in ("task", "learner", "samples") if name in data.dims]
        data = data.stack(cell=axes)
    made = {}
    for number in range(data.sizes["cell"]):
        one = data.isel(cell=number)
        status = str(one.status.item())
        made[_name(one, "task"), _name(one, "learner"), int(_name(one, "samples", 0))] = (
            entry(one) if status == "finished" else Entry(np.nan, np.nan, np.nan, status))
    return made


def _name(one: xarray.Dataset, axis: str, otherwise: Any = "") -> Any:
    return one[axis].item() if axis in one.coords else otherwise


SWEEPS = (BuiltIn(
    id="attention-atlas/coarse", title="The atlas, coarse: six learners on six tasks",
    caption="Excess error of six learners on six tasks from 200 samples, mean of 16 draws.",
    file=Path(__file__).with_name("coarse.toml"), draw=lambda data: draw_map(entries_of(data)),
    minutes=1.0),)
