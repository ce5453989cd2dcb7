"""Figures on what is possible: oracle errors, capacities, who wins with infinitely many samples."""

from collections.abc import Callable, Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, CYCLE, GREY, ORANGE
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.experiments import limits, oracle
from saccade.studies.sparse_token.figures.common import BESIDE, COLOURS
from saccade.studies.sparse_token.task import SparseTokenSetting
from saccade.studies.sparse_token.theory.square import population_least_squares


def _settings(length: int, signals: np.ndarray) -> list[SparseTokenSetting]:
    return [SparseTokenSetting(length, 1, 0.5, float(signal)) for signal in signals]


def _errors(formula: Callable, length: int, signals: np.ndarray) -> list[float]:
    return [formula(setting).error for setting in _settings(length, signals)]


def draw_oracle(runs: Mapping[str, Run]) -> Drawing:
    """Hard attention's best error against theta with log L and sqrt(2 log L) marked; pooling's."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.4), width_ratios=(1.5, 1))
    signals = np.linspace(0, 16, 65)
    for number, length in enumerate(10**power for power in range(1, 7)):
        colour = CYCLE[number]
        errors = _errors(theory.hardmax_oracle_error, length, signals)
        left.plot(signals, errors, color=colour, label=f"$10^{number + 1}$")
        marks = np.array([np.sqrt(2 * np.log(length)), np.log(length)])
        marked = _errors(theory.hardmax_oracle_error, length, marks)
        for signal, error, marker in zip(marks, marked, "oD", strict=True):
            left.plot(signal, error, marker, color=colour, markersize=5, clip_on=False)
    for length in (10, 100):
        pooled = _errors(theory.pooled_oracle_error, length, signals)
        left.plot(signals, pooled, color=GREY, linestyle=":", label=f"pooled, {length}")
    left.set(
        yscale="log", ylim=(1e-9, 0.6), xlabel=r"signal $\theta$", ylabel="smallest error",
        title=r"Hard attention: $\sqrt{2\log L}$ (discs), $\log L$ (diamonds)")
    left.legend(title="L", ncols=2, fontsize=7, loc="lower left")
    for (name, run), colour in zip(runs.items(), (BLUE, ORANGE), strict=True):
        right.plot(run.data.length, run.data.error, "o-", color=colour, markersize=4, label=name)
    right.axhline(0.5 * 0.0013499, color=BLUE, linestyle=":", linewidth=1)
    right.set(
        xscale="log", yscale="log", xlabel="length L", ylabel="smallest error",
        title="Along two laws of the signal")
    right.legend(loc="lower left")
    return figure


ORACLE = Figure(
    "sparse-token/oracle", "How strong must the signal be?",
    "Left: smallest error of hard attention (R = 1, pi = 1/2) for L = 10 to 10^6, and of pooling"
    " (dotted). Right: at theta = log L the error vanishes quickly, at theta = sqrt(2 log L) + 3"
    " slowly towards Phi(-3)/2 (dotted).", "Theorem 2 and ours",
    runs={
        r"$\sqrt{2\log L} + 3$": (oracle.hardmax_grid, {"growth": "root-log", "offset": 3.0}),
        r"$\log L$": (oracle.hardmax_grid, {})},
    draw=draw_oracle, seconds={"quick": 5})

CURVES = (
    ("vectorised", (), "-", "vectorised"), ("pooled", (), "-", "pooled"),
    *(
        ("attention", (cosine, 1.0), style, f"attention, cos = {cosine:g}")
        for cosine, style in ((1.0, "-"), (0.8, "--"), (0.3, ":"))))


def draw_capacity(runs: Mapping[str, Run]) -> Drawing:
    """Capacity against the signal, with measured medians."""
    figure, axes = plt.subplots(figsize=(5.8, 3.6))
    signals = np.linspace(0, 6, 19)
    for model, query, style, label in CURVES:
        answers = [theory.capacity(setting, model, *query) for setting in _settings(10, signals)]
        values = [answer.samples_per_dim for answer in answers]
        axes.plot(signals, values, style, color=COLOURS[model], label=label)
    for run in runs.values():
        p = run.parameters
        low, middle, high = np.quantile(run.data.samples_per_dim.values, [0.25, 0.5, 0.75])
        axes.errorbar(
            p.signal, middle, [[middle - low], [high - middle]], fmt="o", color=COLOURS[p.model],
            markersize=4, capsize=2)
    axes.set(
        yscale="log", xlabel=r"signal $\theta$", ylabel="separable samples per dimension",
        title="Capacity (L = 10, R = 1, k = 1)")
    axes.legend(**BESIDE)
    return figure


CAPACITY = Figure(
    "sparse-token/capacity", "How many samples can be separated",
    "Largest n/d at which a hyperplane in feature space separates the samples. Lines: theory;"
    " points: median and quartiles of nested samples tried for a hyperplane (d = 32, 32"
    " trials).", "Conjecture 1",
    runs={
        f"{model} {signal:g}": (
            limits.separability,
            {"model": model, "signal": signal, "most_per_dim": most, "dim": 32, "trials": 32})
        for model, signal, most in (
            ("attention", 2.0, 6.0), ("attention", 3.0, 7.0), ("pooled", 3.0, 4.5),
            ("pooled", 5.0, 6.0))},
    draw=draw_capacity, seconds={"quick": 20})


def draw_phase(runs: Mapping[str, Run]) -> Drawing:
    """Who wins at infinitely many samples over (signal, alignment), with the sampled crossing."""
    run = runs["run"]
    figure, axes = plt.subplots(figsize=(5.2, 3.8))
    signals, alignments = np.linspace(1, 7, 25), np.linspace(0, 1, 21)
    ratio = np.empty((len(alignments), len(signals)))
    for column, signal in enumerate(signals):
        setting = SparseTokenSetting.of(run.parameters, signal=float(signal))
        pooled = theory.large_sample_rate(setting, "pooled").limit
        for row, alignment in enumerate(alignments):
            law = theory.feature_law(
                setting, "attention", float(alignment), run.parameters.sharpness, 10)
            attended = theory.error_rate(law, population_least_squares(law))
            ratio[row, column] = attended / pooled
    shades = axes.contourf(
        signals, alignments, np.log10(ratio), np.linspace(-2, 2, 17), cmap="RdBu_r", extend="both")
    axes.contour(signals, alignments, ratio, [1.0], colors="black", linewidths=1.4)
    figure.colorbar(shades, ax=axes, label="log10 of attention's error over pooling's")
    gaps = run.data.error.values - run.data.pooled.values[:, None]
    crossing = [np.interp(0.0, -row, run.data.alignment.values) for row in gaps]
    axes.plot(run.parameters.signal, np.mean(crossing), "o", color="black", markersize=6)
    axes.set(
        xlabel=r"signal $\theta$", ylabel="alignment of the query",
        title=f"Attention wins above the line (k = {run.parameters.sharpness:g})")
    axes.grid(False)
    return figure


PHASE = Figure(
    "sparse-token/phase", "Who wins with infinitely many samples",
    "Limiting error of least squares with attention of sharpness 2 over that of pooling (L = 10, R"
    " = 1, pi = 1/2). Blue: attention wins; red: pooling wins; the point is the crossing measured"
    " on sampled tokens.", "ours", runs={"run": (limits.population_limit, {})}, draw=draw_phase,
    seconds={"quick": 8})
