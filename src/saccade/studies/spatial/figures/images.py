"""Figures of real images: shuffled cells (5), encodings (5c, 8), positional (6, 7); Figure 2."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.datasets.images.locality import cosines, distances, grid, locality
from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREEN, GREY, ORANGE, THEORY
from saccade.studies.spatial.experiments import images, small_networks

NAMES = {"vanilla": "ViT", "positional": "ViT, positional", "cnn_a": "CNN-A", "cnn_b": "CNN-B"}
NAMES |= {"resnet_18": "ResNet-18", "vgg_19": "VGG-19"}
COLOURS = {
    "vanilla": BLUE, "positional": GREEN, "cnn_a": GREY, "cnn_b": ORANGE, "resnet_18": ORANGE,
    "vgg_19": GREY}
QUERIES = ((1, 1), (2, 5), (4, 3), (6, 6))


VISION = {"run": (images.vision, {})}


def _bare(*panels: Any) -> None:
    """No ticks, no grid."""
    for axes in panels:
        axes.set(xticks=[], yticks=[])
        axes.grid(False)


def _running_mean(losses: np.ndarray, windows: int) -> tuple[np.ndarray, np.ndarray]:
    """Steps, and losses (seed, step) averaged over one of so many windows before them."""
    window = max(1, losses.shape[1] // windows)
    smooth = np.array([np.convolve(row, np.ones(window) / window, "valid") for row in losses])
    return np.arange(smooth.shape[1]) + window, smooth


def _bar(axes: Any, place: float, seeds: np.ndarray, width: float, **style: Any) -> None:
    """The mean of the seeds, and a dot for each."""
    axes.bar(place, seeds.mean(), width, **style)
    axes.plot(np.full(len(seeds), place), seeds, "k.", markersize=3)


def draw_counterexample(runs: Mapping[str, Run]) -> Drawing:
    """Loss and test error; cosines of encodings sorted by set and by tap; overlaps."""
    data = runs["run"].data
    figure, (curve, by_set, by_tap, bars) = plt.subplots(
        1, 4, figsize=(8.6, 2.4), width_ratios=(1.2, 1, 1, 0.9))
    steps, smooth = _running_mean(data.loss.values, 40)
    curve.plot(steps, smooth.T, color=BLUE, alpha=0.7, linewidth=1)
    start, end = data.wrong.mean(("seed", "image")).values
    curve.set(xlabel="step", ylabel="training loss", title=f"Test error {start:.2f} → {end:.2f}")
    labels = data.labels.values
    taps = small_networks.same_tap(labels).argmax(axis=1)
    size = len(labels) // len(set(labels))
    for axes, groups, word in ((by_set, labels, "set"), (by_tap, taps, "tap")):
        order = np.argsort(groups, kind="stable")
        image = axes.imshow(
            data.similarity.values[0][np.ix_(order, order)], cmap="RdBu_r", vmin=-1, vmax=1)
        for line in np.arange(size, len(labels), size) - 0.5:
            axes.axhline(line, color="black", linewidth=0.5)
            axes.axvline(line, color="black", linewidth=0.5)
        axes.set_xlabel(f"patches sorted by {word}")
    _bare(by_set, by_tap)
    by_set.set_title("Cosines")
    figure.colorbar(image, ax=by_tap, shrink=0.8)
    for place, (name, colour) in enumerate((("by_set", BLUE), ("by_tap", ORANGE))):
        seeds = data[name].sel(time="end").mean("patch").values
        _bar(bars, place, seeds, 0.6, color=colour, alpha=0.6)
    bars.axhline(float(data.chance), **THEORY, label="chance")
    bars.set_xticks([0, 1], ["set", "tap"])
    bars.set(title="Overlap of the top three", ylim=(0, 1))
    bars.legend(loc="upper left")
    return figure


COUNTEREXAMPLE = Figure(
    id="spatial/2", title="Learning without patch association",
    caption="A one-layer ViT on 16 Gaussian patches in four sets, labelled by a cubic convolutional"
    " rule. The error falls, but encodings of one set are no more alike than by chance; those of"
    " patches weighed by the same filter tap are. Cosines: first seed; dots: seeds.",
    source="Figure 2", runs={"run": (small_networks.gaussian_images, {})}, draw=draw_counterexample,
    seconds={"quick": 30, "standard": 150})


def draw_shuffling(runs: Mapping[str, Run]) -> Drawing:
    """A picture and its shuffles; accuracy on whole and on shuffled pictures, one dot a seed."""
    pictures = runs["picture"].data
    figure = plt.figure(figsize=(7.4, 2.7))
    sides: Any = figure.subfigures(1, 2, width_ratios=(1, 1.25))
    panels = np.ravel(sides[0].subplots(2, -(-pictures.sizes["cell"] // 2)))
    for axes in panels:
        axes.axis("off")
    for axes, cell, picture in zip(panels, pictures.cell.values, pictures.picture.values):
        axes.imshow(picture if picture.shape[-1] == 3 else picture[..., 0], cmap="gray")
        title = f"cells of {cell}" if cell < picture.shape[0] else "whole"
        axes.set_title(title, fontweight="normal", loc="center")
    axes: Any = sides[1].subplots()
    networks = [
        (str(kind), runs[name].data) for name in ("vision", "convolution")
        for kind in runs[name].data.kind.values]
    for place, (kind, data) in enumerate(networks):
        _accuracies(axes, place, kind, data)
    axes.set(
        ylabel="test accuracy", title="Whole (filled) and shuffled pictures; dots: seeds",
        xlim=(-0.6, len(networks) - 0.4), xticks=[])
    axes.grid(axis="x", visible=False)
    return figure


def _accuracies(axes: Any, place: int, kind: str, data: Any) -> None:
    """Accuracy of one network on whole and on shuffled pictures."""
    values = data.right.sel(kind=kind).mean("image").values
    looks = (
        (-0.18, 0, COLOURS[kind], "white", "whole"),
        (0.18, -1, "none", "black", f"cells of {data.cell.values[-1]}"))
    for shift, column, fill, tone, word in looks:
        _bar(axes, place + shift, values[:, column], 0.32, color=fill, edgecolor=COLOURS[kind])
        axes.text(
            place + shift, 0.012, word, rotation=90, ha="center", va="bottom", fontsize=7,
            color=tone)
    axes.text(
        place, -0.04, NAMES[kind], ha="center", va="top", fontsize=8,
        transform=axes.get_xaxis_transform())


SHUFFLING = Figure(
    id="spatial/5a", title="Shuffling the cells of pictures",
    caption="A test picture with its cells in random order, and the accuracy of networks trained"
    " and tested on whole or on shuffled pictures: digits at quick scale, CIFAR-10 (20,000"
    " training images, 6 epochs) at standard scale.", source="Figure 5a, b, scaled down",
    runs={
        "picture": (images.shuffled_picture, {}), "vision": (images.vision, {}),
        "convolution": (images.convolution, {})},
    draw=draw_shuffling, seconds={"quick": 40, "standard": 1900})


def draw_cells(runs: Mapping[str, Run]) -> Drawing:
    """Accuracy against the size of the shuffled cells: means over seeds, and a dot for each."""
    figure, axes = plt.subplots(figsize=(4.6, 2.9))
    for data in (runs[name].data for name in ("vision", "convolution")):
        for kind in map(str, data.kind.values):
            share = data.right.sel(kind=kind).mean("image").transpose("cell", "seed").values
            cells = data.cell.values
            axes.plot(cells, share.mean(1), "-", color=COLOURS[kind], label=NAMES[kind])
            axes.plot(cells, share, ".", color=COLOURS[kind], markersize=4)
    cells = np.unique(np.concatenate([runs[name].data.cell.values for name in runs]))
    axes.set_xscale("log", base=2)
    axes.set_xticks(cells, [*map(str, cells[:-1]), "whole"])
    axes.set(xlabel="side of the shuffled cells (pixels)", ylabel="test accuracy")
    axes.legend()
    return figure


CELLS = Figure(
    id="spatial/5a-cells", title="Accuracy by the size of the shuffled cells",
    caption="Networks trained and tested on pictures whose cells are in random order; the rightmost"
    " point is the whole picture; a dot a seed. Standard scale: CIFAR-10, 10,000 training images,"
    " 156 steps; the ViTs have patches of 4, which cells of 2 cut through. Quick scale: digits, two"
    " sizes.", source="Figure 5a, scaled down",
    runs={"vision": (images.vision, {}), "convolution": (images.convolution, {})},
    scales={"standard": {"vision": {**images.BRIEF, "seeds": 2}, "convolution": images.BRIEF}},
    draw=draw_cells, seconds={"quick": 40, "standard": 600})


def _map(axes: Any, similarity: np.ndarray, query: int) -> Any:
    """Similarities to one cell, the cell itself left blank."""
    side = round(len(similarity) ** 0.5)
    shown = np.where(np.arange(len(similarity)) == query, np.nan, similarity)
    _bare(axes)
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
    kinds = list(data.kind.values)
    figure, panels = plt.subplots(
        2 * len(kinds), 5, figsize=(7.6, 0.5 + 2.7 * len(kinds)), width_ratios=(1, 1, 1, 1, 1.5),
        squeeze=False)
    origin = data.origin[0, -1].values
    orders = (("as shown", np.arange(len(origin))), ("original", np.argsort(origin)))
    rows = [(kind, word, order) for kind in kinds for word, order in orders]
    for row, (kind, word, order) in zip(panels, rows, strict=True):
        similarity = cosines(data.encodings.sel(kind=kind)[0, -1].values.astype(float))
        image = _locality(row, similarity[np.ix_(order, order)], origin[order], COLOURS[kind])
        row[0].set_ylabel(f"{NAMES[kind]}\n{word}")
    for axes, (down, right) in zip(panels[0], QUERIES):
        axes.set_title(f"cell ({down}, {right})", fontweight="normal", loc="center")
    panels[-1, 4].set_xlabel("distance (cells)")
    figure.colorbar(
        image, ax=panels[-1, :4], location="bottom", shrink=0.5, aspect=40,
        label="cosine of encodings")
    return figure


def _locality(row: Any, similarity: np.ndarray, origin: np.ndarray, colour: str) -> Any:
    """The maps of four cells, named by their original place, and mean cosine by distance."""
    side = round(len(origin) ** 0.5)
    for axes, (down, right) in zip(row, QUERIES):
        here = int(np.flatnonzero(origin == down * side // 8 * side + right * side // 8)[0])
        image = _map(axes, similarity[here], here)
    local = locality(similarity, grid(side))
    row[4].plot(*_by_distance(similarity, grid(side)), "o-", color=colour, markersize=3)
    row[4].set(
        ylim=(-0.5, 1), xlim=(0.5, side + 2.5), ylabel="mean cosine", xticks=range(1, side + 3, 2))
    title = f"overlap {local.overlap.mean():.2f} (chance {local.chance:.2f})"
    row[4].set_title(title, fontweight="normal")
    return image


LOCALITY = Figure(
    id="spatial/5c", title="Encodings learned on shuffled pictures are local in the original ones",
    caption="Cosines of the centred encodings of the first seed with those of four cells (named by"
    " their original place; the cell itself is grey), on the picture as shown and in the original"
    " order, and mean cosine against distance. Overlap: how many of the most similar are"
    " neighbours. CIFAR-10, cells of 4 pixels; at quick scale 50 steps of the vanilla network"
    " only.", source="Figure 5c, scaled down", runs=VISION, draw=draw_locality,
    scales={"quick": {"run": images.FEW_STEPS}}, seconds={"quick": 20, "standard": 1000},
    requires="data:cifar10")


def draw_all_cells(runs: Mapping[str, Run]) -> Drawing:
    """The similarity map of every cell, at its place in the original picture."""
    data = runs["run"].data
    side = round(data.sizes["token"] ** 0.5)
    order = np.argsort(data.origin[0, -1].values)
    similarity = cosines(data.encodings[0, 0, -1].values.astype(float))[np.ix_(order, order)]
    figure, panels = plt.subplots(side, side, figsize=(6, 6), squeeze=False)
    for cell, axes in enumerate(np.ravel(panels)):
        _map(axes, similarity[cell], cell)
    name = NAMES[str(data.kind.values[0])]
    figure.suptitle(f"{name}: cosines with every cell, in the original order", fontsize=9)
    return figure


ALL_CELLS = Figure(
    id="spatial/8-images", title="Similarity of encodings for every cell",
    caption="For each cell of the original picture, the cosines of its encoding with all others"
    " (colours from -1, blue, to 1, red; the cell itself grey), learned on shuffled CIFAR-10"
    " pictures by the vanilla network.", source="Figure 8, scaled down", runs=VISION,
    draw=draw_all_cells, scales={"quick": {"run": images.FEW_STEPS}},
    seconds={"quick": 20, "standard": 1000}, requires="data:cifar10")


def draw_positional(runs: Mapping[str, Run]) -> Drawing:
    """Training loss and accuracy by epoch; accuracy at the end with its standard error."""
    data = runs["run"].data
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(7.4, 2.6))
    seeds, cells = data.sizes["seed"], data.sizes["cell"]
    spread = np.linspace(-0.2, 0.2, data.sizes["kind"] * seeds).reshape(-1, seeds)
    for shifts, kind in zip(spread, data.kind.values, strict=True):
        part, colour = data.sel(kind=kind), COLOURS[kind]
        steps, smooth = _running_mean(part.loss.values[:, 0], 30)
        left.plot(steps, smooth.mean(axis=0), color=colour, label=NAMES[kind])
        middle.plot(part.accuracy_by_epoch.values[:, 0].T, color=colour, alpha=0.8)
        share = part.right.mean("image").values
        error = np.sqrt(share * (1 - share) / data.sizes["image"])
        places = np.arange(cells) + shifts[:, None]
        right.errorbar(
            places.ravel(), share.ravel(), error.ravel(), fmt="o", color=colour, markersize=4,
            capsize=2)
    left.set(xlabel="step", title="Training loss, whole pictures")
    left.legend()
    watched = min(images.WATCHED, data.sizes["image"])
    middle.set(xlabel="epoch", title=f"Accuracy, {watched} test images")
    words = ["whole", *(f"cells of {cell}" for cell in data.cell.values[1:])]
    right.set_xticks(range(cells), words)
    right.set(title="At the end (one s.e.)", xlim=(-0.5, cells - 0.5))
    return figure


POSITIONAL = Figure(
    id="spatial/7", title="Positional against vanilla attention",
    caption="The same ViT with attention that looks at tokens (vanilla) or at positions only, equal"
    " budget: loss (running mean), accuracy by epoch for every seed, accuracy on all test images."
    " Digits at quick scale, CIFAR-10 at standard scale.", source="Figures 6 and 7, scaled down",
    runs=VISION, draw=draw_positional, seconds={"quick": 25, "standard": 1000})
