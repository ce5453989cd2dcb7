"""The atlas as one picture: tasks by learners, a square in three strips for three sample sizes."""

import textwrap
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Patch, Rectangle

from saccade.lab.charting import FAILS
from saccade.lab.figure import Figure
from saccade.studies.attention_atlas.experiments import find_learner, find_task
from saccade.studies.attention_atlas.figures import (
    LEARNERS,
    SAMPLES,
    TASKS,
    Entries,
    distinct,
    entries,
    wanted,
)

MAP = LinearSegmentedColormap.from_list("excess", ("#00573f", "#7fc8a9", "#f4f1e4", "#c98b5b"))
MOST = 1.2
GAP = 0.04


def draw_map(found: Entries) -> Any:
    """Colour is the excess error; a cross where attention is not where the truth lies."""
    tasks, learners, samples = (distinct(found, axis) for axis in range(3))
    samples = sorted(samples)
    drawing, axes = plt.subplots(
        figsize=(max(6.5, 2.9 + 0.9 * len(learners)), max(3.4, 1.7 + 0.52 * len(tasks))))
    for (task, learner, count), one in found.items():
        wide = (1 - 2 * GAP) / len(samples)
        x = learners.index(learner) + GAP + wide * samples.index(count)
        y = tasks.index(task) + GAP
        shade = MAP(min(max(one.excess, 0), MOST) / MOST) if np.isfinite(one.excess) else "white"
        axes.add_patch(Rectangle((x, y), wide, 1 - 2 * GAP, facecolor=shade, linewidth=0))
        if one.word:
            axes.text(
                x + wide / 2, y + 0.5, one.word, ha="center", va="center", fontsize=6, rotation=90)
        elif np.isfinite(one.auroc) and one.auroc < FAILS:
            axes.plot(x + wide / 2, y + 0.46, "x", color="black", markersize=3.5, mew=0.9)
    _blank(axes, found, tasks, learners)
    axes.set(xlim=(0, len(learners)), ylim=(len(tasks), 0))
    _names(axes, tasks, learners)
    axes.grid(False)
    axes.spines[["left", "bottom"]].set_visible(False)
    _legend(drawing, axes, samples)
    return drawing


def _blank(axes: Any, found: Entries, tasks: list[str], learners: list[str]) -> None:
    """A learner that cannot take the task's targets, or bags that differ in length."""
    met = {(task, learner) for task, learner, _ in found}
    for row, task in enumerate(tasks):
        why = "one length only" if find_task(task).ragged else "labels only"
        for column, learner in enumerate(learners):
            if (task, learner) not in met:
                axes.text(
                    column + 0.5, row + 0.5, why, ha="center", va="center", color="0.45", fontsize=6
                )


def _names(axes: Any, tasks: list[str], learners: list[str]) -> None:
    """What each row and column is called, and what that is, in small letters."""
    axes.set_xticks(np.arange(len(learners)) + 0.5, learners, fontsize=8.5)
    axes.set_yticks(np.arange(len(tasks)) + 0.32, tasks, fontsize=8.5)
    axes.tick_params(length=0)
    small = {"fontsize": 6.5, "color": "0.35", "annotation_clip": False}
    for column, learner in enumerate(learners):
        says = _lines(find_learner(learner).says, 17)
        axes.annotate(
            says, (column + 0.5, 0), (0, -16), ("data", "axes fraction"), "offset points",
            ha="center", va="top", **small)
    for row, task in enumerate(tasks):
        says = _lines(find_task(task).says, 40)
        axes.annotate(
            says, (0, row + 0.52), (-3.5, 0), textcoords="offset points", ha="right", va="top",
            **small)


def _lines(says: str, widest: int) -> str:
    """As few lines as can be, of about the same length."""
    count = len(textwrap.wrap(says, widest, break_on_hyphens=False))
    widths = range(len(says) // count, widest + 1)
    return next(
        text for width in widths
        if (text := textwrap.fill(says, width, break_on_hyphens=False)).count("\n") < count)


def _legend(drawing: Any, axes: Any, samples: list[int]) -> None:
    scale = plt.cm.ScalarMappable(plt.Normalize(0, MOST), MAP)
    bar = drawing.colorbar(scale, ax=axes, shrink=0.7, pad=0.02, extend="max")
    bar.set_label("excess error: 0 best, 1 nothing learned")
    strips = ", ".join(map(str, samples))
    handles = [
        Patch(
            facecolor="none", edgecolor="none", label=f"strips, left to right: n = {strips} samples"
        ),
        plt.Line2D(
            [], [], marker="x", color="black", linestyle="", markersize=4,
            label=f"looks elsewhere (AUROC below {FAILS:g})")]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncol=2)


WHOLE = Figure(
    "attention-atlas/map", "Which attention solves which sparsity",
    "When does attention learn where to look? When it sees what tells the token apart: its content"
    " if a mark moves, its place if that is fixed. A layer that sees both finds either, from more"
    " samples; one that sees the wrong thing looks elsewhere however many it gets. Excess error of"
    " every learner (columns) on every task (rows) from 50, 200 and 800 samples of eight tokens in"
    " eight dimensions, mean of 16 draws: 0 is the best predictor that knows the task, 1 is nothing"
    " learned. A cross: attention does not lie where the truth is.", "ours",
    wanted(TASKS, LEARNERS, SAMPLES), lambda runs: draw_map(entries(runs)), seconds={"quick": 100})
