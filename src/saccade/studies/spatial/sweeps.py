"""Whether attention associates patches of one set, over spurious rate and set size."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray
from matplotlib.figure import Figure as Drawing

from saccade.lab.sweep.api import BuiltIn


def draw_association(data: xarray.Dataset) -> Drawing:
    """The score of a patch of the same set minus that of another at the end, and the error."""
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 3.0), sharey=True)
    rows, lead = np.arange(data.sizes["set_size"]), data.gamma - data.rho
    reach = float(np.nanmax(np.abs(lead)))
    shown = (
        (lead, "association", "γ - ρ at the end", "RdBu", -reach, reach),
        (data.error, "generalisation", "test error at the end", "viridis", 0, 0.5))
    for axes, (values, title, label, colours, low, high) in zip(panels, shown, strict=True):
        image = axes.pcolormesh(
            data.spurious_rate, rows, values.transpose("set_size", "spurious_rate"), cmap=colours,
            vmin=low, vmax=high, shading="nearest")
        figure.colorbar(image, ax=axes, label=label)
        axes.set(xlabel="spurious rate q", title=title)
        axes.set_yticks(rows, [str(int(size)) for size in data.set_size])
        axes.grid(False)
    panels[0].set_ylabel("set size C")
    return figure


SWEEPS = (BuiltIn(
    id="spatial/association",
    title="Whether patches of one set find each other, over spurious rate and set size",
    caption=(
        "Population descent of the three scalars of the idealised layer (64 patches, 4000"
        " steps, 2000 weighted states): how far the score of a patch of the same set leads that"
        " of another (blue: association, red: the opposite), and the test error."),
    file=Path(__file__).with_name("association.toml"), draw=draw_association, minutes=0.4),)
