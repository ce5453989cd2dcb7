"""Sparse token: which of attention, mean pooling and the vectorised classifier has the smallest
error, over signal and alignment."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Drawing

from saccade.lab.style import BLUE, GREEN, ORANGE
from saccade.lab.sweep.api import BuiltIn
from saccade.studies.sparse_token.task import MODELS


def draw_winner(data: xarray.Dataset) -> Drawing:
    """Who wins, and by how much attention beats or misses the better of the other two."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.2), sharey=True)
    whole = data.test_error.notnull().all("model")
    best = data.test_error.fillna(np.inf).argmin("model").where(whole)
    left.pcolormesh(
        data.signal, data.alignment, best.T, cmap=ListedColormap([BLUE, ORANGE, GREEN]), vmin=-0.5,
        vmax=2.5, shading="nearest")
    for colour, name in zip((BLUE, ORANGE, GREEN), MODELS, strict=True):
        left.plot([], [], "s", color=colour, label=name)
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncol=3)
    others = data.test_error.sel(model=["pooled", "vectorised"]).min("model")
    gain = others - data.test_error.sel(model="attention")
    reach = float(np.nanmax(np.abs(gain)))
    image = right.pcolormesh(
        data.signal, data.alignment, gain.T, cmap="RdBu", vmin=-reach, vmax=reach, shading="nearest"
    )
    right.contour(data.signal, data.alignment, gain.T, levels=[0.0], colors="black", linewidths=1)
    figure.colorbar(image, ax=right, label="difference of test errors")
    left.set(title="smallest test error", xlabel="signal θ", ylabel="cosine of query and signal")
    right.set(title="what attention gains over the better other", xlabel="signal θ")
    for axes in (left, right):
        axes.grid(False)
    return figure


SWEEPS = (BuiltIn(
    id="sparse-token/winner",
    title="The best of three classifiers, over signal and alignment of the query",
    caption=(
        "Predicted test errors in high dimension (asymptotic) of attention with sharpness 2,"
        " mean pooling and the vectorised classifier at 4 samples per dimension, each with the"
        " best of three ridges (L = 10, R = 1, pi = 1/2). Black line: attention and the better"
        " of the other two tie."),
    file=Path(__file__).with_name("winner.toml"), draw=draw_winner, minutes=0.9),)
