"""Figures of what was learned before: pre-training and transfer, schedules of step size and time,
starts and encodings, layers in a row."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE
from saccade.studies.group_sparse.experiments import (
    descent,
    learned,
    mixtures,
    pretrained,
    schedules,
)

DOWNSTREAM = {"same": "same group", "other": "another group", "two": "two groups"}
LINES = {
    "population, free": (BLUE, "-"), "population, frozen": (BLUE, ":"), "none, free": (GREEN, "-"),
    "logistic": (ORANGE, "-")}


def draw_pretrained(runs: Mapping[str, Run]) -> Drawing:
    """Test error against samples downstream, and the steps to return from a wrong group."""
    figure, panels = plt.subplots(1, 4, figsize=(11.5, 2.9))
    for axes, (kind, title) in zip(panels, DOWNSTREAM.items(), strict=False):
        data = runs[kind].data
        for learner, (colour, style) in LINES.items():
            rows = data.error.sel(learner=learner, measure="test").values
            low, middle, high = np.percentile(rows, [25, 50, 75], axis=0)
            axes.fill_between(data.samples, low, high, color=colour, alpha=0.15, linewidth=0)
            axes.plot(data.samples, middle, style, color=colour, label=learner)
        axes.set(xscale="log", xlabel="samples n", ylim=(0, 0.55), title=f"downstream: {title}")
    panels[0].set_ylabel("test error")
    panels[0].legend(fontsize=7)
    back = runs["return"].data
    for number, size in enumerate(back.groups.values):
        axes, colour = panels[3], CYCLE[number]
        axes.plot(back.odds, back.steps.sel(groups=size), "o-", color=colour, label=f"D = {size}")
    odds = back.odds.values
    guide = back.steps.values[0, -1] * (odds / odds[-1]) ** 2
    panels[3].plot(odds, guide, ":", color=GREY, label="odds squared")
    panels[3].set(
        xscale="log", yscale="log", xlabel="odds of the wrong group", title="steps to return")
    panels[3].set_xticks(odds, [f"{one:g}" for one in odds])
    panels[3].xaxis.minorticks_off()
    panels[3].legend(fontsize=7)
    return figure


PRETRAINED = Figure(
    "group-sparse/pretrained", "What pre-training brings, and what it costs",
    "W by the six-number map on one direction, then online SGD on another: medians and quartiles"
    " over streams. On the right the population steps of the position-only layer until half of the"
    " attention has left a wrong group.", "Theorem 4.2",
    {
        **{
            kind: (pretrained.pretrained, {"downstream": kind, "sources": ("population", "none")})
            for kind in DOWNSTREAM},
        "return": (mixtures.return_times, {})},
    draw_pretrained, scales={"standard": {kind: {"samples": 2000} for kind in DOWNSTREAM}},
    seconds={"quick": 20, "standard": 60})


def draw_schedules(runs: Mapping[str, Run]) -> Drawing:
    """1 - S against D for powers of D in step size and time; on the right time exponential in D and
    steps that lock, against D itself."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.8, 3.1))
    data = runs["powers"].data
    for number, (p, q) in enumerate(zip(data.p.values, data.q.values, strict=True)):
        rest = data.one_minus_attention.isel(schedule=number)
        left.plot(
            data.groups, rest, "o-", color=CYCLE[number], markersize=4,
            label=rf"$\eta \sim D^{{{p:g}}},\ t \sim D^{{{q:g}}}$: {-(1 + 2 * p + 2 * q) / 3:.2f}")
    left.set(
        xscale="log", yscale="log", xlabel="D", ylabel="1 − S", title="steps that keep the rule")
    left.set_xticks(data.groups.values, [f"{one:g}" for one in data.groups.values])
    left.xaxis.minorticks_off()
    left.legend(fontsize=7, title="predicted exponent", title_fontsize=7)
    for name, colour in (("time", BLUE), ("large", ORANGE)):
        one = runs[name].data
        label = "η = 0.4, t ~ exp(0.3 D)" if name == "time" else "η = 5, 400 steps"
        right.plot(
            one.groups, one.one_minus_attention.isel(schedule=0), "o-", color=colour, label=label)
    right.set(yscale="log", xlabel="D", title="where exp(−Θ(D)) is seen")
    right.legend(fontsize=7)
    return figure


SCHEDULES = Figure(
    "group-sparse/schedules", "Step size and time that change with D",
    "Position-only layer, exact map. Left: powers of D in step size and time give powers of D in"
    " 1 - S. Right: an exponential in D needs an exponential number of small steps, or a large step"
    " that locks (which the full layer does not follow).", "Theorem 3.2",
    {
        "powers": (schedules.schedules, {}),
        "time": (
            schedules.schedules,
            {"powers": ((0.0, 0.0),), "groups": (8, 12, 16, 20), "rate": 0.3, "step_size": 0.4}),
        "large": (
            schedules.schedules,
            {"powers": ((0.0, 0.0),), "groups": (8, 12, 16, 20), "steps": 400, "step_size": 5.0})},
    draw_schedules, seconds={"quick": 5})


def draw_starts(runs: Mapping[str, Run]) -> Drawing:
    """Attention and error against D, a line a setting: encodings on the left, starts right."""
    data = runs["run"].data
    figure, panels = plt.subplots(2, 2, figsize=(8.6, 5.2), sharex=True, sharey="row")
    for column, names in enumerate(
        (list(learned.SETTINGS)[:6], ["sine", *list(learned.SETTINGS)[6:]])
    ):
        for number, name in enumerate(names):
            for axes, what in zip(panels[:, column], ("attention", "error"), strict=True):
                rows = data[what].sel(setting=name).values
                low, middle, high = np.percentile(rows, [15, 50, 85], axis=1)
                axes.errorbar(
                    data.groups * (1 + 0.01 * number), middle, [middle - low, high - middle],
                    fmt="o-", color=CYCLE[number % len(CYCLE)], markersize=4, linewidth=1,
                    label="sine, zero start" if name == "sine" else name)
        panels[1, column].legend(
            fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.22))
        panels[1, column].set_xlabel("D")
    for axes, what in zip(panels[:, 0], ("attention on the group", "test error"), strict=True):
        axes.set_ylabel(what)
    return figure


STARTS = Figure(
    "group-sparse/starts", "Encodings and starts",
    "Descent with fresh batches, every setting at the best of three step sizes: medians and the"
    " middle 70 % of runs. Left: fixed and learned encodings; right: starts of W and v. The claims"
    " are about the standard scale; at quick scale descent ends early.",
    "assumptions of Theorem 3.2", {"run": (learned.starts_and_encodings, {})}, draw_starts,
    scales={"quick": {"run": {"groups": (4, 12), "repetitions": 12}}},
    seconds={"quick": 20, "standard": 240})


def draw_layers(runs: Mapping[str, Run]) -> Drawing:
    """Attention of each layer on the group, alignment of v1 and test error, variant by variant."""
    data = runs["run"].data
    names, places = data.variant.values, np.arange(data.sizes["variant"])
    figure, panels = plt.subplots(1, 3, figsize=(9.6, 2.8), sharey=True)
    looks = data.by_layer.values
    columns = (
        [("first layer", looks[..., 0], BLUE), ("second layer", looks[..., 1], ORANGE)],
        [("cos(v1, v*)", data.alignment.values, GREEN)], [("error", data.error.values, GREY)])
    for axes, shown in zip(panels, columns, strict=True):
        for number, (label, rows, colour) in enumerate(shown):
            known = np.isfinite(rows).all(axis=1)
            low, middle, high = np.percentile(rows[known], [15, 50, 85], axis=1)
            axes.errorbar(
                middle, places[known] + 0.15 * number, xerr=[middle - low, high - middle], fmt="o",
                color=colour, markersize=4, linewidth=1, label=label)
    for axes, title in zip(
        panels, ("attention on the group", "alignment of the value", "test error"), strict=True
    ):
        axes.set(title=title, yticks=places, yticklabels=names)
    panels[0].legend(fontsize=7)
    panels[0].invert_yaxis()
    return figure


LAYERS = Figure(
    "group-sparse/layers", "Two layers: which one selects",
    "The paper's layer and two layers in a row, with fresh batches, each at the best of three step"
    " sizes: medians and the middle 70 % of runs. The claims are about the standard scale (300"
    " steps); at quick scale descent ends early.", "Conclusion of the paper",
    {"run": (descent.architectures, {"variants": ("paper", *descent.DEEP)})}, draw_layers,
    seconds={"quick": 40, "standard": 100})
