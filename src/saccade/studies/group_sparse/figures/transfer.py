"""Figures of transfer: learning curves on a new direction, and what they cost against d + D and
d D."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREEN, GREY, ORANGE
from saccade.studies.group_sparse.experiments import reading, transfer

LEARNERS = (("attention", BLUE), ("logistic", ORANGE))


def label_counts(axes: Any, counts: Sequence[int]) -> None:
    """Ticks at these numbers alone, written out."""
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()


def _band(axes, x, values: np.ndarray, colour: str, label: str) -> None:
    """Median and quartiles over draws; `values` is [draw][x]."""
    low, middle, high = np.nanpercentile(values, [25, 50, 75], axis=0)
    axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(x, middle, color=colour, label=label)


def draw_transfer(runs: Mapping[str, Run]) -> Drawing:
    """Test error against samples: online learners (solid) and batch fits (dashed), one panel a pair
    (d, D)."""
    online, batch = runs["online"].data, runs["batch"].data
    pairs = list(zip(online.group_dim.values, online.groups.values, strict=True))
    known = list(zip(batch.group_dim.values, batch.groups.values, strict=True))
    figure, panels = plt.subplots(
        1, len(pairs), figsize=(3.2 * len(pairs), 2.9), sharey=True, squeeze=False)
    for number, (axes, pair) in enumerate(zip(panels[0], pairs, strict=True)):
        for learner, colour in LEARNERS:
            rows = online.error.isel(pair=number).sel(learner=learner, measure="test")
            _band(axes, online.samples, rows.values, colour, f"{learner}, online")
        for reader, colour in (("features", BLUE), ("flattened", ORANGE), ("oracle", GREEN)):
            middle = batch.error.isel(pair=known.index(pair)).sel(reader=reader).median("draw")
            axes.plot(
                batch.samples, middle, "--", color=colour, linewidth=1, label=f"{reader}, batch")
        axes.axhline(0.1, color=GREY, linewidth=0.8, linestyle=":")
        axes.set(
            xscale="log", yscale="log", xlabel="samples n", title=f"d = {pair[0]}, D = {pair[1]}")
    panels[0][0].set_ylabel("test error")
    panels[0][-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


TRANSFER = Figure(
    id="group-sparse/transfer", title="Transfer to a new direction",
    caption=(
        "From attention 0.97 on the relevant group. Solid: online SGD, medians and quartiles of 32"
        " streams; dashed: logistic fits (C = 1) on the layer's frozen features, on the flattened"
        " input and on the relevant group alone."),
    source="Theorem 4.2",
    runs={
        "online": (transfer.transfer, {}),
        "batch": (transfer.batch_transfer, {"pairs": transfer.FEW_PAIRS})},
    draw=draw_transfer,
    scales={
        "standard": {"batch": {"pairs": transfer.PAIRS}},
        "paper": {"batch": {"pairs": transfer.MORE_PAIRS}}},
    seconds={"quick": 30, "standard": 120, "paper": 600})


def _power_law(axes, x: np.ndarray, values: np.ndarray, colour: str, label: str) -> None:
    """Medians and quartiles over streams against a size, with the power law fitted to the medians
    and its R^2 in the legend."""
    low, middle, high = np.nanpercentile(values, [25, 50, 75], axis=1)
    known = np.isfinite(middle)
    x, low, middle, high = x[known], low[known], middle[known], high[known]
    axes.errorbar(
        x, middle, [middle - low, high - middle], fmt="o", color=colour, markersize=4, linewidth=0.8
    )
    slope = reading.exponents(middle[:, None], x)[0]
    share = reading.shares_explained(middle[:, None], x)[0]
    ends = np.array([x.min(), x.max()], float)
    line = np.exp(np.log(middle).mean() + slope * (np.log(ends) - np.log(x).mean()))
    axes.plot(
        ends, line, color=colour, linewidth=1, label=f"{label}: {slope:.2f}, R² = {share:.2f}")


def draw_slopes(runs: Mapping[str, Run]) -> Drawing:
    """Top: samples for 10 % error with a margin; bottom: average online error; left against d + D,
    right against d D."""
    figure, panels = plt.subplots(2, 2, figsize=(7.6, 5.4), sharex="col")
    run = runs["run"]
    rows = (
        (reading.needed, "samples for 10 % error"), (reading.online_errors, "average online error"))
    columns = reading.sizes(run).values()
    for row, (measure, name) in zip(panels, rows, strict=True):
        for axes, x in zip(row, columns, strict=True):
            for learner, colour in LEARNERS:
                _power_law(axes, x, measure(run, learner), colour, learner)
            axes.set(xscale="log", yscale="log")
            axes.legend(fontsize=7)
        row[0].set_ylabel(name)
    for axes, name, x in zip(panels[1], ("d + D", "d D"), columns, strict=True):
        ticks = sorted({int(value) for value in x})
        label_counts(
            axes,
            [
                value for value in ticks
                if all(abs(np.log(value / other)) > 0.12 for other in ticks if other < value)])
        axes.set_xlabel(name)
    return figure


SLOPES = Figure(
    id="group-sparse/slopes", title="What transfer costs",
    caption=(
        "Online learners on the same streams with a margin of 0.5: medians and quartiles over"
        " streams, each point a pair (d, D); the legend gives the fitted exponent. Logistic"
        " regression follows d D exactly; attention stays below d + D."),
    source="Theorem 4.2",
    runs={"run": (
        transfer.transfer, {"margin": 0.5, "pairs": ((4, 4), (2, 16), (16, 2)), "samples": 200})},
    draw=draw_slopes,
    scales={"standard": {"run": {"pairs": transfer.SPREAD_PAIRS, "samples": 1500, "points": 28}}},
    seconds={"quick": 15, "standard": 120})
