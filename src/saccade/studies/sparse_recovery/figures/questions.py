"""Figures of the open questions (rows, shifts, depth, structure) and of the certificate."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREY, ORANGE, THEORY
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.experiments import certificates, questions
from saccade.studies.sparse_recovery.figures.learned import LOOKS, high, lines, median, pooled

LARGE = 6.0
DOTS: dict[str, Any] = {"fmt": "o", "markersize": 4, "capsize": 2}


def _two_panels(errors: Any, x: str, label: str, trained_on: int, lowest: float) -> Drawing:
    """Median error, and share of diverged problems."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.0))
    lines(left, errors[x], errors)
    lines(right, errors[x], errors, lambda values: (values > LARGE).mean(-1))
    for axes in (left, right):
        axes.axvline(trained_on, color=GREY, linewidth=0.8, linestyle=":")
        axes.set(xlabel=label)
    left.set(yscale="log", ylabel="median error |b − β|²", ylim=(lowest, 20))
    right.set(ylabel="share of problems with error > 2S", ylim=(-0.02, 0.8))
    right.legend()
    return figure


@partial(
    Figure, "sparse-recovery/rows", "More and fewer rows than in training",
    "12 layers trained on 10 rows, the same problems with nested rows. LISTA-VM and ALISTA"
    " diverge on short prompts; dividing the step by |X|² cures it; FISTA overtakes LISTA-VM from"
    " 20 rows on. With N >= d ALISTA's weight inverts X and only its thresholds remain.",
    "open question 3 of arXiv 2410.13981", {"run": (questions.elsewhere, {})},
    seconds={"quick": 15, "standard": 60})
def draw_rows(runs: Mapping[str, Run]) -> Drawing:
    """Median error and share of diverged problems against the number of rows at test."""
    errors = runs["run"].data.row_error.rename(row_solver="algorithm")
    errors = pooled(errors.sel(algorithm=[*questions.NETWORKS, "fista"]))
    return _two_panels(errors, "rows", "rows N at test (trained on 10)", 10, 1e-3)


@partial(
    Figure, "sparse-recovery/shift", "Other laws of the matrix than in training",
    "Networks trained on Gaussian matrices (12 layers, 10 x 20). Dots are medians, whiskers reach"
    " to the 90 % quantile; whiskers that leave the frame go up to 10^10. FISTA's penalty is the"
    " best on the test problems. ALISTA does not notice a scale at all.", "ours",
    {"run": (questions.elsewhere, {})}, seconds={"quick": 15, "standard": 60})
def draw_shift(runs: Mapping[str, Run]) -> Drawing:
    """Median error (bars from the median to the 90 % quantile) under other laws of the matrix."""
    data = runs["run"].data
    names = [*questions.NETWORKS, "fista"]
    figure, axes = plt.subplots(figsize=(7.6, 3.2))
    places = np.arange(data.sizes["shift"])
    for number, name in enumerate(names):
        errors = pooled(data.shift_error.sel(law_solver=name)).values
        x = places + 0.18 * (number - (len(names) - 1) / 2)
        colour, label = LOOKS[name]
        axes.errorbar(x, *_whiskers(errors), color=colour, label=label, **DOTS)
    axes.axhline(3.0, color="black", linewidth=0.8, linestyle=":")
    axes.text(places[0] - 0.6, 3.3, "predicting zero (mean)", fontsize=8)
    axes.set(yscale="log", ylim=(0.03, 100), ylabel="error |b − β|²", xticks=places)
    axes.set_xticklabels([str(name).replace(" ", "\n") for name in data["shift"].values])
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _whiskers(errors: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The median over tests, and bars from it to the 90 % quantile."""
    middle = median(errors)
    return middle, [0 * middle, high(errors) - middle]


@partial(
    Figure, "sparse-recovery/depth", "More layers than were trained",
    "The last of 12 layers is used again and again. LISTA-VM is not a convergent solver; with its"
    " step divided by |X|² errors go on falling.", "reviewers' question on arXiv 2410.13981",
    {"run": (questions.elsewhere, {})}, seconds={"quick": 15, "standard": 60})
def draw_depth(runs: Mapping[str, Run]) -> Drawing:
    """Median error and share of diverged problems when the last layer is repeated."""
    errors = pooled(runs["run"].data.deep_error)
    return _two_panels(errors, "layer", "layers (12 trained, the last repeated)", 12, 8e-3)


def _dots(axes: Any, by_method: Any, title: str) -> None:
    """Median with a whisker to the 90 % quantile, one row a method (the first axis)."""
    problems = pooled(by_method).transpose(..., "problem")
    errors, places = problems.values, np.arange(len(problems))[::-1]
    middle, bars = _whiskers(errors)
    axes.errorbar(middle, places, xerr=bars, color=BLUE, **DOTS)
    axes.plot(errors.mean(-1), places, "x", color=ORANGE)
    names = [str(name).partition(",") for name in by_method[by_method.dims[0]].values]
    axes.set_yticks(
        places, [LOOKS.get(name, ("", name))[1] + comma + how for name, comma, how in names])
    axes.set(xscale="log", xlabel="error |b − β|²", title=title)


@partial(
    Figure, "sparse-recovery/structure", "Structure that is known",
    "Dots: medians, whiskers to the 90 % quantile, crosses: means. Left: 'told' methods use the"
    " pool's columns only. Right: orthonormal rows; thresholds on single coordinates cannot use"
    " that non-zeros come in blocks, thresholds on blocks can.",
    "open question 2 of arXiv 2410.13981",
    {"pools": (questions.elsewhere, {}), "blocks": (questions.blocks, {})},
    seconds={"quick": 40, "standard": 90})
def draw_structure(runs: Mapping[str, Run]) -> Drawing:
    """Supports in a known pool, and block-sparse supports."""
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 2.9))
    told = [name + how for name in ("lista-vm", "alista", "fista") for how in ("", ", told")]
    pools = runs["pools"].data.pool_error.sel(told=told)
    _dots(panels[0], pools, "Supports in 10 of 20 coordinates")
    blocks = runs["blocks"].data.error.sel(supports="blocks")
    _dots(panels[1], blocks, "One block of four coordinates")
    return figure


@partial(
    Figure, "sparse-recovery/certificate", "The certificate of a linear rate",
    "Eight problems each, d = 20, S = 3, g = 1, thresholds of the certificate. With 1000 rows the"
    " bound is close to what happens; at the 10 rows of the experiments it grows without limit,"
    " and its thresholds keep the estimate at zero.",
    "Theorem 5.1 of arXiv 2410.13981; the certificate is ours",
    {
        "many": (certificates.certified, {}),
        "noisy": (certificates.certified, {"noise": 0.1, "rows": 2000}),
        "few": (certificates.certified, {"rows": 10, "steps": 20})},
    seconds={"quick": 10})
def draw_certificate(runs: Mapping[str, Run]) -> Drawing:
    """The certified bound beside the error it bounds: many rows, noise, and ten rows."""
    figure, panels = plt.subplots(1, 3, figsize=(8.8, 2.9))
    titles = {"many": "1000 rows", "noisy": "2000 rows, noise 0.1", "few": "10 rows"}
    for axes, (name, title) in zip(panels, titles.items(), strict=True):
        data, p = runs[name].data, runs[name].parameters
        rate, bounds = theory.error_bounds(
            data.mu, data.delta, data.nu, p.sparsity, data.start, p.gamma, p.steps)
        errors, bounds = (np.maximum(values[:8], 1e-14).T for values in (data.error.values, bounds))
        real = axes.plot(data.step, errors, color=BLUE, linewidth=0.9)
        promised = axes.plot(data.step, bounds, **{**THEORY, "linewidth": 0.7})
        real[0].set_label("error")
        promised[0].set_label("certified")
        axes.set(title=f"{title}\nmedian q = {np.median(rate):.2f}", yscale="log", xlabel="step k")
    panels[0].set_ylabel("|b − β|₁")
    panels[2].set_ylim(0.3, 1e12)
    panels[0].legend(loc="upper right")
    return figure
