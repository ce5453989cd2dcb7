"""Figures of trained decoders: away from their training tasks, inside, and at the paper's size."""

from collections.abc import Mapping
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.fits import fit_exponent
from saccade.lab.style import BLUE, GREY, ORANGE
from saccade.studies.sparse_recovery.experiments import inside, paper_size, trainings
from saccade.studies.sparse_recovery.figures.learned import LOOKS

AXES = ("condition number", "non-zeros", "scale", "correlation")
PAPERS_INSTANCES = 5e10
RIVALS = ("zero", "least squares", "ISTA", "FISTA", "ALISTA", "LASSO")
METHODS = {"lista-vm": "-", "lista-adaptive": "-", "alista": "-", "fista": "--"}


@partial(
    Figure, "sparse-recovery/inside", "Trained decoders under shift, and inside",
    "Upper: mean error (cut at 4) of decoders (blue, a line a network) and of the LISTA family, all"
    " trained on Gaussian matrices, with FISTA at the same depth; dotted: predicting zero. Lower:"
    " what linear probes of the last token's state tell after each layer (dashed: before training),"
    " and the share of a layer's move that the nearest LISTA-VM layer leaves (dashed: of LISTA-VM's"
    " own). The quick scale trains for seconds; claims are about the standard scale.",
    "mechanisms and break conditions of arXiv 2410.13981; sizes ours", {"run": (inside.inside, {})},
    seconds={"quick": 12, "standard": 400})
def draw_inside(runs: Mapping[str, Run]) -> Drawing:
    """Errors along four axes of shift; probes and nearest LISTA-VM layers."""
    figure, panels = plt.subplots(2, 4, figsize=(10.4, 5.0))
    data = runs["run"].data
    for axes, name in zip(panels[0], AXES, strict=True):
        _shift(axes, data, name)
    panels[0, 0].set_ylabel("mean |b − β|²")
    panels[0, 1].legend(fontsize=6)
    titles = {
        "beta": "β: variance explained", "residual": "residual: variance explained",
        "support": "supports found"}
    for axes, (target, title) in zip(panels[1], titles.items()):
        for name, style in (("probe", "-"), ("untrained_probe", "--")):
            values = data[name].sel(target=target).values
            axes.plot(values.T, style, color=BLUE if style == "-" else GREY)
        axes.set(title=title, xlabel="layer", ylim=(-0.1, 1))
    left = data.left.values
    steps = np.arange(1, left.shape[1] + 1)
    panels[1, 3].plot(steps, left.T, color=BLUE)
    panels[1, 3].plot(steps, data.own_left.values.T, "--", color=GREY)
    panels[1, 3].set(title="left by a LISTA-VM layer", xlabel="layer", ylim=(-0.1, 1))
    return figure


def _shift(axes, data, name: str) -> None:
    there = data.axis.values == name
    x = data["value"].values[there]
    decoders = np.minimum(data.error.values[there], 4).mean(-1)
    axes.plot(x, decoders, color=BLUE, linewidth=1.6)
    axes.plot([], [], color=BLUE, label="decoders")
    for method, style in METHODS.items():
        colour, label = LOOKS[method]
        colour = ORANGE if method == "lista-vm" else colour
        errors = data.method_error.sel({"method": method}).values[there]
        axes.plot(x, np.minimum(errors, 4).mean((-2, -1)), style, color=colour, label=label)
    zero = data.method_error.sel({"method": "zero"}).values[there].mean((-2, -1))
    axes.plot(x, zero, ":", color="black", linewidth=0.8)
    axes.set(title=name, xscale="log" if name == AXES[0] else "linear", ylim=(0, None))


@partial(
    Figure, "sparse-recovery/paper-size", "The paper's decoders at the paper's size",
    "Squared error of the query's label on new tasks along training on the labels of every prefix:"
    " 20 coordinates, 10 rows, 3 non-zeros (quick: a small task), without (orange) and with (blue,"
    " a line a seed) a curriculum, which ends at the dotted line. Levels: algorithms with 12 layers"
    " or steps, and the shortest least squares (errors cut at 12). Dashed, with its interval: a"
    " power law through the second half of the mean curve, or from the end of the curriculum on,"
    " drawn to the paper's 5·10¹⁰ instances; it says where they would lie if nothing changed. The"
    " claims and the numbers on the page are of the standard scale.",
    "section 6 of arXiv 2410.13981",
    {
        "small": (paper_size.paper_size, {}),
        "small-grown": (paper_size.paper_size, {"norm": True, "first_dim": 2}),
        "gpt2-like": (paper_size.paper_size, {"decoder": "gpt2-like"}),
        "gpt2-like-grown": (
            paper_size.paper_size, {"decoder": "gpt2-like", "repeat_x": True, "first_dim": 2})},
    scales={
        "quick": {name: {"rivals": False} for name in ("small", "small-grown", "gpt2-like")},
        "standard": {
            "small-grown": trainings.SMALL_GROWN, "gpt2-like": trainings.GPT2_LIKE,
            "gpt2-like-grown": trainings.GPT2_GROWN}},
    seconds={"quick": 30, "standard": 3000})
def draw_paper_size(runs: Mapping[str, Run]) -> Drawing:
    """Label errors against instances seen, with rivals as levels and fitted laws."""
    figure, panels = plt.subplots(1, 2, figsize=(8.8, 3.4), sharey=True)
    rivals = runs["gpt2-like-grown"].data.rival_error.sel(rival=list(RIVALS))
    levels = np.minimum(rivals, 12).mean("task").values
    for axes, name in zip(panels, ("small", "gpt2-like"), strict=True):
        _curves(axes, runs[name], ORANGE, "no curriculum")
        _curves(axes, runs[f"{name}-grown"], BLUE, "curriculum")
        for number, (rival, level) in enumerate(zip(RIVALS, levels, strict=True)):
            axes.axhline(level, color=GREY, linewidth=0.7)
            place = PAPERS_INSTANCES / 15.0 ** (number % 3)  # levels may lie close together
            axes.text(place, level, rival, fontsize=6, va="bottom", ha="right")
        axes.axvline(PAPERS_INSTANCES, color=GREY, linewidth=0.7, linestyle=":")
        axes.set(
            xscale="log", yscale="log", title=name, xlabel="instances seen",
            ylim=(0.5 * levels.min(), 2.5 * levels.max()))
        axes.legend(fontsize=6, loc="lower left")
    panels[0].set_ylabel("squared error of the label")
    return figure


def _curves(axes, run: Run, colour: str, label: str) -> None:
    """Errors of the query, a line a seed, and the law of their mean from the end of the curriculum
    on, or through the second half."""
    data, parameters = run.data, run.parameters
    seen = data.instances.values[1:]
    errors = data.curve.isel(prefix=-1).mean("group").values[:, 1:]
    axes.plot(seen, errors.T, color=colour, linewidth=1)
    start = parameters.grown if parameters.first_dim else 0.5
    late = data.record.values[1:] >= start * parameters.steps
    if parameters.first_dim:
        axes.axvline(seen[late][0], color=colour, linewidth=0.7, linestyle=":")
    _law(axes, seen[late], errors.mean(0)[late], colour, label)


def _law(axes, seen: np.ndarray, errors: np.ndarray, colour: str, label: str) -> None:
    """The power law through a curve and the interval of its exponent, drawn ahead."""
    law, centre = fit_exponent(seen, errors), np.exp(np.log(seen).mean())
    ahead = np.geomspace(seen[0], PAPERS_INSTANCES, 30)
    low, middle, high = (
        law.factor * centre**law.exponent * (ahead / centre) ** exponent
        for exponent in (law.low, law.exponent, law.high))
    axes.plot(
        ahead, middle, "--", color=colour, linewidth=1,
        label=f"{label}: exponent {law.exponent:.3f} [{law.low:.3f}, {law.high:.3f}]")
    axes.fill_between(ahead, low, high, color=colour, alpha=0.15, linewidth=0)
