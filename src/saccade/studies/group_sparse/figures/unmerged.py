"""Figure of query and key matrices apart: the wait at the saddle, and what follows."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, CYCLE, GREY, ORANGE, THEORY
from saccade.studies.group_sparse.claims.unmerged import wait
from saccade.studies.group_sparse.experiments import maps, unmerged

TIMES = (30, 100, 300, 1000, 3000, 10_000, 20_000)
CASE = (6, 0.5)


def draw_unmerged(runs: Mapping[str, Run]) -> Drawing:
    """Steps to half of the attention against the first gap, and 1 - S along two descents."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.8, 3.1))
    escape = runs["escape"].data
    for number, (size, pace) in enumerate(
        zip(escape.groups.values, wait(runs["escape"]), strict=True)
    ):
        steps = escape.steps.sel(groups=size).values
        line = steps[-1] + pace * np.log(escape.gap.values[-1] / escape.gap.values)
        left.plot(escape.gap, steps, "o", color=CYCLE[number], label=f"D = {size}")
        left.plot(escape.gap, line, **THEORY)
    left.set(
        xscale="log", xlabel="gap A(0) at the start", ylabel="steps", ylim=(0, None),
        title="until half of the attention")
    left.legend(fontsize=7)
    late = [runs[f"late {time}"].data.gap.values[0, -1] for time in TIMES]
    rest = (CASE[0] - 1) * np.exp(-np.array(late))
    right.plot(TIMES, rest / (1 + rest), "o-", color=ORANGE, markersize=4, label="K and Q apart")
    merged = runs["merged"].data.isel(case=0)
    right.plot(merged.step, merged.one_minus_attention, color=BLUE, label="merged, from zero")
    right.axhline(1 - 1 / CASE[0], color=GREY, linestyle=":", linewidth=1, label="from K = Q = 0")
    right.set(xscale="log", yscale="log", xlabel="step", ylabel="1 − S", title="D = 6, η = 0.5")
    right.legend(fontsize=7)
    return figure


UNMERGED = Figure(
    "group-sparse/unmerged", "Query and key matrices apart",
    "Exact maps of the position-only layer. Left: from rank-one K and Q with a small gap descent"
    " waits at the saddle; dashed: the predicted steps for each unit of log A(0). Right: it then"
    " concentrates faster than the merged layer; from K = Q = 0 it never starts.",
    "ours; the paper merges the two",
    {
        "escape": (unmerged.escape_times, {}),
        "merged": (maps.position_descent, {"cases": (CASE,)}),
        **{
            f"late {t}": (unmerged.unmerged_late, {"cases": (CASE,), "steps": t, "scale": 1.0})
            for t in TIMES}},
    draw_unmerged, seconds={"quick": 5})
