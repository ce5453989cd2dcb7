"""Figures on training: Figure 1, two steps, attention maps, other lengths, joint training."""

from collections.abc import Mapping
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREY, ORANGE, RED
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.experiments import steps, training
from saccade.studies.sparse_token.figures.common import BESIDE, COLOURS, points
from saccade.studies.sparse_token.task import SparseTokenSetting


def draw_figure_1(runs: Mapping[str, Run]) -> Drawing:
    """Test error and training loss against n/d: points simulated, lines theory."""
    run = runs["run"]
    p = run.parameters
    setting = SparseTokenSetting.of(p)
    learned = theory.alignment_after_two_steps(
        setting, p.query_samples_per_dim, eta_q=p.eta_q, loss=p.loss)
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.2))
    dense = np.geomspace(min(p.samples_per_dim) * 0.8, max(p.samples_per_dim) * 1.2, 17)
    for model in p.models:
        query = (learned.q_cosine, learned.sharpness) if model == "attention" else ()
        curve = theory.fit_curve(setting, model, dense, p.ridge, p.loss, *query)
        for axes, name in zip(panels, ("test_error", "train_loss"), strict=True):
            values = run.data[name].sel(model=model).values
            axes.plot(dense, [getattr(item, name) for item in curve], color=COLOURS[model])
            points(axes, p.samples_per_dim, values, COLOURS[model], model)
    shared = {"xscale": "log", "xlabel": "samples per dimension n/d"}
    panels[0].set(ylabel="test error", ylim=(0, 0.5), title="Test error", **shared)
    panels[1].set(yscale="log", ylabel="training loss", title="Training loss", **shared)
    panels[1].legend(**BESIDE)
    return figure


FIGURE_1 = Figure(
    "sparse-token/1", "Attention against linear classifiers",
    "L = 10, R = 1, pi = 1/2, theta = 5, ridge 1e-5, logistic loss; attention's query from two"
    " gradient steps on 4 d other samples (eta_q = 40). Points: simulation with standard errors (d"
    " = 60, 32 trials; at paper scale d = 1000, 8 trials, without the vectorised model); lines:"
    " theory.", "Figure 1",
    runs={"run": (training.protocol, {"samples_per_dim": (0.5, 1.0, 2.0, 4.0, 8.0), "trials": 32})},
    draw=draw_figure_1, scales={"paper": {"run": {"trials": 8, "models": ("attention", "pooled")}}},
    seconds={"quick": 25, "standard": 600, "paper": 3600})


def draw_alignment(runs: Mapping[str, Run]) -> Drawing:
    """Cosines of q and w against alpha0, and the misalignment on logarithmic axes."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2))
    dense = np.geomspace(0.3, 40, 60)
    for name, overlap, colour, label in (
        ("paper", "q_cosine", BLUE, "q, paper's setting"),
        ("paper", "w_cosine", ORANGE, "w, paper's setting"),
        ("rare", "q_cosine", RED, "q, rare and weak"),
    ):
        p, measured = runs[name].parameters, runs[name].data[overlap].values
        after = partial(
            theory.alignment_after_two_steps, SparseTokenSetting.of(p), eta_w=p.eta_w,
            eta_b=p.eta_b, eta_q=p.eta_q, beta=p.beta, loss=p.loss)
        values = np.array([getattr(after(alpha), overlap) for alpha in dense])
        left.plot(dense, values, color=colour)
        points(left, p.samples_per_dim, measured, colour, label)
        if name == "paper":
            right.plot(dense, 1 - values, color=colour)
            points(right, p.samples_per_dim, 1 - measured, colour)
    left.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    shared = {"xscale": "log", "xlabel": r"samples per dimension $\alpha_0$"}
    left.set(ylabel="cosine with the signal", title="Alignment", **shared)
    right.set(
        yscale="log", ylabel="1 - cosine", title=r"Misalignment falls like $1/\alpha_0$", **shared)
    left.legend(loc="center right", bbox_to_anchor=(1.0, 0.55))
    return figure


MANY = {"samples_per_dim": (0.5, 1.0, 2.0, 4.0, 8.0, 16.0), "dim": 80, "trials": 32}
ALIGNMENT = Figure(
    "sparse-token/alignment", "What two gradient steps teach the query",
    "Cosine of q (after two steps) and w (after one) with the signal; L = 10, R = 3, pi = 0.2,"
    " theta = 6, eta = 1/2, logistic loss. Red: R = 1, pi = 0.2, theta = 2, where the query turns"
    " away from the signal. Points: simulation with standard errors; lines: theory.",
    "alignment figure",
    runs={
        "paper": (steps.two_steps, MANY),
        "rare": (steps.two_steps, {"informative": 1, "signal": 2.0} | MANY)},
    draw=draw_alignment,
    scales={"paper": {"paper": {"dim": 1000, "trials": 10}, "rare": {"dim": 1000, "trials": 10}}},
    seconds={"quick": 20, "standard": 20, "paper": 900})


def draw_maps(runs: Mapping[str, Run]) -> Drawing:
    """Attention weights of fresh samples, one row each, before training and after each step."""
    data = runs["run"].data
    figure, panels = plt.subplots(1, 3, figsize=(8.4, 4.0), sharey=True)
    for axes, stage in zip(panels, data.stage.values, strict=True):
        axes.imshow(
            data.attention.sel(stage=stage).values, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        rows, tokens = np.nonzero(data.location.values * (data.y.values > 0)[:, None])
        axes.plot(
            tokens, rows, "s", markersize=6, markerfacecolor="none", markeredgecolor=RED,
            markeredgewidth=0.9)
        axes.axhline((data.y.values > 0).sum() - 0.5, color="black", linewidth=0.8)
        axes.set(title=str(stage), xlabel="token", xticks=[])
        axes.grid(False)
    panels[0].set(ylabel="sample (positive above the line)", yticks=[])
    figure.colorbar(panels[0].images[0], ax=list(panels), label="attention", shrink=0.8)
    return figure


MAPS = Figure(
    "sparse-token/maps", "Where attention looks",
    "Softmax weights on fresh samples at the start, after one step (which moves w and b alone: q"
    " is still zero) and after two. Red squares: informative tokens of positive samples. L = 10, R"
    " = 2, pi = 1/2, theta = 5, alpha0 = 4, eta_q = 60, d = 300.", "ours",
    runs={"run": (steps.attention_maps, {})}, draw=draw_maps, seconds={"quick": 3, "paper": 20})


def draw_length(runs: Mapping[str, Run]) -> Drawing:
    """Test error against the length asked at, for classifiers fitted at another."""
    run = runs["run"]
    p = run.parameters
    figure, axes = plt.subplots(figsize=(5.4, 3.2))
    for model in ("attention", "pooled"):
        points(
            axes, run.data.length.values, run.data.test_error.sel(model=model).values,
            COLOURS[model], model)
    query = (p.alignment, p.sharpness)
    fit = theory.fit(
        SparseTokenSetting.of(p), "attention", p.samples_per_dim, p.ridge, "logistic", *query)
    settings = [SparseTokenSetting.of(p, length=asked) for asked in p.test_lengths]
    laws = [theory.feature_law(setting, "attention", *query, 12) for setting in settings]
    axes.plot(p.test_lengths, [theory.error_rate(law, fit.overlaps) for law in laws], color=BLUE)
    axes.axvline(p.length, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(
        xscale="log", xlabel="tokens at test time", ylabel="test error", ylim=(0, 0.52),
        title=f"Fitted at L = {p.length}")
    axes.legend(**BESIDE)
    return figure


LENGTH = Figure(
    "sparse-token/length", "Asked at another length",
    "Attention (cosine 0.95, sharpness 1.5) and pooling fitted to 4 d samples of 10 tokens and"
    " tested at other lengths without any change. Points: simulation; line: overlaps of the fit"
    " under the law of the new length.", "ours", runs={"run": (training.other_length, {})},
    draw=draw_length, seconds={"quick": 10})


def draw_joint(runs: Mapping[str, Run]) -> Drawing:
    """Test error, cosine and training loss along joint descent; a line for the two-stage error."""
    data = runs["run"].data
    figure, panels = plt.subplots(1, 3, figsize=(9.0, 2.8))
    for axes, name, label in zip(
        panels, ("test_error", "q_cosine", "train_loss"),
        ("test error", "cosine of q", "training loss"), strict=True,
    ):
        points(axes, data.step.values, data[name].values, BLUE, "joint descent")
        axes.set(xlabel="step", title=label)
    staged = data.staged_error.values
    panels[0].axhline(staged.mean(), color=RED, linestyle="--", linewidth=1, label="two stages")
    panels[0].legend()
    return figure


JOINT = Figure(
    "sparse-token/joint", "Training everything together",
    "Gradient descent of query, read-out and bias together from zero (step size 1, ridge 0.01, n/d"
    " = 8, L = 10, theta = 4, d = 40), against the two-stage protocol on as many samples. The"
    " query overfits: the cosine falls while the training loss falls too.", "ours",
    runs={"run": (training.joint_training, {})}, draw=draw_joint, seconds={"quick": 15})
