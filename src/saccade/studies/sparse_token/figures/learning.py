"""Figures on training: Figure 1, the alignment of two gradient steps, attention maps, other
lengths, joint training."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREEN, GREY, ORANGE, RED
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.experiments import open_points, steps, training
from saccade.studies.sparse_token.task import SparseTokenSetting
from saccade.studies.sparse_token.theory.errors import test_error

COLOURS = {"attention": BLUE, "pooled": ORANGE, "vectorised": GREEN}


def setting_of(run: Run, **changes) -> SparseTokenSetting:
    names = ("length", "informative", "positive_rate", "signal")
    return SparseTokenSetting(**({name: getattr(run.parameters, name) for name in names} | changes))


def _points(axes: Axes, x, values: np.ndarray, colour: str, label: str | None = None) -> None:
    """Means over trials (first axis) with one standard error."""
    error = values.std(0, ddof=1) / np.sqrt(len(values))
    axes.errorbar(
        x, values.mean(0), error, fmt="o", color=colour, markersize=4, capsize=2, label=label)


def draw_figure_1(runs: Mapping[str, Run]) -> Drawing:
    """Test error and training loss against n/d: points simulated, lines theory."""
    run = runs["run"]
    p, setting = run.parameters, setting_of(run)
    query = theory.alignment_after_two_steps(
        setting, p.query_samples_per_dim, eta_q=p.eta_q, loss=p.loss)
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.2))
    dense = np.geomspace(min(p.samples_per_dim) * 0.8, max(p.samples_per_dim) * 1.2, 17)
    for model in p.models:
        asked = (
            {"alignment": query.q_cosine, "sharpness": query.sharpness} if model == "attention"
            else {})
        curve = theory.fit_curve(setting, model, dense, p.ridge, p.loss, **asked)
        for axes, name in zip(panels, ("test_error", "train_loss"), strict=True):
            axes.plot(dense, [getattr(item, name) for item in curve], color=COLOURS[model])
            _points(
                axes, p.samples_per_dim, run.data[name].sel(model=model).values, COLOURS[model],
                model)
    panels[0].set(
        xscale="log", xlabel="samples per dimension n/d", ylabel="test error", ylim=(0, 0.5),
        title="Test error")
    panels[1].set(
        xscale="log", yscale="log", xlabel="samples per dimension n/d", ylabel="training loss",
        title="Training loss")
    panels[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


FIGURE_1 = Figure(
    id="sparse-token/1", title="Attention against linear classifiers",
    caption=(
        "L = 10, R = 1, pi = 1/2, theta = 5, ridge 1e-5, logistic loss; attention's query from two"
        " gradient steps on 4 d other samples (eta_q = 40). Points: simulation with standard errors"
        " (d = 60, 32 trials; at paper scale d = 1000, 8 trials, without the vectorised model);"
        " lines: theory."),
    source="Figure 1",
    runs={"run": (training.protocol, {"samples_per_dim": (0.5, 1.0, 2.0, 4.0, 8.0), "trials": 32})},
    draw=draw_figure_1, scales={"paper": {"run": {"trials": 8, "models": ("attention", "pooled")}}},
    seconds={"quick": 25, "standard": 600, "paper": 3600})


def draw_alignment(runs: Mapping[str, Run]) -> Drawing:
    """Cosines of q and w against alpha0, and the misalignment on logarithmic axes."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2))
    dense = np.geomspace(0.3, 40, 60)
    labels = {
        "paper": ("q, paper's setting", "w, paper's setting"), "rare": ("q, rare and weak", None)}
    for (name, run), colours in zip(runs.items(), ((BLUE, ORANGE), (RED, GREY)), strict=True):
        p, setting = run.parameters, setting_of(run)
        curve = [
            theory.alignment_after_two_steps(setting, a, p.eta_w, p.eta_b, p.eta_q, p.beta, p.loss)
            for a in dense]
        for overlap, colour, label in zip(
            ("q_cosine", "w_cosine"), colours, labels[name], strict=True
        ):
            if label is None:
                continue
            values = np.array([getattr(item, overlap) for item in curve])
            left.plot(dense, values, color=colour)
            _points(left, p.samples_per_dim, run.data[overlap].values, colour, label)
            if name == "paper":
                right.plot(dense, 1 - values, color=colour)
                _points(right, p.samples_per_dim, 1 - run.data[overlap].values, colour)
    left.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    left.set(
        xscale="log", xlabel=r"samples per dimension $\alpha_0$", ylabel="cosine with the signal",
        title="Alignment")
    right.set(
        xscale="log", yscale="log", xlabel=r"samples per dimension $\alpha_0$", ylabel="1 - cosine",
        title=r"Misalignment falls like $1/\alpha_0$")
    left.legend(loc="lower right", bbox_to_anchor=(1.0, 0.15))
    return figure


ALPHAS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
ALIGNMENT = Figure(
    id="sparse-token/alignment", title="What two gradient steps teach the query",
    caption=(
        "Cosine of q (after two steps) and w (after one) with the signal; L = 10, R = 3, pi = 0.2,"
        " theta = 6, eta = 1/2, logistic loss. Red: R = 1, pi = 0.2, theta = 2, where the query"
        " turns away from the signal. Points: simulation with standard errors; lines: theory."),
    source="alignment figure",
    runs={
        "paper": (steps.two_steps, {"samples_per_dim": ALPHAS, "dim": 80, "trials": 32}),
        "rare": (
            steps.two_steps,
            {"informative": 1, "signal": 2.0, "samples_per_dim": ALPHAS, "dim": 80, "trials": 32})},
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
    id="sparse-token/maps", title="Where attention looks",
    caption=(
        "Softmax weights on fresh samples at the start, after one step (which moves w and b alone:"
        " q is still zero) and after two. Red squares: informative tokens of positive samples. L ="
        " 10, R = 2, pi = 1/2, theta = 5, alpha0 = 4, eta_q = 60, d = 300."),
    source="ours", runs={"run": (steps.attention_maps, {})}, draw=draw_maps,
    seconds={"quick": 3, "paper": 20})


def draw_length(runs: Mapping[str, Run]) -> Drawing:
    """Test error against the length asked at, for classifiers fitted at another."""
    run = runs["run"]
    p = run.parameters
    figure, axes = plt.subplots(figsize=(5.4, 3.2))
    for model in ("attention", "pooled"):
        _points(
            axes, run.data.length.values, run.data.test_error.sel(model=model).values,
            COLOURS[model], model)
    made = theory.fit(
        setting_of(run), "attention", p.samples_per_dim, p.ridge, "logistic", p.alignment,
        p.sharpness)
    laws = [
        theory.feature_law(setting_of(run, length=asked), "attention", p.alignment, p.sharpness, 12)
        for asked in p.test_lengths]
    axes.plot(p.test_lengths, [test_error(law, made.overlaps) for law in laws], color=BLUE)
    axes.axvline(p.length, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(
        xscale="log", xlabel="tokens at test time", ylabel="test error", ylim=(0, 0.52),
        title=f"Fitted at L = {p.length}")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


LENGTH = Figure(
    id="sparse-token/length", title="Asked at another length",
    caption=(
        "Attention (cosine 0.95, sharpness 1.5) and pooling fitted to 4 d samples of 10 tokens and"
        " tested at other lengths without any change. Points: simulation; line: overlaps of the fit"
        " under the law of the new length."),
    source="ours", runs={"run": (open_points.other_length, {})}, draw=draw_length,
    seconds={"quick": 10})


def draw_joint(runs: Mapping[str, Run]) -> Drawing:
    """Test error, cosine and training loss along joint descent, with the two-stage error as a
    line."""
    data = runs["run"].data
    figure, panels = plt.subplots(1, 3, figsize=(9.0, 2.8))
    for axes, name, label in zip(
        panels, ("test_error", "q_cosine", "train_loss"),
        ("test error", "cosine of q", "training loss"), strict=True,
    ):
        _points(axes, data.step.values, data[name].values, BLUE, "joint descent")
        axes.set(xlabel="step", title=label)
    staged = data.staged_error.values
    panels[0].axhline(staged.mean(), color=RED, linestyle="--", linewidth=1, label="two stages")
    panels[0].legend()
    return figure


JOINT = Figure(
    id="sparse-token/joint", title="Training everything together",
    caption=(
        "Gradient descent of query, read-out and bias together from zero (step size 1, ridge 0.01,"
        " n/d = 8, L = 10, theta = 4, d = 40), against the two-stage protocol on as many samples."
        " The query overfits: the cosine falls while the training loss falls too."),
    source="ours", runs={"run": (open_points.joint_training, {})}, draw=draw_joint,
    seconds={"quick": 15})
