"""Which end state descent reaches from random starts, over temperature and dimension."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray
from matplotlib.figure import Figure as Drawing

from saccade.lab.style import THEORY
from saccade.lab.sweep.api import BuiltIn
from saccade.studies.single_location import dynamics, theory


def draw_phase(data: xarray.Dataset) -> Drawing:
    """The share of starts that ends in each state, and the line above which an attractor exists."""
    figure, panels = plt.subplots(1, 4, figsize=(9.6, 2.8), sharey=True)
    dims = np.geomspace(float(data.dim.min()), float(data.dim.max()), 60)
    critical = [theory.critical_inverse_temperature(int(dim), 10, 2**-0.5) for dim in dims]
    for code, (axes, name) in enumerate(zip(panels, dynamics.OUTCOMES, strict=True)):
        share = (data.outcome == code).mean("repetition").where(data.status == "finished")
        axes.pcolormesh(
            data.dim, data.inverse_temperature, share.T, vmin=0, vmax=1, cmap="viridis",
            shading="nearest")
        axes.plot(dims, critical, **{**THEORY, "color": "white"})
        axes.set(xscale="log", yscale="log", xlabel="dimension d", title=name)
        axes.set_ylim(float(data.inverse_temperature.min()), float(data.inverse_temperature.max()))
        axes.grid(False)
    panels[0].set_ylabel("inverse temperature λ")
    figure.colorbar(panels[0].collections[0], ax=panels, label="share of starts", shrink=0.9)
    return figure


SWEEPS = (BuiltIn(
    id="single-location/phase",
    title="Where descent ends, over inverse temperature and dimension",
    caption="Share of 40 random starts on the sphere that end at the oracle, at the swapped state,"
    " at the attractor off the manifold, or elsewhere after 20,000 exact steps of size"
    " 0.001 (L = 10, gamma = 1/sqrt 2, no noise). Dashed: the critical inverse temperature,"
    " above which the attractor exists (theory).", file=Path(__file__).with_name("phase.toml"),
    draw=draw_phase, minutes=0.5),)
