"""Figures of training: alignment, attention, blocks of W, the late laws, how runs end."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE, RED, THEORY
from saccade.studies.group_sparse.dynamics.position_map import REGIMES
from saccade.studies.group_sparse.experiments import descent, maps
from saccade.studies.group_sparse.theory.laws import late_laws


def draw_alignment(runs: Mapping[str, Run]) -> Drawing:
    """Every repetition of cos(v1, v*), attention and error along descent."""
    data = runs["run"].data
    figure, panels = plt.subplots(1, 3, figsize=(8.5, 2.6))
    relevant = runs["run"].parameters.relevant
    shown = (
        (1 - data.alignment, "1 - cos(v1, v*)", BLUE),
        (1 - data.attention[:, :, relevant], "1 - attention", ORANGE),
        (data.error, "test error", GREEN))
    for axes, (values, name, colour) in zip(panels, shown, strict=True):
        axes.plot(data.step, values.values.T, color=colour, alpha=0.3, linewidth=0.7)
        axes.plot(data.step, values.median("repetition"), "o-", color=colour, markersize=3)
        axes.set(xscale="log", yscale="log", xlabel="step", title=name)
    return figure


ALIGNMENT = Figure(
    "group-sparse/alignment", "The value vector turns to the truth",
    "Descent of every weight with fresh batches, from zero; each run is a thin line, the median is"
    " thick. D = 6, d = 4, step size 0.25, batches of 80.", "Theorem 3.2",
    {"run": (descent.full_descent, {"points": 16})}, draw_alignment,
    seconds={"quick": 8, "standard": 90})


def draw_attention(runs: Mapping[str, Run]) -> Drawing:
    """The mean attention map at four times."""
    data = runs["run"].data
    figure, panels = plt.subplots(
        1, data.sizes["step"], figsize=(2.2 * data.sizes["step"], 2.5), sharey=True)
    image = None
    for axes, time in zip(panels, data.step.values, strict=True):
        image = axes.imshow(data.attention.sel(step=time), vmin=0, vmax=1, cmap="viridis")
        axes.set(title=f"step {time}", xlabel="query group")
        axes.grid(False)
    panels[0].set_ylabel("key group")
    if image is not None:
        figure.colorbar(image, ax=panels, label="attention", shrink=0.8)
    return figure


ATTENTION = Figure(
    "group-sparse/attention", "Attention moves to the relevant group",
    "Mean attention S[key][query] over held-out samples at four times of one run. D = 8, d = 6,"
    " relevant group 3, step size 0.2.", "Theorem 3.2", {"run": (descent.attention_pictures, {})},
    draw_attention, seconds={"quick": 10, "standard": 40})


def draw_blocks(runs: Mapping[str, Run]) -> Drawing:
    """W at the end, with the lines between features and positions, and v beside it."""
    run = runs["run"]
    final = run.data.isel(step=-1)
    edge = run.parameters.group_dim - 0.5
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.2), width_ratios=(1.5, 1))
    reach = float(np.abs(final.W).max())
    image = left.imshow(final.W, cmap="RdBu", vmin=-reach, vmax=reach)
    for line in (left.axvline, left.axhline):
        line(edge, color="black", linewidth=0.8)
    left.grid(False)
    left.set(
        title=f"W after {int(final.step)} steps", xlabel="features | positions",
        ylabel="positions | features")
    figure.colorbar(image, ax=left, shrink=0.8)
    place = np.arange(final.v.size)
    right.bar(place, final.v, color=np.where(place < edge, BLUE, ORANGE))
    right.axvline(edge, color="black", linewidth=0.8)
    right.set(title="v", xlabel="features | positions")
    return figure


BLOCKS = Figure(
    "group-sparse/blocks", "The blocks of W",
    "One run with fresh batches: W12, W21 and the position part of v are batch noise, W22 has the"
    " direction of Lemma 5.1.", "Lemmas 5.1 and 5.2", {"run": (descent.attention_pictures, {})},
    draw_blocks, seconds={"quick": 10, "standard": 40})


def draw_laws(runs: Mapping[str, Run]) -> Drawing:
    """Loss and 1-S against t with their laws."""
    data = runs["run"].data
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.0))
    late = data.step.values[data.step.values >= 100]
    for axes, name, title in zip(
        panels, ("loss", "one_minus_attention"), ("Population loss", "1 - attention"), strict=True
    ):
        for number, (groups, eta) in enumerate(
            zip(data.groups.values, data.step_size.values, strict=True)
        ):
            axes.plot(
                data.step, data[name][number], color=CYCLE[number % len(CYCLE)],
                label=f"D = {groups}, η = {eta:g}")
            law = [getattr(late_laws(int(groups), float(eta), time), name) for time in late]
            axes.plot(late, law, **THEORY)
        axes.set(xscale="log", yscale="log", xlabel="step t", title=title)
    words = r"dashed: $\kappa^{2/3}(D\sigma)^{-2/3}(3\eta t)^{-1/3}$", r"dashed: $k\,t^{-2/3}$"
    for axes, text in zip(panels, words, strict=True):
        axes.text(0.03, 0.05, text, transform=axes.transAxes, fontsize=7.5)
    panels[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


LAWS = Figure(
    "group-sparse/laws", "Late laws of loss and attention",
    "Position-only layer by its exact two-number map; dashed: the late laws, drawn from step 100"
    " on.", "ours; Theorem 3.2", {"run": (maps.position_descent, {})}, draw_laws)

COLOURS = (BLUE, GREEN, RED, GREY)


def draw_regimes(runs: Mapping[str, Run]) -> Drawing:
    """How runs end at sigma = 1, and 1-S against D at a small and a large step."""
    grid, small, large = (runs[name].data for name in ("map", "small", "large"))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.3), width_ratios=(1.5, 1))
    left.pcolormesh(
        grid.step_size, grid.groups, grid.regime.sel(scale=1.0), cmap=ListedColormap(COLOURS),
        vmin=-0.5, vmax=3.5, shading="nearest")
    sizes = np.geomspace(4, 128, 50)
    left.plot(16 / sizes, sizes, "k--", linewidth=1, label="η D = 16")
    left.plot(16 / (sizes * (sizes + 1)), sizes, "k:", linewidth=1, label="η = 16/(D(D+1))")
    left.set(
        xscale="log", yscale="log", xlabel="step size η", ylabel="groups D", title="How runs end",
        xlim=(0.0095, 21), ylim=(3.3, 155))
    left.set_yticks(grid.groups.values, [str(D) for D in grid.groups.values])
    left.minorticks_off()
    handles = [
        plt.Rectangle((0, 0), 1, 1, color=colour, label=name)
        for name, colour in zip(REGIMES, COLOURS, strict=True)]
    figure.legend(
        handles=[*handles, *left.get_lines()], loc="outside lower center", ncols=6, fontsize=7.5)
    for data, colour, label in (
        (small, BLUE, "η = 0.1, 20000 steps"), (large, GREEN, "η = 5, 2000 steps"),
    ):
        rest = data.one_minus_attention[:, -1]
        right.plot(data.groups, rest, "o-", color=colour, label=label)
    right.plot(sizes, np.exp(-sizes), label="exp(-D)", **THEORY)
    right.set(xscale="log", yscale="log", xlabel="groups D", title="1 - attention", ylim=(1e-60, 3))
    right.legend()
    return figure


REGIME_MAP = Figure(
    "group-sparse/regimes", "Step size decides",
    "Left: how runs of the position-only layer end (sigma = 1, 5000 steps), with the stability"
    " rule (dashed) and the limit for batches of the full layer (dotted). Right: 1-S is"
    " exponential in D only where a large step locks attention at once.", "ours; Theorem 3.2",
    {
        "map": (maps.regimes, {}),
        "small": (
            maps.position_descent,
            {"cases": tuple((D, 0.1) for D in (4, 8, 16, 32, 64, 128)), "steps": 20_000}),
        "large": (
            maps.position_descent,
            {"cases": tuple((D, 5.0) for D in (8, 16, 32, 64, 128)), "steps": 2000})},
    draw_regimes, seconds={"quick": 12, "standard": 40})
