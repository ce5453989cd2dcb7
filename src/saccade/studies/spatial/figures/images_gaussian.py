"""Figure 2: a ViT that learns without learning which patches belong together."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, ORANGE, THEORY
from saccade.studies.spatial.experiments.images_checks import gaussian_images, same_tap


def draw_counterexample(runs: Mapping[str, Run]) -> Drawing:
    """Loss and test error; cosines of encodings sorted by set and by tap; overlaps."""
    data = runs["run"].data
    figure, (curve, by_set, by_tap, bars) = plt.subplots(
        1, 4, figsize=(8.6, 2.4), width_ratios=(1.2, 1, 1, 0.9))
    window = max(1, data.sizes["step"] // 40)
    for row in data.loss.values:
        smooth = np.convolve(row, np.ones(window) / window, "valid")
        curve.plot(np.arange(len(smooth)) + window, smooth, color=BLUE, alpha=0.7, linewidth=1)
    start, end = data.wrong.mean(("seed", "image")).values
    curve.set(xlabel="step", ylabel="training loss", title=f"Test error {start:.2f} → {end:.2f}")
    labels = data.labels.values
    taps = same_tap(labels).argmax(axis=1)
    for axes, order, word in (
        (by_set, np.argsort(labels, kind="stable"), "set"),
        (by_tap, np.argsort(taps, kind="stable"), "tap"),
    ):
        image = axes.imshow(
            data.similarity.values[0][np.ix_(order, order)], cmap="RdBu_r", vmin=-1, vmax=1)
        size = len(labels) // len(set(labels))
        for line in np.arange(size, len(labels), size) - 0.5:
            axes.axhline(line, color="black", linewidth=0.5)
            axes.axvline(line, color="black", linewidth=0.5)
        axes.grid(False)
        axes.set(
            xticks=[], yticks=[], xlabel=f"patches sorted by {word}",
            title="Cosines" if word == "set" else "")
    figure.colorbar(image, ax=by_tap, shrink=0.8)
    for place, (name, colour) in enumerate((("by_set", BLUE), ("by_tap", ORANGE))):
        seeds = data[name].sel(time="end").mean("patch").values
        bars.bar(place, seeds.mean(), 0.6, color=colour, alpha=0.6)
        bars.plot(np.full(len(seeds), place), seeds, "k.", markersize=3)
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
    source="Figure 2", runs={"run": (gaussian_images, {})}, draw=draw_counterexample,
    seconds={"quick": 30, "standard": 150})
