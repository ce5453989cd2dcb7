"""Descent from random starts (4, 5 and 7)."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.style import BLUE, CYCLE, GREY, ORANGE, THEORY
from saccade.studies.single_location import theory
from saccade.studies.single_location.experiments import descent
from saccade.studies.single_location.figures import figure
from saccade.studies.single_location.theory import Setting


def _band(axes: Axes, steps: np.ndarray, values: np.ndarray, colour: str, label: str) -> None:
    """Median and the central 95 % of repetitions."""
    low, middle, high = np.percentile(values, [2.5, 50, 97.5], axis=0)
    axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(steps, middle, color=colour, label=label)


def _all(axes: Axes, steps: np.ndarray, values: np.ndarray, colour: str, label: str) -> None:
    """Every repetition: for mixtures of outcomes, which a band would hide."""
    axes.plot(steps, values.T, color=colour, alpha=0.35, linewidth=0.7)
    axes.plot([], [], color=colour, label=label)


def oracle_along(run: Run) -> np.ndarray:
    """Excess risk of the oracle at the temperature of each recorded step: the floor of the risk."""
    p = run.parameters
    cooled = p.inverse_temperature / (1 + p.decay * (run.data.step.values - 1))
    return np.asarray(theory.oracle_risk(Setting(p.dim, p.length, cooled, p.gamma, 0.0)))


def _trajectories(axes: Axes, run: Run, shown: int = 6) -> None:
    for number in range(min(shown, run.data.sizes["repetition"])):
        colour = CYCLE[number % len(CYCLE)]
        path = [
            np.r_[run.data[f"first_{name}"].values[number], run.data[name].values[number]]
            for name in ("kappa", "nu")]
        axes.plot(*path, color=colour, linewidth=0.9)
        axes.plot(path[0][-1], path[1][-1], "o", color=colour, markersize=4)
    axes.set(
        xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), xlabel=r"$\kappa = k\cdot k^\star$",
        ylabel=r"$\nu = v\cdot v^\star$", title="Trajectories")
    axes.set_aspect("equal")


def four_panels(run: Run, each: bool = False) -> Drawing:
    """Risk, alignment, trajectories, distance: the layout of the paper's figures."""
    drawing, (risk, alignment, path, distance) = plt.subplots(1, 4, figsize=(11, 2.6))
    draw, steps, data = _all if each else _band, run.data.step.values, run.data
    draw(risk, steps, data.risk.values - run.parameters.noise**2, BLUE, "descent")
    risk.plot(steps, oracle_along(run), label="oracle at this λ", **THEORY)
    risk.set(ylabel="excess risk", title="Excess risk")
    if data.risk.values.max() > 10 * data.risk.values.min():
        risk.set_yscale("log")
    draw(alignment, steps, np.abs(data.nu.values), ORANGE, r"$|\nu|$")
    draw(alignment, steps, np.abs(data.kappa.values), BLUE, r"$|\kappa|$")
    alignment.set(ylabel="alignment", title="Alignment with the truth", ylim=(-0.02, 1.04))
    _trajectories(path, run)
    away = np.sqrt(sum(data[name].values ** 2 for name in ("theta", "eta", "rho")))
    draw(distance, steps, away, GREY, "distance")
    distance.set(
        ylabel=r"distance to $\mathcal{M}$", title="Distance to the manifold",
        ylim=(-0.03, max(0.5, 1.05 * away.max())))
    for axes in (risk, alignment, distance):
        axes.set_xlabel("step")
        axes.ticklabel_format(axis="x", style="sci", scilimits=(0, 4), useMathText=True)
    risk.legend()
    alignment.legend()
    return drawing


SETTING = "d = 400, L = 10, gamma^2 = 1/2, 30 repetitions; bands hold the central 95 %."

FIGURE_4A = figure(
    "single-location/4a", "Recovery from the sphere with a schedule",
    "Projected gradient descent from uniform starts with lambda_t = 1/(1 + 1e-4 t), step size"
    f" 4e-3. {SETTING} About one start in 25 ends swapped instead.", "Figure 4a", descent.descent,
    descent.SCHEDULE, four_panels, seconds={"quick": 5, "paper": 5})
FIGURE_4B = figure(
    "single-location/4b", "Recovery on the manifold",
    f"Starts on the invariant manifold, constant lambda = 0.1, step size 4e-3. {SETTING}",
    "Figure 4b", descent.descent, descent.ON_MANIFOLD, four_panels)
FIGURE_5 = figure(
    "single-location/5", "Stochastic descent",
    "Fresh batches of 5, d = 80, L = 10, noise 0.1, simulated in law with five overlaps. Standard"
    " and paper scale: lambda_t = 2/(1 + 1e-4 t), step size 1e-3, 200000 steps, 30 repetitions, as"
    " published. Quick scale: 2/(1 + 2e-3 t), 4e-3, 10000 steps, where about three runs in ten"
    " swap.", "Figure 5", descent.stochastic_descent, descent.STOCHASTIC, four_panels,
    scales={"standard": descent.STOCHASTIC_PAPER, "paper": descent.STOCHASTIC_PAPER},
    seconds={"quick": 8, "standard": 170, "paper": 170})
FIGURE_7A = figure(
    "single-location/7a", "Constant large inverse temperature",
    "lambda = 0.9, just above the critical 0.892: descent settles off the manifold, below the"
    f" oracle's risk. Step size 1e-3. {SETTING}", "Figure 7a", descent.descent, descent.LARGE,
    four_panels, seconds={"quick": 5, "paper": 5})
FIGURE_7B = figure(
    "single-location/7b", "Constant small inverse temperature",
    "lambda = 0.1: about half of the runs recover; the others end with swapped roles, k = v*, which"
    " shows as (kappa, nu) = (0, 0). Every repetition is drawn.", "Figure 7b", descent.descent,
    descent.SMALL, partial(four_panels, each=True))
