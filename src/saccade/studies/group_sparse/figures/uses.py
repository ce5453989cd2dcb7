"""Figures of what the layer is good for: transfer and what it costs, finding the group, images."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.intervals import fraction_interval
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE
from saccade.studies.group_sparse.experiments import finding, images, transfer

LEARNERS = (("attention", BLUE), ("logistic", ORANGE))


def label_counts(axes: Any, counts: Sequence[int]) -> None:
    """Ticks at these numbers alone, written out."""
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()


def draw_transfer(runs: Mapping[str, Run]) -> Drawing:
    """Test error against samples: online (solid) and batch fits (dashed), a panel a pair."""
    online, batch = runs["online"].data, runs["batch"].data
    pairs = list(zip(online.group_dim.values, online.groups.values, strict=True))
    known = list(zip(batch.group_dim.values, batch.groups.values, strict=True))
    figure, panels = plt.subplots(
        1, len(pairs), figsize=(3.2 * len(pairs), 2.9), sharey=True, squeeze=False)
    for number, (axes, pair) in enumerate(zip(panels[0], pairs, strict=True)):
        for learner, colour in LEARNERS:
            rows = online.error.isel(pair=number).sel(learner=learner, measure="test")
            low, middle, high = np.nanpercentile(rows.values, [25, 50, 75], axis=0)
            axes.fill_between(online.samples, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(online.samples, middle, color=colour, label=f"{learner}, online")
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
    "group-sparse/transfer", "Transfer to a new direction",
    "From attention 0.97 on the relevant group. Solid: online SGD, medians and quartiles of 32"
    " streams; dashed: logistic fits (C = 1) on the layer's frozen features, on the flattened"
    " input and on the relevant group alone.", "Theorem 4.2",
    {
        "online": (transfer.transfer, {}),
        "batch": (transfer.batch_transfer, {"pairs": transfer.FEW_PAIRS})},
    draw_transfer,
    scales={
        "standard": {"batch": {"pairs": transfer.PAIRS}},
        "paper": {"batch": {"pairs": transfer.MORE_PAIRS}}},
    seconds={"quick": 30, "standard": 120, "paper": 600})


def _power_law(axes, x: np.ndarray, values: np.ndarray, colour: str, label: str) -> None:
    """Medians and quartiles against a size; the power law of the medians, R^2 in the legend."""
    low, middle, high = np.nanpercentile(values, [25, 50, 75], axis=1)
    known = np.isfinite(middle)
    x, low, middle, high = x[known], low[known], middle[known], high[known]
    bars = [middle - low, high - middle]
    axes.errorbar(x, middle, bars, fmt="o", color=colour, markersize=4, linewidth=0.8)
    slope = transfer.exponents(middle[:, None], x)[0]
    share = transfer.shares_explained(middle[:, None], x)[0]
    ends = np.array([x.min(), x.max()], float)
    line = np.exp(np.log(middle).mean() + slope * (np.log(ends) - np.log(x).mean()))
    axes.plot(
        ends, line, color=colour, linewidth=1, label=f"{label}: {slope:.2f}, R² = {share:.2f}")


def draw_slopes(runs: Mapping[str, Run]) -> Drawing:
    """Top: samples for 10 % error; bottom: average online error; against d + D and d D."""
    figure, panels = plt.subplots(2, 2, figsize=(7.6, 5.4), sharex="col")
    run = runs["run"]
    rows = (
        (transfer.needed, "samples for 10 % error"),
        (transfer.online_errors, "average online error"))
    columns = transfer.sizes(run).values()
    for row, (measure, name) in zip(panels, rows, strict=True):
        for axes, x in zip(row, columns, strict=True):
            for learner, colour in LEARNERS:
                _power_law(axes, x, measure(run, learner), colour, learner)
            axes.set(xscale="log", yscale="log")
            axes.legend(fontsize=7)
        row[0].set_ylabel(name)
    for axes, name, x in zip(panels[1], ("d + D", "d D"), columns, strict=True):
        ticks = sorted({int(value) for value in x})
        apart = [
            value for value in ticks
            if all(abs(np.log(value / other)) > 0.12 for other in ticks if other < value)]
        label_counts(axes, apart)
        axes.set_xlabel(name)
    return figure


SLOPES = Figure(
    "group-sparse/slopes", "What transfer costs",
    "Online learners on the same streams with a margin of 0.5: medians and quartiles over streams,"
    " each point a pair (d, D); the legend gives the fitted exponent. Logistic regression follows"
    " d D exactly; attention stays below d + D.", "Theorem 4.2",
    {"run": (
        transfer.transfer, {"margin": 0.5, "pairs": ((4, 4), (2, 16), (16, 2)), "samples": 200})},
    draw_slopes,
    scales={"standard": {"run": {"pairs": transfer.SPREAD_PAIRS, "samples": 1500, "points": 28}}},
    seconds={"quick": 15, "standard": 120})


def draw_finding(runs: Mapping[str, Run]) -> Drawing:
    """How often the group is ranked first, and what the layer's attention and test error are."""
    data = runs["run"].data
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.8))
    for name, colour, label in (
        ("screening_finds", GREEN, "screening"), ("layer_finds", BLUE, "layer from scratch"),
    ):
        share = data[name].mean("draw").values
        spread = np.sqrt(share * (1 - share) / data.sizes["draw"])
        left.errorbar(
            data.samples, share, spread, fmt="o-", color=colour, capsize=2, markersize=4,
            label=label)
    left.set(xlabel="samples n", title="Relevant group ranked first", ylim=(-0.03, 1.05))
    left.legend()
    for name, colour, label in (
        ("attention", BLUE, "attention on the group"), ("test_error", ORANGE, "test error"),
        ("train_loss", GREY, "training loss"),
    ):
        middle = data[name].median("draw")
        right.plot(data.samples, middle, "o-", color=colour, markersize=4, label=label)
    right.set(xlabel="samples n", title="The layer from scratch (medians)")
    right.legend()
    for axes in (left, right):
        label_counts(axes, data.samples.values)
    return figure


FINDING = Figure(
    "group-sparse/finding", "Finding the group from few samples",
    "Full-batch descent from zero on n samples (d = 8, D = 16, η = 0.05, 80 steps) against"
    " screening by |X_g^T y| on the same draws; bars: binomial standard errors.", "ours",
    {"run": (finding.from_scratch, {})}, draw_finding,
    scales={
        "quick": {"run": {"samples": (16, 32, 48), "held_out": 100}},  # a run of the claims
        "standard": {"run": {"samples": (16, 32, 64, 128, 256)}},},
    seconds={"quick": 10, "standard": 300})


def draw_peers(runs: Mapping[str, Run]) -> Drawing:
    """Chance of ranking the relevant group first (95 % intervals), and milliseconds per fit."""
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
        label_counts(axes, count)
    left.legend(loc="lower right", fontsize=7.5)
    return figure


PEERS = Figure(
    "group-sparse/peers", "Who finds the group",
    "d = 8, D = 16, the same draws for all, with 95 % intervals (dotted: chance). Screening:"
    " largest |X_g^T y|; celer: group lasso at 0.7 of its largest penalty; abess: best single"
    " group; layer: full-batch descent, the best of three step sizes at each n.", "ours",
    {"run": (finding.peers, {"samples": (8, 16, 32, 64), "draws": 40})}, draw_peers,
    scales={"standard": {"run": {
        "finders": ("screening", "celer", "abess", "adelie"),
        "samples": (8, 12, 16, 24, 32, 48, 64, 96), "draws": 200}}},
    seconds={"quick": 12, "standard": 60}, requires="bench:celer,abess")


def draw_images(runs: Mapping[str, Run]) -> Drawing:
    """The mean attention map over patches, and errors beside those of logistic regression."""
    run = runs["run"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.9))
    image = left.imshow(run.data["map"], cmap="viridis", vmin=0)
    left.grid(False)
    left.set(
        title=f"Attention (image in patch {run.parameters.relevant})", xlabel="query patch",
        ylabel="key patch")
    figure.colorbar(image, ax=left, shrink=0.8)
    errors = run.data.error.values, run.data.logistic_error.values
    for place, (values, colour) in enumerate(zip(errors, (BLUE, ORANGE), strict=True)):
        spread = np.linspace(-0.15, 0.15, len(values))
        right.plot(place + spread, values, "o", color=colour, markersize=3.5)
    right.set_xticks([0, 1], ["layer", "logistic, all pixels"])
    right.set(ylabel="test error", title="Each split")
    return figure


IMAGES = Figure(
    "group-sparse/images", "Images in one patch",
    "Two classes of images in the middle of nine patches, Gaussian noise in the others; full-batch"
    " descent from zero. Digits 0, 1 (120 to train) at quick scale; CIFAR-10's airplanes and frogs"
    " (4 x 4 means, 800 to train), as in the paper, at standard scale.",
    "the paper's CIFAR-10 experiment, scaled down", {"run": (images.images, {})}, draw_images,
    scales={"standard": {"run": images.FROGS}}, seconds={"quick": 25, "standard": 160})
