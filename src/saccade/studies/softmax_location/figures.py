"""The figures: softmax and erf side by side from the same starts, at the truth against its rivals,
at capacity, under a schedule, and as tokens are added."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE, PURPLE, RED, THEORY
from saccade.studies.softmax_location import dynamics, theory
from saccade.studies.softmax_location.experiments import descent, oracle
from saccade.studies.softmax_location.theory import Setting

Runs = Mapping[str, Run]


def draw_fractions(runs: Runs) -> Drawing:
    """Fractions recovered (solid) and swapped (dashed) over lambda, with binomial errors."""
    data = runs["run"].data
    drawing, axes = plt.subplots(figsize=(5.0, 3.0))
    for kind, (name, colour) in enumerate((("softmax", BLUE), ("erf", ORANGE))):
        for fate, (word, style) in enumerate((("recovers", "o-"), ("swaps", "s--"))):
            share = (data.fate.values[kind] == fate).mean(axis=-1)
            error = np.sqrt(share * (1 - share) / data.fate.shape[-1])
            axes.errorbar(
                data.inverse_temperature, share, error, fmt=style, color=colour, markersize=4,
                capsize=2, label=f"{name} {word}")
    axes.set(
        xlabel=r"constant inverse temperature $\lambda$", ylabel="fraction of starts",
        ylim=(-0.04, 1.05))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return drawing


FRACTIONS = Figure(
    id="softmax-location/fractions", title="Softmax recovers where erf swaps",
    caption="Which way exact descent goes from the same uniform starts (d = 400, L = 10, gamma^2 ="
    " 1/2). Told by the way a run has gone after 12,000 steps; erf recovers up to the common sign"
    " of k and v. At 0.9, above its critical 0.892, runs of erf near the truth leave it later.",
    source="ours",
    runs={"run": (
        descent.fractions,
        {
            "inverse_temperatures": (0.05, 0.1, 0.2, 0.4, 0.6, 0.9), "steps": 12_000,
            "repetitions": 100})},
    draw=draw_fractions, scales={"standard": {"run": {"repetitions": 1000, "steps": 20_000}}},
    seconds={"quick": 15, "standard": 200})

RIVALS = (
    ("Bayes", GREEN, "-"), ("Bayes, two coordinates", GREEN, "--"), ("best score", GREY, "-"),
    ("softmax", BLUE, "o"), ("argmax", PURPLE, "-"), ("erf", ORANGE, "-"), ("linear", RED, "-"))


def _rivals(dim: float, length: float, softmax: float) -> list[float]:
    at = Setting(dim, length, 1.0)
    return [
        *(theory.bayes_risk(at, sees) for sees in ("all", "plane", "scores")), softmax,
        theory.argmax_risk(at), theory.best_erf(dim, length).risk, theory.linear_risk(at)]


def draw_rivals(runs: Runs) -> Drawing:
    """Least risks at the truth over L, one panel a dimension."""
    data = runs["run"].data
    drawing, panels = plt.subplots(1, data.sizes["dim"], figsize=(8.4, 3.0), sharey=True)
    for axes, dim in zip(panels, data.dim.values, strict=True):
        rows = np.array([
            _rivals(float(dim), float(n), float(data.risk.sel(dim=dim, length=n)))
            for n in data.length.values])
        for (name, colour, style), values in zip(RIVALS, rows.T, strict=True):
            axes.plot(
                data.length, values, style, color=colour, markersize=5, markerfacecolor="none",
                linewidth=1.2, label=name if dim == data.dim.values[-1] else None)
        axes.set(
            xscale="log", yscale="log", xlabel="tokens L", title=f"d = {dim:g}", ylim=(3e-9, 3))
    panels[0].set_ylabel("risk at the truth")
    panels[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return drawing


RIVAL_RISKS = Figure(
    id="softmax-location/rivals", title="At the truth, each at its best lambda",
    caption="Least risk over the number of tokens (gamma^2 = 1/2, no noise), by exact integrals;"
    " softmax and erf at their own best inverse temperature.", source="ours",
    runs={"run": (
        oracle.best_oracle,
        {
            "dims": (10.0, 40.0, 80.0),
            "lengths": (2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1e3, 1e4, 1e5, 1e6)})},
    draw=draw_rivals, seconds={"quick": 8})


def draw_capacity(runs: Runs) -> Drawing:
    """Risk over d at L = exp(r d), around the threshold of softmax and that of Bayes."""
    data = runs["run"].data
    drawing, (left, right) = plt.subplots(1, 2, figsize=(7.2, 2.9), sharey=True)
    capacity = float(theory.bayes_capacity(2**-0.5))
    for number, rate in enumerate(data.rate.values):
        left.plot(data.dim, data.best[number], "o-", color=CYCLE[number], label=f"r = {rate:g}")
        shifted = capacity + rate - 0.25
        risks = [
            theory.bayes_risk(Setting(float(d), float(np.exp(shifted * d)), 1.0))
            for d in data.dim.values]
        right.plot(data.dim, risks, "o-", color=CYCLE[number], label=f"r = {shifted:.3f}")
    for axes, title in ((left, "Softmax, threshold 1/4"), (right, "Bayes, threshold (log 2)/2")):
        axes.axhline(0.25, **THEORY)
        axes.set(xscale="log", xlabel="dimension d", title=title, ylim=(0, 0.5))
        axes.set_xticks(data.dim.values, [f"{d:g}" for d in data.dim.values])
        axes.minorticks_off()
        axes.legend()
    left.set_ylabel(r"risk at $L = e^{rd}$")
    return drawing


CAPACITY = Figure(
    id="softmax-location/capacity", title="How many tokens can be told apart",
    caption="Risk at the truth with L = exp(r d) tokens, at the threshold and 0.05 to either side,"
    " as d grows (gamma^2 = 1/2, softmax at its best lambda); dashed: gamma^2/2, the limit at the"
    " threshold.", source="ours",
    runs={"run": (oracle.capacity, {"dims": (20.0, 40.0, 80.0, 160.0, 320.0)})}, draw=draw_capacity,
    seconds={"quick": 8})

STOPS = (30, 100, 300, 1000, 3000, 10_000, 20_000, 30_000)  # eight: the program of the claims
SCHEDULED = descent.SCHEDULE | {"record": STOPS}
CONSTANT = descent.LARGE | {"record": STOPS}


def draw_schedule(runs: Runs) -> Drawing:
    """Median risk and the central 90 % over steps; with and without the schedule."""
    drawing, panels = plt.subplots(1, 2, figsize=(7.6, 2.9), sharey=True)
    for axes, kind in zip(panels, ("softmax", "erf"), strict=True):
        for name, colour in (("schedule", RED), ("constant", BLUE)):
            data = runs[f"{kind} {name}"].data
            low, middle, high = np.percentile(data.risk.values, [5, 50, 95], axis=0)
            axes.fill_between(data.step, low, high, color=colour, alpha=0.2, linewidth=0)
            label = r"$\lambda_t = 1/(1+10^{-4}t)$" if name == "schedule" else r"$\lambda = 0.9$"
            axes.plot(data.step, middle, color=colour, label=label)
        axes.set(xscale="log", yscale="log", xlabel="step", title=kind)
        axes.legend()
    panels[0].set_ylabel("risk")
    return drawing


SCHEDULE = Figure(
    id="softmax-location/schedule", title="A schedule helps erf and harms softmax",
    caption="Risk along exact descent from 32 uniform starts (d = 400, L = 10): the schedule of"
    " Figure 4a of Marion et al. (step size 4e-3), and a constant lambda = 0.9 (1e-3). Bands hold"
    " 90 % of the starts.", source="ours; Figures 4a and 7a of Marion et al.",
    runs={
        f"{kind} {name}": (descent.descent, dict(changes) | {"kind": kind})
        for kind in ("softmax", "erf")
        for name, changes in (("schedule", SCHEDULED), ("constant", CONSTANT))},
    draw=draw_schedule, seconds={"quick": 12})

LENGTHS = (10.0, 30.0, 100.0, 300.0)


def draw_more_tokens(runs: Runs) -> Drawing:
    """Swapped fraction over L, and the window in which the swapped state is stable."""
    drawing, (left, right) = plt.subplots(1, 2, figsize=(7.4, 2.9))
    marks: dict[str, Any] = {"capsize": 2, "markersize": 4}
    swapped = dynamics.FATES.index("swapped")
    for (name, run), colour in zip(runs.items(), (BLUE, ORANGE), strict=False):
        share = (run.data.fate.values == swapped).mean(axis=1)
        error = np.sqrt(share * (1 - share) / run.data.sizes["repetition"])
        lengths = run.data.setting.values[:, 1]
        left.errorbar(lengths, share, error, fmt="o-", color=colour, label=name, **marks)
        dim = float(run.data.setting.values[0, 0])
        ends = [theory.swapped_window(dim, float(n)) for n in lengths]
        low, high = (
            [end.inverse_temperature if end else np.nan for end in side]
            for side in zip(*ends, strict=True))
        right.fill_between(lengths, low, high, color=colour, alpha=0.15, linewidth=0)
        right.plot(lengths, low, color=colour, label=name)
        right.plot(lengths, high, color=colour)
    right.axhline(1.0, **THEORY)
    left.set(xscale="log", ylabel="fraction swapped", title="Swapped at lambda = 1")
    right.set(
        xscale="log", yscale="log", ylabel=r"inverse temperature $\lambda$", ylim=(0.09, 5),
        title="Where the swapped state is stable")
    right.set_yticks((0.1, 0.2, 0.5, 1, 2, 5), ("0.1", "0.2", "0.5", "1", "2", "5"))
    for axes in (left, right):
        axes.set_xticks(LENGTHS, [f"{n:g}" for n in LENGTHS])
        axes.minorticks_off()
        axes.set_xlabel("tokens L")
        axes.legend(loc="upper left")
    return drawing


MORE_TOKENS = Figure(
    id="softmax-location/more-tokens", title="With many tokens softmax swaps, too",
    caption="Left: fraction of uniform starts that end swapped at lambda = 1 (step size 1/d, 6000"
    " steps, more in proportion to L above 100). Right: inverse temperatures at which the tilted"
    " swapped state is a stable fixed point; dashed: lambda = 1.", source="ours",
    runs={
        f"d = {dim}": (descent.more_tokens, {"cases": tuple((dim, n) for n in LENGTHS)})
        for dim in (20, 100)},
    draw=draw_more_tokens, seconds={"quick": 30})
