"""Figures of learned algorithms: error by layer on seen and unseen matrices, and along training."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, BROWN, GREEN, GREY, ORANGE, PINK, PURPLE, RED
from saccade.studies.sparse_recovery.experiments import learned

LOOKS = {
    "lista": (ORANGE, "LISTA"), "lista-cp": (RED, "LISTA-CP"), "alista": (GREEN, "ALISTA"),
    "alista, frozen weight": (BROWN, "ALISTA, frozen weight"), "lista-vm": (BLUE, "LISTA-VM"),
    "lista-adaptive": (PURPLE, "LISTA-VM, step / |X|²"), "lista-block": (PINK, "block thresholds"),
    "ista": ("0.65", "ISTA"), "fista": ("0.35", "FISTA")}
"""The colour of an algorithm, and its name in print."""
median, high = partial(np.median, axis=-1), partial(np.quantile, q=0.9, axis=-1)
"""Over tests, the last axis."""


def pooled(errors: Any) -> Any:
    """Errors with the problems of all networks as the last axis."""
    return errors.stack(problem=("network", "test"))


def lines(axes: Any, x: Any, errors: Any, statistic: Callable = median) -> None:
    """A statistic over tests (the last axis) for every algorithm; the classical ones dashed."""
    for name in errors.algorithm.values:
        colour, label = LOOKS[str(name)]
        axes.plot(
            x, statistic(errors.sel(algorithm=name).values),
            "--" if name in ("ista", "fista") else "-", color=colour, label=label)


@partial(
    Figure, "sparse-recovery/layers", "Error layer by layer, on seen and unseen matrices",
    "d = 20, 10 rows, 3 non-zeros, no noise; medians over test problems of 20 networks. Dashed:"
    " ISTA and FISTA with the penalty that is best on the test problems. Dotted black: predicting"
    " zero. A frozen weight (LISTA, LISTA-CP, ALISTA frozen) fails on new matrices, a weight made"
    " from the matrix at hand does not.",
    "section 6 of arXiv 2410.13981, ALISTA's second life is ours",
    {
        "one": (learned.one_matrix, {}), "many": (learned.varying_matrices, {}),
        "orthonormal": (
            learned.varying_matrices, {"design": "orthonormal", "methods": ("lista-vm",)})},
    seconds={"quick": 90, "standard": 400})
def draw_layers(runs: Mapping[str, Run]) -> Drawing:
    """Median error after every layer, of networks of one matrix and of many."""
    one, many, orthonormal = (runs[name].data for name in ("one", "many", "orthonormal"))
    figure, panels = plt.subplots(1, 4, figsize=(10.4, 3.2), sharey=True)
    errors = (
        one.error.sel(matrix="seen"), one.error.sel(matrix="new"), many.error, orthonormal.error)
    titles = (
        "Trained on one matrix,\nits own", "... tested on new ones",
        "Trained on ever new\nmatrices, new ones", "... with orthonormal rows")
    for axes, error, title in zip(panels, errors, titles, strict=True):
        lines(axes, error.layer, pooled(error))
        axes.axhline(float(np.median(many.zero)), color="black", linewidth=0.8, linestyle=":")
        axes.set(title=title, xlabel="layer", xticks=[1, 4, 8, 12], yscale="log", ylim=(0.02, 200))
    for axes, data in zip(panels[2:], (many, orthonormal), strict=True):
        level = max(float(np.median(data.lasso)), 1e-4)
        axes.axhline(level, color=GREY, linewidth=0.8, linestyle=":")
    panels[0].set_ylabel("median error |b − β|²")
    _one_legend(figure, panels)
    return figure


def _one_legend(figure: Drawing, panels: Any) -> None:
    """All labels once, below the panels."""
    entries = {
        label: handle for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=5)


@partial(
    Figure, "sparse-recovery/learning", "Learning on ever new matrices",
    "Four networks each, Adam. LISTA and LISTA-CP end at the zero predictor. Means of"
    " LISTA-VM and ALISTA are those of the rare matrices on which they diverge (ALISTA's lie"
    " above the frame); medians and quantiles fall.", "ours",
    {
        "many": (learned.varying_matrices, {}),
        "fixed": (learned.varying_matrices, {"methods": ("lista", "lista-cp")})},
    seconds={"quick": 60, "standard": 300})
def draw_learning(runs: Mapping[str, Run]) -> Drawing:
    """Mean, median and 90 % quantile of the error on new matrices along training."""
    figure, panels = plt.subplots(1, 3, figsize=(8.6, 3.0), sharey=True)
    many, fixed = runs["many"].data, runs["fixed"].data
    statistics = {"mean": lambda errors: errors.mean(-1), "median": median, "90 % quantile": high}
    for axes, (title, statistic) in zip(panels, statistics.items(), strict=True):
        for data in (many, fixed):
            for network, curve, steps in zip(data["trained"].values, data.curve, data.steps):
                colour, label = LOOKS[str(network)]
                drawn = axes.plot(
                    1 + steps, statistic(curve.values).T, "o-", markersize=2.5, color=colour)
                drawn[0].set_label(label)  # the others are further networks
        for name in ("ista", "fista"):
            colour, label = LOOKS[name]
            level = float(statistic(many.error.sel(algorithm=name).isel(layer=-1).values.ravel()))
            axes.axhline(
                level, color=colour, linestyle="--", linewidth=1, label=f"{label}, 12 steps")
        axes.axhline(
            float(statistic(many.zero.values.ravel())), color="black", linestyle=":", linewidth=0.8,
            label="predicting zero")
        axes.set(
            title=title, xscale="log", yscale="log", xlabel="1 + training steps", ylim=(0.03, 100))
    panels[0].set_ylabel("error |b − β|² on new matrices")
    _one_legend(figure, panels)
    return figure
