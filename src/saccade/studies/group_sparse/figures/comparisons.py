"""Figures of comparisons: what transfer costs against d + D and d D, and who finds the group from
few samples."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.intervals import fraction_interval
from saccade.lab.style import BLUE, CYCLE, GREY, ORANGE
from saccade.studies.group_sparse.experiments import peers, transfer
from saccade.studies.group_sparse.experiments.reading import (
    exponents,
    needed,
    online_errors,
    shares_explained,
    sizes,
)

LEARNERS = (("attention", BLUE), ("logistic", ORANGE))


def _power_law(axes, x: np.ndarray, values: np.ndarray, colour: str, label: str) -> None:
    """Medians and quartiles over streams against a size, with the power law fitted to the medians
    and its R^2 in the legend."""
    low, middle, high = np.nanpercentile(values, [25, 50, 75], axis=1)
    known = np.isfinite(middle)
    x, low, middle, high = x[known], low[known], middle[known], high[known]
    axes.errorbar(
        x, middle, [middle - low, high - middle], fmt="o", color=colour, markersize=4, linewidth=0.8
    )
    slope, share = exponents(middle[:, None], x)[0], shares_explained(middle[:, None], x)[0]
    ends = np.array([x.min(), x.max()], float)
    line = np.exp(np.log(middle).mean() + slope * (np.log(ends) - np.log(x).mean()))
    axes.plot(
        ends, line, color=colour, linewidth=1, label=f"{label}: {slope:.2f}, R² = {share:.2f}")


def draw_slopes(runs: Mapping[str, Run]) -> Drawing:
    """Top: samples for 10 % error with a margin; bottom: average online error; left against d + D,
    right against d D."""
    figure, panels = plt.subplots(2, 2, figsize=(7.6, 5.4), sharex="col")
    run = runs["run"]
    rows = ((needed, "samples for 10 % error"), (online_errors, "average online error"))
    for row, (measure, name) in zip(panels, rows, strict=True):
        for axes, x in zip(row, sizes(run), strict=True):
            for learner, colour in LEARNERS:
                _power_law(axes, x, measure(run, learner), colour, learner)
            axes.set(xscale="log", yscale="log")
            axes.legend(fontsize=7)
        row[0].set_ylabel(name)
    for axes, name, x in zip(panels[1], ("d + D", "d D"), sizes(run), strict=True):
        ticks = sorted({int(value) for value in x})
        shown = [
            value for value in ticks
            if all(abs(np.log(value / other)) > 0.12 for other in ticks if other < value)]
        axes.set_xticks(shown, [str(value) for value in shown])
        axes.minorticks_off()
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


def draw_peers(runs: Mapping[str, Run]) -> Drawing:
    """Probability of ranking the relevant group first with 95 % intervals, and milliseconds per
    fit."""
    data = runs["run"].data
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.0), width_ratios=(1.3, 1))
    count = data.samples.values
    for number, name in enumerate(data.finder.values):
        colour = CYCLE[number % len(CYCLE)]
        hits = data.found.sel(finder=name).values
        ends = [fraction_interval(row, 0.05) for row in hits]
        share = hits.mean(axis=1)
        bars = [share - [one.low for one in ends], [one.high for one in ends] - share]
        shift = 1.015 ** (number - (data.sizes["finder"] - 1) / 2)
        left.errorbar(
            count * shift, share, bars, fmt="o-", color=colour, capsize=2, markersize=3.5,
            linewidth=1, label=name)
        right.plot(
            count, 1e3 * data.seconds.sel(finder=name), "o-", color=colour, markersize=3.5,
            linewidth=1)
    left.axhline(1 / runs["run"].parameters.groups, color=GREY, linewidth=0.8, linestyle=":")
    left.set(xscale="log", xlabel="samples n", title="Relevant group ranked first", ylim=(0, 1.03))
    right.set(xscale="log", yscale="log", xlabel="samples n", title="Milliseconds per fit")
    for axes in (left, right):
        axes.set_xticks(count, [str(value) for value in count])
        axes.minorticks_off()
    left.legend(loc="lower right", fontsize=7.5)
    return figure


PEERS = Figure(
    id="group-sparse/peers", title="Who finds the group",
    caption=(
        "d = 8, D = 16, the same draws for all, with 95 % intervals (dotted: chance). Screening:"
        " largest |X_g^T y|; celer: group lasso at 0.7 of its largest penalty; abess: best single"
        " group; layer: full-batch descent, the best of three step sizes at each n."),
    source="ours", runs={"run": (peers.peers, {"samples": (8, 16, 32, 64), "draws": 40})},
    draw=draw_peers,
    scales={"standard": {"run": {
        "finders": ("screening", "celer", "abess", "adelie"),
        "samples": (8, 12, 16, 24, 32, 48, 64, 96), "draws": 200}}},
    seconds={"quick": 12, "standard": 60}, requires="bench:celer,abess")
