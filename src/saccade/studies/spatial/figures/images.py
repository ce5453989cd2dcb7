"""Figures of real images: shuffled cells (5), learned encodings (5c, 8), positional (6, 7)."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.datasets.images.locality import cosines, distances, grid, locality
from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREEN, GREY, ORANGE
from saccade.studies.spatial.experiments import images

NAMES = {"vanilla": "ViT", "positional": "ViT, positional", "cnn_a": "CNN-A", "cnn_b": "CNN-B"}
NAMES |= {"resnet_18": "ResNet-18", "vgg_19": "VGG-19"}
COLOURS = {
    "vanilla": BLUE, "positional": GREEN, "cnn_a": GREY, "cnn_b": ORANGE, "resnet_18": ORANGE,
    "vgg_19": GREY}
QUERIES = ((1, 1), (2, 5), (4, 3), (6, 6))


def _accuracies(run: Run) -> dict[str, np.ndarray]:
    """Accuracy by (seed, cell) of every network."""
    return {
        str(kind): run.data.right.sel(kind=kind).mean("image").values
        for kind in run.data.kind.values}


def draw_shuffling(runs: Mapping[str, Run]) -> Drawing:
    """A picture and its shuffles; accuracy on whole and on shuffled pictures, one dot a seed."""
    pictures = runs["picture"].data
    count = pictures.sizes["cell"]
    figure = plt.figure(figsize=(7.4, 2.7))
    sides: Any = figure.subfigures(1, 2, width_ratios=(1, 1.25))
    left, right = sides
    columns = -(-count // 2)
    panels = np.ravel(left.subplots(2, columns))
    for axes in panels:
        axes.axis("off")
    for axes, cell, picture in zip(
        panels, pictures.cell.values, pictures.picture.values, strict=False
    ):
        axes.imshow(picture if picture.shape[-1] == 3 else picture[..., 0], cmap="gray")
        axes.set_title(
            f"cells of {cell}" if cell < picture.shape[0] else "whole", fontweight="normal",
            loc="center")
    axes: Any = right.subplots()
    place = 0
    for name in ("vision", "convolution"):
        cells = runs[name].data.cell.values
        for kind, values in _accuracies(runs[name]).items():
            for shift, column in ((-0.18, 0), (0.18, values.shape[1] - 1)):
                filled = COLOURS[kind] if column == 0 else "none"
                axes.bar(
                    place + shift, values[:, column].mean(), 0.32, color=filled,
                    edgecolor=COLOURS[kind])
                axes.plot(
                    np.full(len(values), place + shift), values[:, column], "k.", markersize=3)
                word = "whole" if column == 0 else f"cells of {cells[-1]}"
                tone = "white" if column == 0 else "black"
                axes.text(
                    place + shift, 0.012, word, rotation=90, ha="center", va="bottom", fontsize=7,
                    color=tone)
            axes.text(
                place, -0.04, NAMES[kind], ha="center", va="top", fontsize=8,
                transform=axes.get_xaxis_transform())
            place += 1
    axes.set_xticks([])
    axes.set(
        ylabel="test accuracy", title="Whole (filled) and shuffled pictures; dots: seeds",
        xlim=(-0.6, place - 0.4))
    axes.grid(axis="x", visible=False)
    return figure


SHUFFLING = Figure(
    id="spatial/5a", title="Shuffling the cells of pictures",
    caption="A test picture with its cells in random order, and the accuracy of networks trained"
    " and tested on whole or on shuffled pictures: digits at quick scale, CIFAR-10 (20,000"
    " training images, 6 epochs) at standard scale.", source="Figure 5a, b, scaled down",
    runs={
        "picture": (images.shuffled_picture, {}), "vision": (images.vision, {}),
        "convolution": (images.convolution, {})},
    draw=draw_shuffling, seconds={"quick": 40, "standard": 1900})


def _map(axes: Any, similarity: np.ndarray, query: int) -> Any:
    """Similarities to one cell, the cell itself left blank."""
    side = round(len(similarity) ** 0.5)
    shown = similarity.copy()
    shown[query] = np.nan
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    axes.set_facecolor("0.75")
    return axes.imshow(shown.reshape(side, side), cmap="RdBu_r", vmin=-1, vmax=1)


def _by_distance(similarity: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean cosine of pairs, by their distance rounded to whole cells."""
    apart = np.rint(distances(places)).astype(int)
    steps = np.arange(1, apart.max() + 1)
    return steps, np.array([similarity[apart == step].mean() for step in steps])


def draw_locality(runs: Mapping[str, Run]) -> Drawing:
    """Rows: networks, as shown and in the original picture. Columns: cells, cosine by distance."""
    data = runs["run"].data
    kinds, side = list(data.kind.values), round(data.sizes["token"] ** 0.5)
    queries = [row * side // 8 * side + column * side // 8 for row, column in QUERIES]
    figure, panels = plt.subplots(
        2 * len(kinds), 5, figsize=(7.6, 0.5 + 2.7 * len(kinds)), width_ratios=(1, 1, 1, 1, 1.5),
        squeeze=False)
    origin = data.origin[0, -1].values
    for number, kind in enumerate(kinds):
        similarity = cosines(data.encodings.sel(kind=kind)[0, -1].values.astype(float))
        orders = {"as shown": np.arange(len(origin)), "original": np.argsort(origin)}
        for row, (word, order) in zip(
            panels[2 * number : 2 * number + 2], orders.items(), strict=True
        ):
            sorted_ = similarity[np.ix_(order, order)]
            found = locality(sorted_, grid(side))
            for axes, query in zip(row, queries, strict=False):
                here = int(np.flatnonzero(order == np.flatnonzero(origin == query)[0])[0])
                image = _map(axes, sorted_[here], here)
            row[0].set_ylabel(f"{NAMES[kind]}\n{word}")
            row[4].plot(*_by_distance(sorted_, grid(side)), "o-", color=COLOURS[kind], markersize=3)
            row[4].set(ylim=(-0.5, 1), xlim=(0.5, side + 2.5), ylabel="mean cosine")
            row[4].set_xticks(range(1, side + 3, 2))
            row[4].set_title(
                f"overlap {found.overlap.mean():.2f} (chance {found.chance:.2f})",
                fontweight="normal")
    for axes, (down, right) in zip(panels[0], QUERIES, strict=False):
        axes.set_title(f"cell ({down}, {right})", fontweight="normal", loc="center")
    panels[-1, 4].set_xlabel("distance (cells)")
    figure.colorbar(
        image, ax=panels[-1, :4], location="bottom", shrink=0.5, aspect=40,
        label="cosine of encodings")
    return figure


LOCALITY = Figure(
    id="spatial/5c", title="Encodings learned on shuffled pictures are local in the original ones",
    caption="Cosines of the centred encodings of the first seed with those of four cells (named by"
    " their original place; the cell itself is grey), on the picture as shown and in the original"
    " order, and mean cosine against distance. Overlap: how many of the most similar are"
    " neighbours. CIFAR-10, cells of 4 pixels; at quick scale 50 steps of the vanilla network"
    " only.", source="Figure 5c, scaled down", runs={"run": (images.vision, {})},
    draw=draw_locality, scales={"quick": {"run": images.FEW_STEPS}},
    seconds={"quick": 20, "standard": 1000})


def draw_all_cells(runs: Mapping[str, Run]) -> Drawing:
    """The similarity map of every cell, at its place in the original picture."""
    data = runs["run"].data
    side = round(data.sizes["token"] ** 0.5)
    order = np.argsort(data.origin[0, -1].values)
    similarity = cosines(data.encodings[0, 0, -1].values.astype(float))[np.ix_(order, order)]
    figure, panels = plt.subplots(side, side, figsize=(6, 6), squeeze=False)
    for cell, axes in enumerate(np.ravel(panels)):
        _map(axes, similarity[cell], cell)
    figure.suptitle(
        f"{NAMES[str(data.kind.values[0])]}: cosines with every cell, in the original order",
        fontsize=9)
    return figure


ALL_CELLS = Figure(
    id="spatial/8-images", title="Similarity of encodings for every cell",
    caption="For each cell of the original picture, the cosines of its encoding with all others"
    " (colours from -1, blue, to 1, red; the cell itself grey), learned on shuffled CIFAR-10"
    " pictures by the vanilla network.", source="Figure 8, scaled down",
    runs={"run": (images.vision, {})}, draw=draw_all_cells,
    scales={"quick": {"run": images.FEW_STEPS}}, seconds={"quick": 20, "standard": 1000})


def draw_positional(runs: Mapping[str, Run]) -> Drawing:
    """Training loss and accuracy by epoch; accuracy at the end with its standard error."""
    data = runs["run"].data
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(7.4, 2.6))
    epochs = np.arange(data.sizes["epoch"])
    window = max(1, data.sizes["step"] // 30)
    for kind in data.kind.values:
        part = data.sel(kind=kind).isel(cell=0)
        smooth = np.array(
            [np.convolve(row, np.ones(window) / window, "valid") for row in part.loss.values])
        left.plot(
            np.arange(smooth.shape[1]) + window, smooth.mean(axis=0), color=COLOURS[kind],
            label=NAMES[kind])
        middle.plot(epochs, part.accuracy_by_epoch.values.T, color=COLOURS[kind], alpha=0.8)
    left.set(xlabel="step", title="Training loss, whole pictures")
    left.legend()
    middle.set(
        xlabel="epoch", title=f"Accuracy, {min(images.WATCHED, data.sizes['image'])} test images")
    spread = np.linspace(-0.2, 0.2, data.sizes["kind"] * data.sizes["seed"])
    for column in range(data.sizes["cell"]):
        for number, (kind, seed) in enumerate(
            (k, s) for k in data.kind.values for s in range(data.sizes["seed"])
        ):
            share = float(data.right.sel(kind=kind)[seed, column].mean())
            error = np.sqrt(share * (1 - share) / data.sizes["image"])
            right.errorbar(
                column + spread[number], share, error, fmt="o", color=COLOURS[kind], markersize=4,
                capsize=2)
    words = [
        "whole" if column == 0 else f"cells of {cell}"
        for column, cell in enumerate(data.cell.values)]
    right.set_xticks(range(len(words)), words)
    right.set(title="At the end (one s.e.)", xlim=(-0.5, len(words) - 0.5))
    return figure


POSITIONAL = Figure(
    id="spatial/7", title="Positional against vanilla attention",
    caption="The same ViT with attention that looks at tokens (vanilla) or at positions only, equal"
    " budget: loss (running mean), accuracy by epoch for every seed, accuracy on all test images."
    " Digits at quick scale, CIFAR-10 at standard scale.", source="Figures 6 and 7, scaled down",
    runs={"run": (images.vision, {})}, draw=draw_positional,
    seconds={"quick": 25, "standard": 1000})
