"""Figures of who finds the group from few samples, and of images in one patch."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.intervals import fraction_interval
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE
from saccade.studies.group_sparse.experiments import finding, images
from saccade.studies.group_sparse.figures.transfer import label_counts


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
    id="group-sparse/finding", title="Finding the group from few samples",
    caption=(
        "Full-batch descent from zero on n samples (d = 8, D = 16, η = 0.05, 80 steps) against"
        " screening by |X_g^T y| on the same draws; bars: binomial standard errors."),
    source="ours", runs={"run": (finding.from_scratch, {"samples": (16, 32, 64)})},
    draw=draw_finding, scales={"standard": {"run": {"samples": (16, 32, 64, 128, 256)}}},
    seconds={"quick": 30, "standard": 300})


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
        label_counts(axes, count)
    left.legend(loc="lower right", fontsize=7.5)
    return figure


PEERS = Figure(
    id="group-sparse/peers", title="Who finds the group",
    caption=(
        "d = 8, D = 16, the same draws for all, with 95 % intervals (dotted: chance). Screening:"
        " largest |X_g^T y|; celer: group lasso at 0.7 of its largest penalty; abess: best single"
        " group; layer: full-batch descent, the best of three step sizes at each n."),
    source="ours", runs={"run": (finding.peers, {"samples": (8, 16, 32, 64), "draws": 40})},
    draw=draw_peers,
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
    id="group-sparse/images", title="Images in one patch",
    caption=(
        "Two classes of images in the middle of nine patches, Gaussian noise in the others;"
        " full-batch descent from zero. Digits 0, 1 (120 to train) at quick scale; CIFAR-10's"
        " airplanes and frogs (4 x 4 means, 800 to train), as in the paper, at standard scale."),
    source="the paper's CIFAR-10 experiment, scaled down", runs={"run": (images.images, {})},
    draw=draw_images, scales={"standard": {"run": images.FROGS}},
    seconds={"quick": 25, "standard": 160})
