"""Figures of LISTA-VM with its full matrix, of published numbers, and of linear rates."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREY, ORANGE, RED, THEORY
from saccade.studies.sparse_recovery.claims.outside import PUBLISHED
from saccade.studies.sparse_recovery.claims.rates import DIMS, GRID, SPARSITIES, grid_rates
from saccade.studies.sparse_recovery.experiments import depths, full_matrix, outside, rates
from saccade.studies.sparse_recovery.figures.learned import LOOKS, lines, median, pooled
from saccade.studies.sparse_recovery.rows_needed import certified_rows

TITLES = {
    "gaussian": "Gaussian, free supports", "pool": "supports in 10 of 20",
    "correlated": "columns correlated by 0.8", "blocks": "one block of four"}
NAMES = {"lista-vm": "numbers", "lista-vm, told": "numbers, told", "lista-vm, full": "full matrix"}


@partial(
    Figure, "sparse-recovery/full-matrix", "LISTA-VM with its full matrix",
    "Upper: errors after 12 layers on new matrices, dots are medians, whiskers reach from the 10 %"
    " to the 90 % quantile. LISTA-VM with one number and one threshold a layer ('numbers'), told"
    " the pool, and with a full matrix and a threshold for each coordinate, each trained on the"
    " task. Lower: the learned matrix, mean over layers, colours logarithmic from a twentieth of"
    " the largest entry on. What prefers coordinates (a pool) or directions (a covariance) is"
    " learned; blocks, which prefer neither, are not.",
    "section 4.3 and 5.1 of arXiv 2410.13981; the comparison is ours",
    {
        task: (
            full_matrix.full_matrix, {"task": task, **({"batch": 16} if task == "blocks" else {})})
        for task in TITLES},
    seconds={"quick": 15, "standard": 150})
def draw_full_matrix(runs: Mapping[str, Run]) -> Drawing:
    """Errors of the variants, and the learned matrices."""
    figure, panels = plt.subplots(2, 4, figsize=(10.2, 4.8), height_ratios=[1, 1.15])
    for (task, title), (upper, lower) in zip(TITLES.items(), panels.T, strict=True):
        data = runs[task].data
        names = [str(name) for name in data.algorithm.values]
        errors, places = pooled(data.error).values, np.arange(len(names))[::-1]
        low, middle, high = np.quantile(errors, (0.1, 0.5, 0.9), axis=1)
        upper.errorbar(
            middle, places, xerr=[middle - low, high - middle], fmt="o", color=BLUE, capsize=2)
        upper.set_yticks(
            places, [NAMES.get(name, LOOKS.get(name, ("", name))[1]) for name in names])
        upper.set(xscale="log", title=title, xlabel="error |b − β|²", xlim=(0.008, 8))
        mean = data.M.isel(network=0).mean("layer").values
        top = np.abs(mean).max()
        image = lower.imshow(mean, cmap="RdBu_r", norm=SymLogNorm(0.05 * top, vmin=-top, vmax=top))
        lower.set(xticks=[], yticks=[])
        lower.grid(False)
        figure.colorbar(image, ax=lower, shrink=0.8, ticks=[-top, 0, top], format="%.2g")
    for axes in panels[0, 1:]:
        if len(axes.get_yticks()) == len(panels[0, 0].get_yticks()):
            axes.set_yticklabels([])
    panels[1, 0].set_ylabel("learned M")
    return figure


@partial(
    Figure, "sparse-recovery/outside", "The same errors as published",
    "ISTA and FISTA on matrices with columns of length one, 250 rows, 50 expected non-zeros, 40 dB,"
    " penalty 0.4: a line a matrix of our own drawing, crosses are the published values (one"
    " matrix). Dotted: FISTA by its iterate instead of the point of its next gradient.",
    "logs of NA-ALISTA's authors (arXiv 2106.02950)",
    {str(dim): (outside.outside, {"dim": dim, "matrices": 8}) for dim in PUBLISHED},
    seconds={"quick": 4, "standard": 30})
def draw_outside(runs: Mapping[str, Run]) -> Drawing:
    """Errors in decibels against iterations, beside the published ones."""
    figure, panels = plt.subplots(1, 2, figsize=(7.4, 2.9), sharey=True)
    looks = {
        "ista": (BLUE, "-", "ISTA"), "fista": (RED, "-", "FISTA"),
        "fista, iterate": (ORANGE, ":", "FISTA, iterate")}
    for axes, (dim, published) in zip(panels, PUBLISHED.items(), strict=True):
        data = runs[str(dim)].data
        for name, (colour, style, label) in looks.items():
            drawn = axes.plot(
                data.iteration, data.decibels.sel(algorithm=name).values.T, style, color=colour,
                linewidth=0.7)
            drawn[0].set_label(label)
        axes.plot([16, 16], published, "x", color="black", markersize=8, label="published")
        axes.set(title=f"250 x {dim}", xlabel="iteration")
    panels[0].set_ylabel("error, dB")
    panels[1].legend()
    return figure


@partial(
    Figure, "sparse-recovery/depth-rates", "Error against depth",
    "d = 20, 3 non-zeros, no noise: median errors of ISTA and FISTA with that many steps (penalty"
    " best on the test problems) and of networks trained with that many layers. A straight line on"
    " the left axes is linear convergence. Right: the late rate of ISTA against the eigenvalues on"
    " the support of the minimum.", "the question is that of arXiv 2410.13981",
    {"depths": (depths.depth_rates, {}), "late": (rates.late_rate, {})},
    seconds={"quick": 20, "standard": 150})
def draw_depth_rates(runs: Mapping[str, Run]) -> Drawing:
    """Median error against depth with few and many rows, and ISTA's late rates."""
    figure, panels = plt.subplots(1, 3, figsize=(10.2, 3.0))
    errors = runs["depths"].data.error
    for axes, rows in zip(panels, errors.rows.values):
        shown = pooled(errors.sel(rows=rows))
        lines(axes, errors.depth, shown, lambda values: np.maximum(median(values), 1e-12))
        axes.set(title=f"{rows} rows", xlabel="layers or steps", yscale="log")
    panels[0].set_ylabel("median |b − β|²")
    panels[0].legend(fontsize=7)
    late = runs["late"].data
    for place, (rows, colour) in enumerate(zip(late.rows.values, (BLUE, ORANGE))):
        told = -np.log1p(-late.smallest / late.largest).values[place]
        panels[2].plot(
            told, -late.slope.values[place], "o", color=colour, markersize=3, label=f"{rows} rows")
    ends = panels[2].get_xlim()
    panels[2].plot(ends, ends, **THEORY)
    panels[2].set(
        title="ISTA in the end", xlabel="−log(1 − λmin/L) on the support",
        ylabel="rate of its last steps")
    panels[2].legend()
    return figure


@partial(
    Figure, "sparse-recovery/certified-rows", "Where the certificate begins",
    "Rows at which half of the Gaussian matrices have q < 1 (dots: n times the squared median of q"
    " at the predicted n, 256 matrices), and the closed form (lines). Grey: as many rows as"
    " coordinates; the experiments of the paper have 10.",
    "Theorem 5.1 of arXiv 2410.13981; the certificate is ours",
    {"run": (rates.certificate_grid, dict(GRID.scales["quick"].parameters))}, seconds={"quick": 1})
def draw_certified_rows(runs: Mapping[str, Run]) -> Drawing:
    """Rows needed against sparsity, for several dimensions."""
    figure, axes = plt.subplots(figsize=(5.2, 3.2))
    rows = np.array([cell[2] for cell in runs["run"].parameters.cells], float)
    found = (rows * np.median(grid_rates(runs["run"]), 0) ** 2).reshape(len(DIMS), -1)
    colours: Any = plt.get_cmap("viridis")(np.linspace(0.1, 0.8, len(DIMS)))
    for dim, colour, dots in zip(DIMS, colours, found, strict=True):
        axes.plot(SPARSITIES, dots, "o", color=colour, label=f"d = {dim}")
        axes.plot(SPARSITIES, [certified_rows(dim, S) for S in SPARSITIES], color=colour)
        axes.axhline(dim, color=GREY, linewidth=0.6, linestyle=":")
    axes.set(xscale="log", yscale="log", xlabel="non-zeros S", ylabel="rows needed")
    axes.set_xticks(SPARSITIES, [str(S) for S in SPARSITIES])
    axes.minorticks_off()
    axes.legend()
    return figure
