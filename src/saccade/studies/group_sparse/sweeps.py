"""How training of the position-only layer ends, over step size and number of groups."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Drawing

from saccade.lab.style import BLUE, GREY, ORANGE, RED
from saccade.lab.sweep.api import BuiltIn
from saccade.studies.group_sparse.cells import OUTPUTS
from saccade.studies.group_sparse.dynamics.position_map import REGIMES, name_ending


def regimes_of(data: xarray.Dataset, steps: int = 5000, scale: float = 1.0) -> np.ndarray:
    """Codes into REGIMES, (groups, step size); NaN where there is no cell."""
    codes = np.full((data.sizes["groups"], data.sizes["step_size"]), np.nan)
    for place in np.ndindex(*codes.shape):
        cell = data.isel(groups=place[0], step_size=place[1])
        if cell.status == "finished":
            numbers = [float(cell[name]) for name in OUTPUTS]
            word = name_ending(int(cell.groups), float(cell.step_size), steps, scale, *numbers)
            codes[place] = REGIMES.index(word)
    return codes


def draw_regimes(data: xarray.Dataset) -> Drawing:
    """The word of every cell, and the attention that it leaves elsewhere."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.3), sharey=True)
    colours = (BLUE, ORANGE, RED, GREY)
    left.pcolormesh(
        data.step_size, data.groups, regimes_of(data), cmap=ListedColormap(colours), vmin=-0.5,
        vmax=3.5, shading="nearest")
    for colour, name in zip(colours, REGIMES, strict=True):
        left.plot([], [], "s", color=colour, label=name)
    left.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.2), ncol=4, columnspacing=1.0, handletextpad=0.2
    )
    rest = np.log10(np.clip(data.one_minus_attention, 1e-12, 1.0))
    image = right.pcolormesh(data.step_size, data.groups, rest, cmap="magma", shading="nearest")
    figure.colorbar(image, ax=right, label="log10(1 - attention)")
    for axes, title in ((left, "how 5000 steps end"), (right, "attention elsewhere")):
        axes.set(xscale="log", yscale="log", xlabel="step size η", title=title)
        axes.grid(False)
    left.set_ylabel("number of groups D")
    return figure


SWEEPS = (BuiltIn(
    "group-sparse/phase",
    "How runs of the position-only layer end, over step size and number of groups",
    "Population descent of the position-only layer by its exact map, 5000 steps from zero, sigma_x"
    " = 1: concentrating on the relevant group, locked (attention has stopped growing ahead of its"
    " law), locked out of it, or unstable. Right: attention left on other groups, clipped at"
    " 1e-12.", Path(__file__).with_name("phase.toml"), draw_regimes, minutes=0.1),)
