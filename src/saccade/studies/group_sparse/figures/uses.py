"""Figures of what the layer is good for: transfer, finding the group, images."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREEN, GREY, ORANGE
from saccade.studies.group_sparse.experiments import finite, images, transfer


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
        for learner, colour in (("attention", BLUE), ("logistic", ORANGE)):
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
    left.set(
        xscale="log", xlabel="samples n", title="Relevant group ranked first", ylim=(-0.03, 1.05))
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xticks(data.samples.values, [str(count) for count in data.samples.values])
        axes.minorticks_off()
    left.legend()
    right.plot(
        data.samples, data.attention.median("draw"), "o-", color=BLUE, markersize=4,
        label="attention on the group")
    right.plot(
        data.samples, data.test_error.median("draw"), "o-", color=ORANGE, markersize=4,
        label="test error")
    right.plot(
        data.samples, data.train_loss.median("draw"), "o-", color=GREY, markersize=4,
        label="training loss")
    right.set(xlabel="samples n", title="The layer from scratch (medians)")
    right.legend()
    return figure


FINDING = Figure(
    id="group-sparse/finding", title="Finding the group from few samples",
    caption=(
        "Full-batch descent from zero on n samples (d = 8, D = 16, η = 0.05, 80 steps) against"
        " screening by |X_g^T y| on the same draws; bars: binomial standard errors."),
    source="ours", runs={"run": (finite.from_scratch, {"samples": (16, 32, 64)})},
    draw=draw_finding, scales={"standard": {"run": {"samples": (16, 32, 64, 128, 256)}}},
    seconds={"quick": 30, "standard": 300})


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
