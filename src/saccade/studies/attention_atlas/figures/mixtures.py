"""The two mixtures: from a fixed to a random place, from a place to a mark."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREEN, ORANGE, PURPLE, THEORY
from saccade.studies.attention_atlas.figures import Entries, entries, wanted
from saccade.studies.attention_atlas.theory import blind_to_places_regression

SHARES = (0, 25, 50, 75, 100)
LEARNERS = {"softmax": BLUE, "place": ORANGE, "content-place": GREEN, "flattened": PURPLE}
COUNT, LENGTH = 200, 8


def draw_mixtures(found: Entries) -> Any:
    """Excess error against the share that is random or marked."""
    drawing, grid = plt.subplots(1, 2, figsize=(7.4, 3.0), sharey=True)
    for axes, family in zip(grid, ("moving", "split"), strict=True):
        for learner, colour in LEARNERS.items():
            line = [found[f"{family}-{share}", learner, COUNT] for share in SHARES]
            axes.errorbar(
                np.array(SHARES) / 100, [one.excess for one in line], [one.width for one in line],
                color=colour, marker="o", markersize=3.5, capsize=2, label=learner)
        axes.set(ylim=(-0.05, 1.2))
    grid[0].set(
        title="the marked token moves", xlabel="share of samples with a random place",
        ylabel="excess error")
    grid[1].set(title="the signal is split", xlabel="share of y at the marked token")
    grid[1].plot([0], [blind_to_places_regression(LENGTH)], "k_", markersize=14, mew=1.5)
    grid[1].annotate(
        "1 - 1/(L - 1): no order seen", (0, blind_to_places_regression(LENGTH)), (0.12, 1.08),
        fontsize=7, arrowprops={"arrowstyle": "-", "lw": 0.6, "color": THEORY["color"]})
    grid[0].legend(loc="upper left", ncol=2)
    return drawing


MIXTURES = Figure(
    "attention-atlas/mixtures", "Between content and place",
    "Excess error from 200 samples on two mixtures that no paper has. Left: the marked token stands"
    " at a fixed place, but at a random one in a share of the samples. Right: y is read partly at a"
    " fixed, unmarked place and partly at a random, marked token.", "ours",
    wanted(
        [f"{family}-{share}" for family in ("moving", "split") for share in SHARES], LEARNERS,
        (COUNT,)),
    lambda runs: draw_mixtures(entries(runs)), seconds={"quick": 30})
