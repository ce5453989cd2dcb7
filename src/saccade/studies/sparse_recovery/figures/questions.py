"""Figures of the open questions: numbers of rows, shifts of the matrix, more layers, known
structure; and the certificate."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREY, ORANGE, THEORY
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.experiments import certificates, questions
from saccade.studies.sparse_recovery.figures.learned import COLOURS, NAMES, band

LARGE = 6.0


def draw_rows(runs: Mapping[str, Run]) -> Drawing:
    """Median error and share of diverged problems against the number of rows at test."""
    data = runs["run"].data
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.0))
    for name in data.algorithm.values:
        errors = data.error.sel(algorithm=name).values
        band(left, data.rows, errors, str(name), name in ("ista", "fista"))
        style = "--" if name in ("ista", "fista") else "-"
        right.plot(
            data.rows, (errors > LARGE).mean(-1), style, color=COLOURS[str(name)],
            label=NAMES[str(name)])
    for axes in (left, right):
        axes.axvline(10, color=GREY, linewidth=0.8, linestyle=":")
        axes.set(xlabel="rows N at test (trained on 10)")
    left.set(yscale="log", ylabel="median error |b − β|²", ylim=(1e-3, 20))
    right.set(ylabel="share of problems with error > 2S", ylim=(-0.02, 0.8))
    right.legend()
    return figure


ROWS = Figure(
    id="sparse-recovery/rows", title="More and fewer rows than in training",
    caption=(
        "12 layers trained on 10 rows, the same problems with nested rows. LISTA-VM and ALISTA"
        " diverge on short prompts; dividing the step by |X|² cures it; FISTA overtakes LISTA-VM"
        " from 20 rows on. With N >= d ALISTA's weight inverts X and only its thresholds remain."),
    source="open question 3 of arXiv 2410.13981", runs={"run": (questions.row_counts, {})},
    draw=draw_rows, seconds={"quick": 20, "standard": 60})


def draw_shift(runs: Mapping[str, Run]) -> Drawing:
    """Median error (bars from the median to the 90 % quantile) under other laws of the matrix."""
    data = runs["run"].data
    figure, axes = plt.subplots(figsize=(7.6, 3.2))
    names = [str(name) for name in data.algorithm.values]
    places = np.arange(data.sizes["shift"])
    for number, name in enumerate(names):
        errors = data.error.sel(algorithm=name).values
        middle, high = np.median(errors, -1), np.quantile(errors, 0.9, -1)
        x = places + 0.18 * (number - (len(names) - 1) / 2)
        axes.errorbar(
            x, middle, [0 * middle, high - middle], fmt="o", markersize=4, capsize=2,
            color=COLOURS[name], label=NAMES[name])
    axes.axhline(3.0, color="black", linewidth=0.8, linestyle=":")
    axes.text(places[0] - 0.6, 3.3, "predicting zero (mean)", fontsize=8)
    axes.set(yscale="log", ylim=(0.03, 100), ylabel="error |b − β|²", xticks=places)
    axes.set_xticklabels([str(name).replace(" ", "\n") for name in data["shift"].values])
    figure.legend(loc="outside lower center", ncols=4)
    return figure


SHIFT = Figure(
    id="sparse-recovery/shift", title="Other laws of the matrix than in training",
    caption=(
        "Networks trained on Gaussian matrices (12 layers, 10 x 20). Dots are medians, whiskers"
        " reach to the 90 % quantile; whiskers that leave the frame go up to 10^10. FISTA's penalty"
        " is the best on the test problems. ALISTA does not notice a scale at all."),
    source="ours", runs={"run": (questions.shifts, {})}, draw=draw_shift,
    seconds={"quick": 25, "standard": 90})


def draw_depth(runs: Mapping[str, Run]) -> Drawing:
    """Median error and share of diverged problems when the last layer is repeated."""
    data = runs["run"].data
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.0))
    for name in data.algorithm.values:
        errors = data.error.sel(algorithm=name).values
        band(left, data.layer, errors, str(name), name == "fista")
        style = "--" if name == "fista" else "-"
        right.plot(
            data.layer, (errors > LARGE).mean(-1), style, color=COLOURS[str(name)],
            label=NAMES[str(name)])
    left.axvline(12, color=GREY, linewidth=0.8, linestyle=":")
    for axes in (left, right):
        axes.set(xlabel="layers (12 trained, the last repeated)")
    left.set(yscale="log", ylabel="median error |b − β|²", ylim=(8e-3, 20))
    right.set(ylabel="share of problems with error > 2S")
    right.legend()
    return figure


DEPTH = Figure(
    id="sparse-recovery/depth", title="More layers than were trained",
    caption=(
        "The last of 12 layers is used again and again. LISTA-VM is not a convergent solver; with"
        " its step divided by |X|² errors go on falling."),
    source="reviewers' question on arXiv 2410.13981", runs={"run": (questions.depths, {})},
    draw=draw_depth, seconds={"quick": 15, "standard": 40})


def _dots(axes: Any, data: Any, title: str) -> None:
    """Median with a whisker to the 90 % quantile, one row a method."""
    names = [str(name) for name in data.algorithm.values]
    errors = data.error.values
    middle, high = np.median(errors, -1), np.quantile(errors, 0.9, -1)
    places = np.arange(len(names))[::-1]
    axes.errorbar(
        middle, places, xerr=[0 * middle, high - middle], fmt="o", markersize=4, capsize=2,
        color=BLUE)
    axes.plot(errors.mean(-1), places, "x", color=ORANGE)
    pretty = [
        NAMES.get(name.split(",")[0], name.split(",")[0])
        + ("," + name.split(",")[1] if "," in name else "") for name in names]
    axes.set_yticks(places, pretty)
    axes.set(xscale="log", xlabel="error |b − β|²", title=title)


def draw_structure(runs: Mapping[str, Run]) -> Drawing:
    """Supports in a known pool, and block-sparse supports."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 2.9))
    _dots(left, runs["pools"].data, "Supports in 10 of 20 coordinates")
    _dots(right, runs["blocks"].data, "One block of four coordinates")
    return figure


STRUCTURE = Figure(
    id="sparse-recovery/structure", title="Structure that is known",
    caption=(
        "Dots: medians, whiskers to the 90 % quantile, crosses: means. Left: 'told' methods use the"
        " pool's columns only. Right: orthonormal rows; thresholds on single coordinates cannot use"
        " that non-zeros come in blocks, thresholds on blocks can."),
    source="open question 2 of arXiv 2410.13981",
    runs={"pools": (questions.pools, {}), "blocks": (questions.blocks, {})}, draw=draw_structure,
    seconds={"quick": 40, "standard": 90})


def draw_certificate(runs: Mapping[str, Run]) -> Drawing:
    """The certified bound beside the error it bounds: many rows, noise, and the ten rows of the
    experiments."""
    figure, panels = plt.subplots(1, 3, figsize=(8.8, 2.9))
    for axes, (name, title) in zip(
        panels, (("many", "1000 rows"), ("noisy", "2000 rows, noise 0.1"), ("few", "10 rows")),
        strict=True,
    ):
        data, p = runs[name].data, runs[name].parameters
        rate, bounds = theory.error_bounds(
            data.mu, data.delta, data.nu, p.sparsity, data.start, p.gamma, p.steps)
        floor = 1e-14
        for k in range(8):
            axes.plot(
                data.step, np.maximum(data.error[k], floor), color=BLUE, linewidth=0.9,
                label="error" if k == 0 else None)
            axes.plot(
                data.step, np.maximum(bounds[k], floor), **{**THEORY, "linewidth": 0.7},
                label="certified" if k == 0 else None)
        axes.set(title=f"{title}\nmedian q = {np.median(rate):.2f}", yscale="log", xlabel="step k")
    panels[0].set_ylabel("|b − β|₁")
    panels[2].set_ylim(0.3, 1e12)
    panels[0].legend(loc="upper right")
    return figure


CERTIFICATE = Figure(
    id="sparse-recovery/certificate", title="The certificate of a linear rate",
    caption=(
        "Eight problems each, d = 20, S = 3, g = 1, thresholds of the certificate. With 1000 rows"
        " the bound is close to what happens; at the 10 rows of the experiments it grows without"
        " limit, and its thresholds keep the estimate at zero."),
    source="Theorem 5.1 of arXiv 2410.13981; the certificate is ours",
    runs={
        "many": (certificates.certified, {}),
        "noisy": (certificates.certified, {"noise": 0.1, "rows": 2000}),
        "few": (certificates.certified, {"rows": 10, "steps": 20})},
    draw=draw_certificate, seconds={"quick": 10})
