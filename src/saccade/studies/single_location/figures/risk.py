"""The probe, risks against dimension, the field on the manifold, basins and outcomes (1b, 3, 6 and
ours)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE, RED
from saccade.studies.single_location import theory
from saccade.studies.single_location.experiments import closed_forms, descent, language
from saccade.studies.single_location.figures import figure
from saccade.studies.single_location.theory import Overlaps, Setting

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
    {"inverse_temperatures": OUTCOME_GRID, "step_size": 2e-3, "steps": 150_000, "repetitions": 24},
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
