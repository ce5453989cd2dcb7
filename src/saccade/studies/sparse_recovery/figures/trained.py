"""Figures of decoders trained from scratch: learning, rows, what the layers compute, structure."""

from collections.abc import Mapping
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, BROWN, GREEN, GREY, ORANGE, PURPLE, RED
from saccade.studies.sparse_recovery.experiments import trained, trainings

LINES = {
    "zero": (GREY, ":"), "least squares": (BROWN, "-."), "ISTA": (ORANGE, "--"),
    "FISTA": (RED, "--"), "FISTA, twice the steps": (RED, ":"), "LASSO": (GREEN, "-")}
TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5)
PAPER = "arXiv 2410.13981, section 6; sizes are ours"
DECODER = "trained decoder (a line a network)"


def _beside(axes) -> None:
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7)


def _networks(axes, x, values: np.ndarray, colour: str = BLUE, label: str = DECODER) -> None:
    """One line for each network; the first one bears the label."""
    drawn = axes.plot(x, values.T, color=colour, linewidth=1.2, alpha=0.85)
    drawn[0].set_label(label)


@partial(
    Figure, "sparse-recovery/learning-curves",
    "Transformers trained from scratch against classical methods",
    "Mean squared error on matrices that no step has seen, against the number of training steps;"
    " every step draws new matrices. Levels: classical methods with as many steps as the decoder"
    " has layers (FISTA also with twice as many), penalties chosen on the test tasks; the LASSO"
    " is converged. The quick scale trains for seconds at a smaller size; claims are about the"
    " standard scale. Errors above 1.6 (of random weights) are not drawn.", PAPER,
    {"softmax": (trained.trained, {}), "relu": (trained.trained, {"architecture": "relu"})},
    scales={"standard": {"relu": trainings.RELU}}, seconds={"quick": 30, "standard": 600})
def draw_learning_curves(runs: Mapping[str, Run]) -> Drawing:
    """Mean error on unseen matrices against training steps, with classical methods as levels."""
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 2.9), sharey=True)
    titles = {"softmax": "softmax attention", "relu": "ReLU attention, no LayerNorm"}
    for axes, (name, title) in zip(panels, titles.items()):
        data, rows = runs[name].data, runs[name].parameters.measurements
        _networks(axes, data["record"].values, data["curve"].values)
        for method, (colour, style) in LINES.items():
            level = float(data["classical_error"].sel(solver=method, prefix=rows).mean())
            axes.axhline(level, color=colour, linestyle=style, linewidth=1, label=method)
        level = float(data["unrolled_error"].sel(unrolled="LISTA-VM").mean())
        axes.axhline(level, color=PURPLE, linestyle="--", linewidth=1, label="LISTA-VM, trained")
        axes.set(xlabel="training step", title=title, yscale="log", ylim=(0.1, 1.6))
        axes.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axes.minorticks_off()
    panels[0].set_ylabel("mean |b − β|² on unseen matrices")
    _beside(panels[1])
    return figure


@partial(
    Figure, "sparse-recovery/trained-rows", "A trained decoder against the number of measurements",
    "Mean (left) and median (right) squared error from the first n rows of the same tasks; errors"
    " below 10⁻⁴ are drawn there. Shaded: more rows than in training. The LASSO is converged,"
    " least squares exact from n = d on.", PAPER, {"run": (trained.trained, {})},
    seconds={"quick": 15, "standard": 300})
def draw_rows(runs: Mapping[str, Run]) -> Drawing:
    """Mean and median error against the number of rows; shaded: more than in training."""
    data, rows = runs["run"].data, runs["run"].parameters.measurements
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 2.9))
    n = data["prefix"].values
    for axes, (name, statistic) in zip(panels, (("mean", np.mean), ("median", np.median))):
        for method, (colour, style) in LINES.items():
            errors = data["classical_error"].sel(solver=method).transpose("prefix", ...).values
            values = statistic(errors, axis=(1, 2))
            axes.plot(n, np.maximum(values, 1e-4), color=colour, linestyle=style, label=method)
        _networks(axes, n, statistic(data["error"].values, axis=-1))
        axes.axvspan(rows + 0.5, n[-1] + 0.3, color="0.94", zorder=0)
        axes.set(xlabel="rows n", ylabel=f"{name} |b − β|²", yscale="log", ylim=(0.8e-4, 2))
    _beside(panels[1])
    return figure


@partial(
    Figure, "sparse-recovery/trained-layers", "What the layers of a trained decoder compute",
    "Left: the decoder's read-out applied after each layer (0 is the read-in), one line a network."
    " Right: mean squared distance of that read-out to each iterate of ISTA and FISTA (best"
    " penalty) and of trained LISTA-VM, mean over networks; dots mark the nearest iterate of each"
    " layer. A decoder that ran one of them would have bright cells along the diagonal.",
    "ours; the question is the paper's", {"run": (trained.trained, {})},
    seconds={"quick": 15, "standard": 300})
def draw_layers(runs: Mapping[str, Run]) -> Drawing:
    """Error of the read-out after each layer, and its distance to each iterate of algorithms."""
    data = runs["run"].data
    names = list(data["reference"].values)
    figure, panels = plt.subplots(
        1, 1 + len(names), figsize=(9.6, 2.6), width_ratios=[1.25] + [1] * len(names))
    depth = np.arange(data.sizes["depth"])
    _networks(panels[0], depth, data["layer_error"].values)
    panels[0].set(
        xlabel="layer", ylabel="mean |b − β|²", title="error of the read-out", xticks=depth)
    panels[0].set_ylim(bottom=0)
    distance = data["distance"].mean("network")
    top = float(distance.max())
    for axes, name in zip(panels[1:], names):
        table = distance.sel(reference=name).values
        image = axes.imshow(
            table, origin="lower", cmap="viridis_r", vmin=0, vmax=top, aspect="auto")
        axes.plot(table.argmin(1), depth, "o", color=RED, markersize=4)
        axes.set(
            xlabel="iterate", title=f"to {name}", xticks=np.arange(table.shape[1]), yticks=depth)
        axes.grid(False)
    panels[1].set_ylabel("layer")
    figure.colorbar(image, ax=panels[1:], label="mean squared distance", shrink=0.9)
    return figure


@partial(
    Figure, "sparse-recovery/trained-structure",
    "Decoders that find out about the structure of supports",
    "Mean squared error on tasks whose supports are aligned blocks of two coordinates (left) or"
    " lie in the first half of the coordinates (right), for decoders trained on such tasks and on"
    " free supports (a line a network), FISTA at the decoder's depth and the converged LASSO.",
    "a question of the paper",
    {
        "blocks": (trained.trained_structure, {}),
        "pool": (trained.trained_structure, {"block_size": 1, "sparsity": 1, "pool": 2})},
    scales={"standard": {"blocks": trainings.BLOCKS, "pool": trainings.POOL}},
    seconds={"quick": 30, "standard": 900})
def draw_structure(runs: Mapping[str, Run]) -> Drawing:
    """Error on structured tasks against rows, trained on them or not, and of classical methods."""
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 2.9))
    titles = {"blocks": "supports of aligned blocks", "pool": "supports inside a pool"}
    trainings = (("structured", BLUE, "the structure"), ("free", GREY, "free supports"))
    for axes, (name, title) in zip(panels, titles.items()):
        data = runs[name].data
        n = data["prefix"].values
        for method in ("FISTA", "LASSO"):
            colour, style = LINES[method]
            axes.plot(
                n, data["classical_error"].sel(solver=method).mean(("network", "task")),
                color=colour, linestyle=style, label=method)
            if name == "pool":
                told = data["told_error"].sel(solver=method).mean(("network", "task"))
                axes.plot(n, told, color=colour, linestyle=":", label=f"{method}, told the pool")
        for training, colour, label in trainings:
            errors = data["error"].sel(training=training).mean("task").values
            _networks(axes, n, errors, colour, f"decoder trained on {label}")
        axes.set(xlabel="rows n", title=title, xticks=n)
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel("mean |b − β|²")
    _beside(panels[1])
    return figure
