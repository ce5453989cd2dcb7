"""The task and the layer as pictures (1a and 2)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.datasets.sentences import sentence_sets
from saccade.lab.experiment import Run
from saccade.lab.style import BLUE, GREEN, GREY, RED
from saccade.studies.single_location.experiments import draws, language
from saccade.studies.single_location.figures import figure


def draw_sentences(run: Run) -> Drawing:
    """Each text with the word that decides marked, in the colour of its label."""
    train = sentence_sets()["train"]
    drawing, axes = plt.subplots(figsize=(6.6, 2.4))
    axes.axis("off")
    axes.set(xlim=(0, 1), ylim=(0, 1), title="One word decides: change it and the label flips")
    rows = run.data["index"].values.ravel()
    for number, index in enumerate(rows):
        words, place = train.texts[index].split(), int(train.positions[index])
        height = 0.92 - number * 0.2 - 0.1 * (number // 2)
        colour = GREEN if train.labels[index] > 0 else RED
        pieces = [" ".join(words[:place]), words[place], " ".join(words[place + 1 :])]
        left = 0.0
        for piece, shade in zip(pieces, ("black", colour, "black"), strict=True):
            box = {"facecolor": colour, "alpha": 0.18, "edgecolor": "none", "pad": 1.5}
            said = axes.annotate(
                piece, (left, height), fontsize=9, color=shade, family="monospace", va="center",
                annotation_clip=False, bbox=box if shade == colour else None)
            left += (len(piece) + 1) * 0.0128
            said.set_in_layout(False)
        axes.text(
            1.02, height, f"Y = {train.labels[index]:+d}", color=colour, va="center", fontsize=9)
    return drawing


FIGURE_1A = figure(
    "single-location/1a", "One word decides",
    "Two pairs of training texts that differ in one word, the adjective of the second sentence that"
    " decides; the adjective of the first one is a distractor. Words are ours.", "Figure 1a",
    language.sentence_pairs, {}, draw_sentences)


def draw_layer(run: Run) -> Drawing:
    """Tokens in the plane of the two directions, their weights, and the sum."""
    data, numbers = run.data, np.arange(run.parameters.length) + 1
    score, answer, weight = (data[name].values for name in ("score", "answer", "weight"))
    colours = [RED if informative else GREY for informative in data["where"].values]
    drawing, (plane, weights, parts) = plt.subplots(1, 3, figsize=(9.2, 2.8))
    plane.scatter(score, answer, c=colours, s=24)
    plane.set(
        xlabel=r"$X_\ell\cdot k^\star$ (where to look)",
        ylabel=r"$X_\ell\cdot v^\star$ (what to read)", title="The tokens")
    weights.bar(numbers, weight, color=colours)
    weights.set(
        xlabel=r"token $\ell$", title=r"Weights $\mathrm{erf}(\lambda X_\ell\cdot k^\star)$")
    parts.bar(numbers, weight * answer, color=colours)
    parts.axhline(float(data.target), color=BLUE, linewidth=1, label="Y")
    parts.axhline(
        float(weight @ answer), color="black", linestyle=":", linewidth=1,
        label="sum: the prediction")
    parts.set(xlabel=r"token $\ell$", title="Weight times reading")
    parts.legend()
    return drawing


FIGURE_2 = figure(
    "single-location/2", "The layer at work",
    "One drawn sequence (d = 400, L = 10, lambda = 0.1) and the erf layer at the true directions."
    " Red: the informative token, which only the first direction tells from the others; several"
    " tokens have readings along the second, and only that of the red one is the answer.",
    "Figure 2", draws.one_sequence, {}, draw_layer)
