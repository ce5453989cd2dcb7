"""The figures: the probe, risks against dimension, the field on the manifold, basins and outcomes
(1b, 3, 6 and ours), and descent from random starts (4, 5 and 7). Each draws one run."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Experiment, Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE, RED, THEORY
from saccade.studies.single_location import theory
from saccade.studies.single_location.experiments import closed_forms, descent, language
from saccade.studies.single_location.theory import Overlaps, Setting


def figure(
    id: str, title: str, caption: str, source: str, experiment: Experiment,
    changes: Mapping[str, Any], draw: Callable[[Run], Any],
    scales: Mapping[str, Mapping[str, Any]] | None = None, **fields: Any,
) -> Figure:
    """A figure that draws one run; `scales` holds what differs from `changes`."""
    return Figure(
        id=id, title=title, caption=caption, source=source, runs={"run": (experiment, changes)},
        draw=lambda runs: draw(runs["run"]),
        scales={scale: {"run": more} for scale, more in (scales or {}).items()}, **fields)


SETS = {
    "train": "train", "test": "test", "ood_tokens": "unseen words",
    "ood_structure": "new structure", "ood_both": "both"}


def draw_probe(run: Run) -> Drawing:
    """Bars of mean accuracy beside accuracy layer by layer."""
    accuracy = run.data.accuracy
    drawing, (bars, layers) = plt.subplots(1, 2, figsize=(8.5, 2.9), width_ratios=(1, 1.4))
    names = list(SETS)
    heights = [float(accuracy.sel(set="train")[0])] + [
        float(accuracy.sel(set=name)[1:].mean()) for name in names]
    bars.bar(range(6), heights, color=[BLUE, ORANGE, *[GREEN] * 4], width=0.7)
    for place, height in enumerate(heights):
        bars.text(place, height + 0.01, f"{height:.0%}", ha="center", fontsize=7.5)
    bars.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    bars.set_xticks(range(6), ["layer 0", *SETS.values()], rotation=35, ha="right")
    bars.set(ylim=(0.4, 1.06), ylabel="accuracy", title="Mean over layers 1 and up")
    for name, colour in zip(names, CYCLE, strict=False):
        layers.plot(
            accuracy.layer, accuracy.sel(set=name), "o-", markersize=3.5, color=colour,
            label=SETS[name])
    layers.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    layers.set(xlabel="layer", ylabel="accuracy", title="Layer by layer", ylim=(0.4, 1.06))
    layers.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return drawing


FIGURE_1B = figure(
    "single-location/1b", "What [CLS] knows",
    "Accuracy of a logistic probe (standardised features) of the [CLS] state of MiniLM-L6,"
    " trained to tell the sentiment of the one adjective that decides.", "Figure 1b",
    language.cls_probe, {}, draw_probe, seconds={"quick": 15, "standard": 60, "paper": 200},
    requires="nlp:safetensors,tokenizers")


def draw_risks(run: Run) -> Drawing:
    """Oracle (solid: formula; dots: quadrature) against the best linear predictor (dashed)."""
    drawing, axes = plt.subplots(figsize=(4.6, 3.2))
    dense = np.geomspace(10, 1500, 200)
    for number, length in enumerate(run.parameters.lengths):
        setting = Setting(
            dense, length, dense**-run.parameters.temperature_exponent, run.parameters.gamma)
        axes.plot(dense, theory.oracle_risk(setting), color=CYCLE[number], label=f"L = {length:g}")
        axes.plot(run.data.dim, run.data.risk[:, number], ".", color=CYCLE[number], markersize=5)
        flat = theory.linear_risk(np.full(int(length), 1 / length), run.parameters.gamma, 0.0)
        axes.axhline(float(flat), color=CYCLE[number], linestyle="--", linewidth=1)
    axes.set(
        xscale="log", yscale="log", xlabel="dimension d", ylabel="risk",
        title="Oracle (solid) and best linear (dashed)")
    axes.legend(ncols=3)
    return drawing


FIGURE_3 = figure(
    "single-location/3", "The oracle overtakes the linear predictor",
    "Risk at lambda = d^-0.4, no noise, uniform locations. Lines: closed forms; dots:"
    " quadrature of the definition. At L = 100 the crossing lies just beyond d = 1000.", "Figure 3",
    closed_forms.oracle_quadrature,
    {"dims": (10.0, 30.0, 100.0, 300.0, 1000.0), "lengths": (2.0, 5.0, 10.0, 100.0)}, draw_risks)

POINTS = (
    ((1, 1), "minimum", GREEN), ((-1, -1), None, GREEN), ((1, -1), "maximum", RED),
    ((-1, 1), None, RED), ((0, 0), "saddle", BLUE))


def draw_field(run: Run) -> Drawing:
    """Fixed points over the risk's level lines, and the descent field coloured by its size."""
    data = run.data
    kappa, nu = data.kappa.values, data.nu.values
    drawing, (left, right) = plt.subplots(1, 2, figsize=(8, 3.5))
    shades = left.contourf(kappa, nu, data.risk.values.T, 24, cmap="Greys")
    drawing.colorbar(shades, ax=left, label="risk")
    field = -np.stack(
        [data.d_kappa.values * (1 - kappa[:, None] ** 2), data.d_nu.values * (1 - nu[None, :] ** 2)]
    )
    size = np.hypot(*field)
    colours = right.pcolormesh(
        kappa, nu, size.T, cmap="viridis", shading="nearest", rasterized=True)
    drawing.colorbar(colours, ax=right, label="size of the field")
    thin = slice(None, None, max(1, len(kappa) // 20))
    unit = field / np.maximum(size, 1e-12)
    right.quiver(
        kappa[thin], nu[thin], unit[0].T[thin, thin], unit[1].T[thin, thin], color="white",
        scale=30, width=0.003)
    for axes, title in ((left, "Fixed points"), (right, "Descent field")):
        for (x, y), label, colour in POINTS:
            axes.plot(
                x, y, "o", color=colour, markeredgecolor="white", markersize=7, label=label,
                clip_on=False, zorder=5)
        axes.set(
            xlabel=r"$\kappa$", ylabel=r"$\nu$", title=title, xlim=(-1.02, 1.02), ylim=(-1.02, 1.02)
        )
        axes.grid(False)
        axes.set_aspect("equal")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
    return drawing


FIGURE_6 = figure(
    "single-location/6", "Descent on the manifold",
    "Risk and descent field over (kappa, nu) at d = 400, L = 10, lambda = 0.1, by quadrature of"
    " the definition.", "Figure 6", closed_forms.manifold_landscape, {}, draw_field)

FATES = {
    "recovers, on the manifold": GREEN, "swapped": ORANGE, "off-manifold attractor": RED,
    "undecided": GREY}


def draw_outcomes(run: Run) -> Drawing:
    """Fractions of outcomes against the constant inverse temperature, with the critical value."""
    codes, temperatures = run.data.fate.values, run.data.inverse_temperature.values
    drawing, axes = plt.subplots(figsize=(6.2, 3.2))
    for code, (name, colour) in enumerate(FATES.items()):
        share = (codes == code).mean(1)
        error = np.sqrt(share * (1 - share) / codes.shape[1])
        if share.any():
            axes.errorbar(
                temperatures, share, error, fmt="o-", color=colour, markersize=4, capsize=2,
                label=name)
    critical = theory.critical_inverse_temperature(
        run.parameters.dim, run.parameters.length, run.parameters.gamma)
    axes.axvline(critical, color="black", linestyle="--", linewidth=1)
    axes.text(critical, 1.06, rf"$\lambda_c$ = {critical:.3f}", ha="center", fontsize=8)
    axes.set(
        xlabel=r"constant inverse temperature $\lambda$", ylabel="fraction of runs",
        ylim=(-0.03, 1.04), title="")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return drawing


OUTCOME_GRID = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.87, 0.91, 0.95, 1.0, 1.2)
OUTCOMES = figure(
    "single-location/outcomes", "Where a constant inverse temperature leads",
    "Fractions of uniform starts that recover, swap, or reach the off-manifold attractor, with"
    " binomial standard errors; the dashed line is the critical inverse temperature. d = 400, L"
    " = 10.", "ours", descent.outcomes,
    {"inverse_temperatures": OUTCOME_GRID, "step_size": 2e-3, "steps": 150_000, "repetitions": 40},
    draw_outcomes, scales={"standard": {"repetitions": 200}, "paper": {"repetitions": 1000}},
    seconds={"quick": 20, "standard": 60, "paper": 900})


def draw_basins(run: Run) -> Drawing:
    """Starts in the plane of their two unstable modes, coloured by outcome, by temperature."""
    start = Overlaps(*(run.data[f"first_{name}"].values for name in Overlaps._fields))
    drawing, panels = plt.subplots(
        1, len(run.data.inverse_temperature),
        figsize=(2.8 * len(run.data.inverse_temperature), 3.1), sharey=True)
    colours = np.array([GREEN, ORANGE, GREY, GREY])
    for number, (axes, temperature) in enumerate(
        zip(panels, run.data.inverse_temperature.values, strict=True)
    ):
        setting = Setting(
            run.parameters.dim, run.parameters.length, temperature, run.parameters.gamma)
        on, across = (np.abs(np.asarray(part)) for part in theory.mode_projections(start, setting))
        axes.scatter(on, across, s=9, c=colours[run.data.fate.values[number]], linewidths=0)
        edge = 1.05 * max(on.max(), across.max())
        axes.plot([0, edge], [0, edge], color=GREY, linewidth=0.8, linestyle=":")
        axes.set(
            xlabel=r"$(\kappa, \nu)$ mode", title=rf"$\lambda$ = {temperature:g}", xlim=(0, edge),
            ylim=(0, edge))
    panels[0].set_ylabel(r"$(\theta, \eta)$ mode")
    handles = [
        plt.Line2D([], [], marker="o", linestyle="", color=colour, markersize=5, label=name)
        for name, colour in zip(
            ("recovers, on the manifold", "swapped", "not told yet"), colours, strict=False)]
    drawing.legend(handles=handles, loc="outside lower center", ncols=3)
    return drawing


BASINS = figure(
    "single-location/basins", "Basins of attraction",
    "Random starts by the size of their projections on the two unstable modes of the origin,"
    " coloured by the way descent goes. Below the diagonal the recovering mode starts ahead. d"
    " = 400, L = 10.", "ours", descent.outcomes,
    {"inverse_temperatures": (0.1, 0.4, 0.8), "step_size": 2e-3, "repetitions": 300}, draw_basins,
    scales={"standard": {"repetitions": 1000}, "paper": {"repetitions": 2000}},
    seconds={"quick": 8, "standard": 25, "paper": 50})


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
    "Fresh batches of 5, d = 80, L = 10, noise 0.1, simulated in law with five overlaps. Paper"
    " scale: lambda_t = 2/(1 + 1e-4 t), step size 1e-3, 200000 steps. Quick scale: 2/(1 + 1e-3 t),"
    " 2e-3, 20000 steps, where about one run in seven swaps.", "Figure 5",
    descent.stochastic_descent, descent.STOCHASTIC, four_panels,
    scales={"paper": descent.STOCHASTIC_PAPER}, seconds={"quick": 8, "paper": 90})
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
