"""How long a step may be, and the starts that do not recover (ours, to Theorem 5)."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREEN, GREY, ORANGE, RED, THEORY
from saccade.studies.single_location import theory
from saccade.studies.single_location.experiments import step_sizes, steps
from saccade.studies.single_location.theory import Setting

SHOWN = {
    "recovery": (GREEN, "recovers"), "descent": (BLUE, "risk falls"),
    "half the gain": (ORANGE, "gains half"), "regular": (RED, "Jacobian regular")}


def draw_steps(runs: Mapping[str, Run]) -> Drawing:
    """Largest steps times the curvature at the origin against b, and the basins of one setting."""
    drawing, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.3), width_ratios=(1.4, 1))
    data = runs["steps"].data
    dim, lam, gamma = data.setting.values.T
    at = Setting(dim, 10.0, lam, gamma)
    b = lam * np.sqrt(dim / 2 / (1 + 2 * (lam * gamma) ** 2))
    unit = np.asarray(theory.largest_descending_step(at)) / 2
    for name, (colour, label) in SHOWN.items():
        left.plot(b, data.largest.sel(statement=name) / unit, "o", color=colour, label=label)
    proof = [theory.proof_step(Setting(d, 10, x, g)) for d, x, g in data.setting.values]
    left.plot(b, proof / unit, "v", color=GREY, label="the proof's constants")
    left.plot(b, np.asarray(theory.largest_recovering_step(at)) / unit, "_", color="black")
    left.axhline(2, **THEORY)
    left.set(
        xscale="log", yscale="log", xlabel=r"steepness $b$",
        ylabel="largest step / inverse curvature", title="How long a step may be")
    left.legend(loc="upper left", fontsize=7.5)
    basin = runs["set"].data.isel(case=0)
    right.pcolormesh(
        basin.kappa, basin.nu, basin.side.T, cmap=ListedColormap([BLUE, "white", ORANGE]),
        alpha=0.55, shading="nearest", rasterized=True)
    right.set(
        xlabel=r"$\kappa$ at the start", ylabel=r"$\nu$ at the start", title="Where starts go")
    right.text(0.55, 0.55, "(1, 1)", ha="center")
    right.text(-0.55, -0.55, "(-1, -1)", ha="center")
    right.set_aspect("equal")
    right.grid(False)
    return drawing


STEPS = Figure(
    id="single-location/steps", title="Small enough",
    caption="Left: the largest step for which each statement holds from everywhere on the manifold,"
    " at random settings, times the curvature at the origin; dashed and short lines: the closed"
    " forms. Right: the two basins at one setting; the starts that do not recover are the line"
    " between them.", source="ours, to Theorem 5 and Propositions 8, 12, 13",
    runs={"steps": (step_sizes.largest_steps, {}), "set": (steps.exceptional_set, {})},
    draw=draw_steps)
