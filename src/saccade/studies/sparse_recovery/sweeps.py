"""How often a sparse vector is found from N measurements: exact LASSO, few unrolled steps."""

from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray
from matplotlib.figure import Figure as Drawing

from saccade.lab.style import THEORY
from saccade.lab.sweep.api import BuiltIn
from saccade.studies.sparse_recovery.cells import METHODS
from saccade.studies.sparse_recovery.rows_needed import needed_share


@partial(
    BuiltIn, "sparse-recovery/success",
    "When a sparse vector is found, over measurements and sparsity",
    "Share of 64 noiseless Gaussian instances (d = 30) in which |b - beta|^2 is at most 1 % of"
    " |beta|^2: the shortest least-squares solution, 12 steps of ISTA and of FISTA with the best"
    " of five penalties, and the LASSO with a faint penalty. Dashed: where l1 minimisation begins"
    " to succeed in high dimension (statistical dimension).",
    Path(__file__).with_name("success.toml"), minutes=0.2)
def draw_success(data: xarray.Dataset) -> Drawing:
    """One map per method, with the asymptotic line of l1 minimisation in each."""
    figure, panels = plt.subplots(1, 4, figsize=(9.6, 2.8), sharey=True)
    sparse = np.linspace(0.5, float(data.sparsity.max()), 60)
    line = [30 * needed_share(value / 30) for value in sparse]  # d = 30
    for axes, name in zip(panels, METHODS, strict=True):
        share = data.success.sel({"method": name}).transpose("sparsity", "measurements")
        axes.pcolormesh(
            data.measurements, data.sparsity, share, vmin=0, vmax=1, cmap="viridis",
            shading="nearest")
        axes.plot(line, sparse, **{**THEORY, "color": "white"})
        axes.set(xlabel="measurements N", title=name, yticks=[1, 5, 10, 15])
        axes.grid(False)
    panels[0].set_ylabel("sparsity S")
    figure.colorbar(panels[0].collections[0], ax=panels, label="share found", shrink=0.9)
    return figure
