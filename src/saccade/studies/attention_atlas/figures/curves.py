"""Learning curves of every task, from the cells of the map."""

from typing import Any

import matplotlib.pyplot as plt

from saccade.lab.figure import Figure
from saccade.lab.style import CYCLE, GREY
from saccade.studies.attention_atlas.figures import (
    LEARNERS,
    SAMPLES,
    TASKS,
    Entries,
    distinct,
    entries,
    wanted,
)

MARKS = ("o", "s", "^", "v", "D", "P", "X", "*", "h", "<", ">", "d")


def draw_curves(found: Entries) -> Any:
    """Excess error against samples, a panel a task."""
    tasks, learners, counts = (distinct(found, axis) for axis in range(3))
    columns = min(4, len(tasks))
    rows = -(-len(tasks) // columns)
    drawing, grid = plt.subplots(
        rows, columns, figsize=(2.3 * columns, 2.1 * rows + 0.5), sharex=True, sharey=True,
        squeeze=False)
    for task, axes in zip(tasks, grid.ravel(), strict=False):
        for number, learner in enumerate(learners):
            sizes = sorted(key[2] for key in found if key[:2] == (task, learner))
            if not sizes:
                continue
            line = [found[task, learner, size] for size in sizes]
            axes.errorbar(
                sizes, [one.excess for one in line], [one.width for one in line],
                marker=MARKS[number % len(MARKS)], markersize=3.5, linewidth=1, capsize=1.5,
                color=CYCLE[number % len(CYCLE)] if number < len(CYCLE) else GREY, label=learner)
        axes.axhline(1, color="0.6", linewidth=0.8, linestyle=":")
        axes.set(title=task, xscale="log", ylim=(-0.05, 1.45))
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
    for axes in grid.ravel()[len(tasks) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("excess error")
    for axes in grid[-1]:
        axes.set_xlabel("samples n")
    handles = {
        text: handle for axes in grid.ravel()
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    drawing.legend(handles.values(), handles.keys(), loc="outside lower center", ncol=8)
    return drawing


CURVES = Figure(
    "attention-atlas/curves", "From how many samples?",
    "Excess error against the number of samples, a panel a task; bars are 95 % intervals of the"
    " mean of 16 draws, the dotted line is nothing learned. Errors above 1.45 are cut off.", "ours",
    wanted(TASKS, LEARNERS, SAMPLES), lambda runs: draw_curves(entries(runs)),
    seconds={"quick": 100})
