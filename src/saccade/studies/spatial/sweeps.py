"""Whether attention associates patches of one set, over spurious rate and set size."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray
from matplotlib.figure import Figure as Drawing

from saccade.lab.sweep.builtin import BuiltIn


def draw_association(data: xarray.Dataset) -> Drawing:
    """The score of a patch of the same set minus that of another at the end, and the error."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.0), sharey=True)
    rows = np.arange(data.sizes["set_size"])
    lead = (data.gamma - data.rho).transpose("set_size", "spurious_rate")
    reach = float(np.nanmax(np.abs(lead)))
    image = left.pcolormesh(
        data.spurious_rate, rows, lead, cmap="RdBu", vmin=-reach, vmax=reach, shading="nearest")
    figure.colorbar(image, ax=left, label="γ - ρ at the end")
    error = data.error.transpose("set_size", "spurious_rate")
    image = right.pcolormesh(
        data.spurious_rate, rows, error, cmap="viridis", vmin=0, vmax=0.5, shading="nearest")
    figure.colorbar(image, ax=right, label="test error at the end")
    for axes, title in ((left, "association"), (right, "generalisation")):
        axes.set(xlabel="spurious rate q", title=title)
        axes.set_yticks(rows, [str(int(size)) for size in data.set_size])
        axes.grid(False)
    left.set_ylabel("set size C")
    return figure


SWEEPS = (BuiltIn(
    id="spatial/association",
    title="Whether patches of one set find each other, over spurious rate and set size",
    caption=(
        "Population descent of the three scalars of the idealised layer (64 patches, 4000"
        " steps, 2000 weighted states): how far the score of a patch of the same set leads that"
        " of another (blue: association, red: the opposite), and the test error."),
    file=Path(__file__).with_name("association.toml"), draw=draw_association, minutes=0.4),)
