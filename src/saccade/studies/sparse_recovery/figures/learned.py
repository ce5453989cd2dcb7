"""Figures of learned algorithms: error layer by layer on seen and unseen matrices, and along
training."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, BROWN, GREEN, GREY, ORANGE, PINK, PURPLE, RED
from saccade.studies.sparse_recovery.experiments import learned

COLOURS = {
    "lista": ORANGE, "lista-cp": RED, "alista": GREEN, "alista, frozen weight": BROWN,
    "lista-vm": BLUE, "lista-adaptive": PURPLE, "lista-block": PINK, "ista": "0.65",
    "fista": "0.35"}
NAMES = {
    "lista": "LISTA", "lista-cp": "LISTA-CP", "alista": "ALISTA",
    "alista, frozen weight": "ALISTA, frozen weight", "lista-vm": "LISTA-VM",
    "lista-adaptive": "LISTA-VM, step / |X|²", "lista-block": "block thresholds", "ista": "ISTA",
    "fista": "FISTA"}


def band(
    axes: Any, x: Any, errors: np.ndarray, name: str, dashed: bool = False, shade: bool = False
) -> None:
    """The median over tests (last axis), and from the median to the 90 % quantile when shaded."""
    style = "--" if dashed else "-"
    axes.plot(x, np.median(errors, -1), style, color=COLOURS[name], label=NAMES[name])
    if shade:
        high = np.quantile(errors, 0.9, -1)
        axes.fill_between(
            x, np.median(errors, -1), high, color=COLOURS[name], alpha=0.12, linewidth=0)


def draw_layers(runs: Mapping[str, Run]) -> Drawing:
    """Median error after every layer: networks of one matrix on it and elsewhere, networks of many
    matrices on new ones."""
    one, many, orthonormal = (runs[name].data for name in ("one", "many", "orthonormal"))
    figure, panels = plt.subplots(1, 4, figsize=(10.4, 3.2), sharey=True)
    for axes, matrix, title in zip(
        panels, ("seen", "new"), ("Trained on one matrix,\nits own", "... tested on new ones"),
        strict=False,
    ):
        for name in one.algorithm.values:
            band(
                axes, one.layer, one.error.sel(algorithm=name, matrix=matrix).isel(seed=0).values,
                str(name), name in ("ista", "fista"))
        axes.set(title=title)
    for axes, data, title in zip(
        panels[2:], (many, orthonormal),
        ("Trained on ever new\nmatrices, new ones", "... with orthonormal rows"), strict=True,
    ):
        for name in data.algorithm.values:
            band(
                axes, data.layer, data.error.sel(algorithm=name).isel(seed=0).values, str(name),
                name in ("ista", "fista"))
        axes.axhline(
            max(float(np.median(data.lasso)), 1e-4), color=GREY, linewidth=0.8, linestyle=":")
        axes.set(title=title)
    for axes in panels:
        axes.axhline(float(np.median(many.zero)), color="black", linewidth=0.8, linestyle=":")
        axes.set(xlabel="layer", xticks=[1, 4, 8, 12], yscale="log", ylim=(0.02, 200))
    panels[0].set_ylabel("median error |b − β|²")
    _one_legend(figure, panels)
    return figure


def _one_legend(figure: Drawing, panels: Any) -> None:
    """All labels once, below the panels."""
    seen: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            seen.setdefault(label, handle)
    figure.legend(list(seen.values()), list(seen), loc="outside lower center", ncols=5)


LAYERS = Figure(
    id="sparse-recovery/layers", title="Error layer by layer, on seen and unseen matrices",
    caption=(
        "d = 20, 10 rows, 3 non-zeros, no noise; medians over test problems. Dashed: ISTA and FISTA"
        " with the penalty that is best on the test problems. Dotted black: predicting zero. A"
        " frozen weight (LISTA, LISTA-CP, ALISTA frozen) fails on new matrices, a weight made from"
        " the matrix at hand does not."),
    source="section 6 of arXiv 2410.13981, ALISTA's second life is ours",
    runs={
        "one": (learned.one_matrix, {}), "many": (learned.varying_matrices, {}),
        "orthonormal": (
            learned.varying_matrices, {"design": "orthonormal", "methods": ("lista-vm",)})},
    draw=draw_layers, seconds={"quick": 90, "standard": 400})


def draw_learning(runs: Mapping[str, Run]) -> Drawing:
    """Mean, median and 90 % quantile of the error on new matrices along training."""
    figure, panels = plt.subplots(1, 3, figsize=(8.6, 3.0), sharey=True)
    statistics = (
        ("mean", lambda e: e.mean(-1)), ("median", lambda e: np.median(e, -1)),
        ("90 % quantile", lambda e: np.quantile(e, 0.9, -1)))
    for axes, (title, statistic) in zip(panels, statistics, strict=True):
        for run in (runs["many"], runs["fixed"]):
            data = run.data
            for place, name in enumerate(data.network.values):
                for seed in range(data.sizes["seed"]):
                    values = statistic(data.curve.isel(network=place, seed=seed).values)
                    label = NAMES[str(name)] if seed == 0 else None
                    axes.plot(
                        1 + data.steps.isel(network=place), values, "o-", markersize=2.5,
                        color=COLOURS[str(name)], label=label)
        for name in ("ista", "fista"):
            last = runs["many"].data.error.sel(algorithm=name).isel(layer=-1, seed=0).values
            axes.axhline(
                float(statistic(last)), color=COLOURS[name], linestyle="--", linewidth=1,
                label=f"{NAMES[name]}, 12 steps")
        axes.axhline(
            float(statistic(runs["many"].data.zero.values)), color="black", linestyle=":",
            linewidth=0.8, label="predicting zero")
        axes.set(
            title=title, xscale="log", yscale="log", xlabel="1 + training steps", ylim=(0.03, 100))
    panels[0].set_ylabel("error |b − β|² on new matrices")
    _one_legend(figure, panels)
    return figure


LEARNING = Figure(
    id="sparse-recovery/learning", title="Learning on ever new matrices",
    caption=(
        "Two training seeds each, Adam. LISTA and LISTA-CP end at the zero predictor. Means of"
        " LISTA-VM and ALISTA are those of the rare matrices on which they diverge (ALISTA's lie"
        " above the frame); medians and quantiles fall."),
    source="ours",
    runs={
        "many": (learned.varying_matrices, {}),
        "fixed": (learned.varying_matrices, {"methods": ("lista", "lista-cp")})},
    draw=draw_learning, seconds={"quick": 60, "standard": 300})
