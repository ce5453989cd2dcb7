"""Beside and beyond the paper's task: sequences of Corollary 2, the Bayes risk, several informative
tokens, and directions that lean (ours)."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE, RED, THEORY
from saccade.studies.single_location import theory
from saccade.studies.single_location.claims.beyond import LEAN, SEVERAL
from saccade.studies.single_location.experiments import beyond, rivals, sequences
from saccade.studies.single_location.theory import Setting


def _sequences(axes: Axes, straight: Run, leaning: Run) -> None:
    """Excess risks over d; thin lines have the predicted exponents."""
    for run, style, factor in ((straight, "o", 1), (leaning, "s", 2)):
        dims = run.data.dim.values
        for number, (a, b) in enumerate(run.parameters.sequences):
            excess = run.data.excess.values[number]
            exponent = factor * a - 2 * b
            line = excess[-1] * (dims / dims[-1]) ** exponent
            axes.plot(
                dims, excess, style, color=CYCLE[number], markersize=4,
                fillstyle="full" if factor == 1 else "none")
            axes.plot(dims, line, color=CYCLE[number], linewidth=0.8)
            axes.text(
                1.6 * dims[-1], excess[-1], f"{exponent:+.1f}", color=CYCLE[number], fontsize=7,
                va="center")
    axes.plot([], [], "o", color=GREY, label="k*.v* = 0")
    axes.plot([], [], "s", color=GREY, fillstyle="none", label="k*.v* = 0.3")
    axes.set(xscale="log", yscale="log", xlabel="dimension d", title="Excess risk of the oracle")
    axes.legend()


def _bayes(axes: Axes, run: Run) -> None:
    """What is missed of gamma^2 against d: by Bayes, by the erf layer at its best lambda, by the
    best linear predictor."""
    p, missed = run.parameters, run.data.missed.mean("replicate").values / run.parameters.gamma**2
    linear = theory.linear_risk(np.full(p.length, 1 / p.length), p.gamma, 0.0) / p.gamma**2
    axes.plot(run.data.dim, missed[:, 1:].min(1), "o-", color=BLUE, label="erf, best λ")
    axes.plot(run.data.dim, missed[:, 0], "o-", color=GREEN, label="Bayes")
    axes.axhline(float(linear), label="best linear", **THEORY)
    axes.set(
        xscale="log", yscale="log", xlabel="dimension d", title="Missed of the answer's variance")
    axes.set_xticks(run.data.dim.values, [f"{one:g}" for one in run.data.dim.values])
    axes.xaxis.minorticks_off()
    axes.legend()


def _several(axes: Axes, run: Run) -> None:
    """|kappa| at the end of the runs that did not swap, beside its formula."""
    p = run.parameters
    at = Setting(p.dim, p.length, p.inverse_temperature, p.gamma)
    for count, kappa, nu in zip(p.counts, run.data.kappa.values, run.data.nu.values, strict=True):
        found = np.abs(kappa[np.abs(nu) > 0.5])
        axes.plot(np.full(len(found), count), found, "o", color=ORANGE, alpha=0.3)
        axes.plot(count, theory.shared_kappa(at, count), "_", color="black", markersize=22)
    axes.set(
        xticks=list(p.counts), ylim=(0, 1), xlabel="informative tokens m",
        title=r"Trained: where $|\kappa|$ stops")


def _leaning(axes: Axes, run: Run) -> None:
    """Shares of runs that find both directions, and the risk at the end over that at the truth."""
    p, data = run.parameters, run.data
    at = Setting(p.dim, p.length, p.inverse_temperature, p.gamma)
    found = (np.abs(data.kappa.values) > 0.8) & (np.abs(data.nu.values) > 0.9)
    truth = np.array([float(theory.leaning_oracle_risk(at, c)) for c in p.leans])
    axes.plot(p.leans, found.mean(1), "o-", color=GREEN, label="runs that find both")
    axes.plot(
        p.leans, data.risk.mean("repetition") / truth, "o-", color=RED, label="risk / truth's")
    axes.set(ylim=(0, 1.25), xlabel="k*.v*", title="Directions that lean")
    axes.legend()


def draw_beyond(runs: Mapping[str, Run]) -> Drawing:
    """Four panels, one for each question."""
    drawing, panels = plt.subplots(2, 2, figsize=(8.4, 6))
    _sequences(panels[0, 0], runs["straight"], runs["leaning"])
    _bayes(panels[0, 1], runs["bayes"])
    _several(panels[1, 0], runs["several"])
    _leaning(panels[1, 1], runs["lean"])
    return drawing


LEANS = (0.0, 0.1, 0.2, 0.35, 0.5)
BEYOND = Figure(
    id="single-location/beyond", title="Beside and beyond the task",
    caption="Top left: excess risk at the truth along L = 5 d^a, lambda = d^-b; lines have the"
    " predicted exponents (numbers), a - 2b, and 2a - 2b where the true directions lean. Top right:"
    " the Bayes predictor beside the layer at the truth, six tokens, by samples. Bottom: exact"
    " descent from random starts with several informative tokens (bars: the closed form) and with"
    " true directions that lean.",
    source="ours, to Corollary 2, eq. (8), Assumption 1 and Section 7",
    runs={
        "straight": (sequences.oracle_sequences, {}), "leaning": (sequences.oracle_sequences, LEAN),
        "bayes": (rivals.bayes_risk, {"dims": (6, 12, 24)}),
        "several": (beyond.beyond_descent, SEVERAL),
        "lean": (beyond.beyond_descent, {"leans": LEANS, "counts": (1,) * len(LEANS)})},
    draw=draw_beyond, seconds={"quick": 6})
