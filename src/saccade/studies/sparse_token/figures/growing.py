"""Figures on growth: long sequences by samples, growing dimensions, and the share of attention that
the informative tokens get while the query is trained."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.fits import exponents
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE, THEORY
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims.sizes import capacity, predicted_limits
from saccade.studies.sparse_token.experiments import long, shares, sizes
from saccade.studies.sparse_token.figures.common import BESIDE, name_points, points
from saccade.studies.sparse_token.task import SparseTokenSetting

LAW_NAMES = (
    r"$1.25\sqrt{2\log L}$, $0.3\sqrt{2\log L}$", r"$1.25\sqrt{2\log L}$, $0.6\sqrt{2\log L}$",
    r"$1.25\sqrt{2\log L}$, $1.5\sqrt{2\log L}$", r"$0.75\log L$, $1.6$", r"$0.3\sqrt{L}$, $0.7$")


def draw_long(runs: Mapping[str, Run]) -> Drawing:
    """Odds of the informative tokens, the best errors, and the signal a linear rule needs."""
    run, need = runs["attention"], runs["vectorised"]
    figure, (odds, errors, signal) = plt.subplots(1, 3, figsize=(11.4, 3.2))
    lengths = run.data.length.values
    for law, name in enumerate(LAW_NAMES):
        data, colour = run.data.isel(law=law), CYCLE[law]
        settings = [
            SparseTokenSetting.of(run.parameters, length=int(length), signal=float(strength))
            for length, strength in zip(lengths, data.signal.values, strict=True)]
        predicted = [
            theory.mean_log_odds(setting, float(k))
            for setting, k in zip(settings, data.sharpness.values, strict=True)]
        odds.plot(lengths, predicted, color=colour)
        points(odds, lengths, data.log_odds.values, colour, name)
        best = data.error.mean("replicate").min("threshold").values
        errors.plot(lengths, np.maximum(best, 1e-6), "o-", color=colour, markersize=4)
    asked = need.data.length.values
    points(signal, asked, need.data.signal.values, GREEN, "vectorised, error 0.2")
    middle = need.data.signal.values.mean(0)
    signal.plot(asked, middle[0] * np.sqrt(asked / asked[0]), label=r"$\propto\sqrt{L}$", **THEORY)
    signal.plot(
        asked, middle[0] * np.sqrt(np.log(asked) / np.log(asked[0])), color=GREY, linestyle=":",
        label=r"$\propto\sqrt{2\log L}$")
    odds.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    odds.set(xscale="log", xlabel="length L", ylabel="mean log odds", title="Is the token found?")
    named, names = odds.get_legend_handles_labels()
    figure.legend(named, names, loc="outside lower center", ncols=5, title="signal, sharpness")
    errors.set(
        xscale="log", yscale="log", xlabel="length L", ylabel="error of the best threshold",
        title="Softmax attention")
    signal.set(xscale="log", yscale="log", xlabel="length L", ylabel="signal", title="Linear rule")
    name_points(signal.xaxis, asked)
    name_points(signal.yaxis, (2, 3, 4, 5, 6))
    signal.legend()
    return figure


LONG = Figure(
    "sparse-token/long", "Long sequences, by samples",
    "Left: log odds of two informative tokens against all others under five laws of signal and"
    " sharpness; points: sampled tokens, lines: the random-energy model. Middle: smallest sampled"
    " error (in sample; none seen is drawn at 1e-6). Right: the signal a fitted vectorised"
    " classifier needs.", "the abstract's two scalings, and ours",
    runs={
        "attention": (long.long_sequences, {"samples": 300, "tokens": 500_000, "draws": 12}),
        "vectorised": (long.vectorised_need, {})},
    draw=draw_long, seconds={"quick": 2})


def draw_sizes(runs: Mapping[str, Run]) -> Drawing:
    """Distances to the limit against d, and the curve of separability at every d."""
    grown, width = runs["grown"], runs["width"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.8, 3.2))
    dims = grown.data.dim.values
    for name, limit, colour in zip(sizes.GROWN, predicted_limits(grown), CYCLE, strict=False):
        away = np.abs(grown.data[name].values - limit).mean(0)
        label = f"{name.replace('_', ' ')}: {exponents(dims, away):.2f}"
        left.plot(dims, away, "o-", color=colour, markersize=4, label=label)
    left.plot(dims, 0.4 / np.sqrt(dims), label="exponent -0.5", **THEORY)
    left.set(
        xscale="log", yscale="log", xlabel="dimension d", ylabel="mean distance to the limit",
        title="One trial and its limit")
    name_points(left.xaxis, dims)
    left.legend(**BESIDE)
    for dim, colour in zip(width.data.dim.values, (ORANGE, GREEN, BLUE), strict=False):
        values = np.sort(width.data.samples_per_dim.sel(dim=dim).values)
        share = 1 - np.arange(1, len(values) + 1) / len(values)
        right.step(values, share, where="post", color=colour, label=f"d = {dim}")
    right.axvline(capacity(width), label="capacity", **THEORY)
    right.set(
        xlabel="samples per dimension n/d", ylabel="share of separable trials",
        title="Separability is lost at the capacity", xlim=(0, 2.5 * capacity(width)))
    right.legend()
    return figure


SIZES = Figure(
    "sparse-token/sizes", "What growing dimensions do",
    "Left: mean distance of single trials from the asymptotic numbers, with fitted exponents (L ="
    " 4, R = 2, pi = 0.45, theta = 2.2, square loss). Right: share of trials whose first n"
    " samples are separable (attention, L = 6, R = 2, pi = 0.4, theta = 1.5).",
    "the abstract's exact asymptotics and capacity",
    runs={"grown": (sizes.growing_dimension, {}), "width": (sizes.separability_width, {})},
    draw=draw_sizes, seconds={"quick": 5})


def draw_shares(runs: Mapping[str, Run]) -> Drawing:
    """The share of attention on informative tokens at three stages, against the query's step."""
    figure, axes = plt.subplots(figsize=(5.6, 3.2))
    asked = np.array([run.parameters.eta_q for run in runs.values()])
    for stage, colour in zip(shares.STAGES, (GREY, ORANGE, BLUE), strict=True):
        values = np.stack([run.data[stage].values for run in runs.values()], 1)
        shift = 1.04 if stage == "one step" else 1.0  # both are even: side by side
        points(axes, shift * asked, values, colour, stage)
    dense = np.geomspace(asked[0] * 0.8, asked[-1] * 1.25, 40)
    p = next(iter(runs.values())).parameters
    setting = SparseTokenSetting.of(p)
    after = [
        theory.alignment_after_two_steps(
            setting, p.samples_per_dim, p.eta_w, p.eta_b, float(eta), p.beta, p.loss)
        for eta in dense]
    predicted = [
        theory.informative_share(setting, item.q_cosine, item.sharpness, 11).share for item in after
    ]
    axes.plot(dense, predicted, color=BLUE)
    axes.set(
        xscale="log", xlabel=r"step size $\eta_q$ of the query", ylim=(0, 1),
        ylabel="attention on informative tokens", title="R = 2 of L = 6 tokens are informative")
    name_points(axes.xaxis, asked)
    axes.legend(**BESIDE)
    return figure


SHARES = Figure(
    "sparse-token/shares", "How much attention the informative tokens get",
    "Share of the attention on the informative tokens of fresh positive samples before training,"
    " after one and after two steps (pi = 0.4, theta = 3, d = 80, 64 training sets). Line:"
    " predicted from the overlaps after two steps.", "the abstract's attention map",
    runs={
        f"eta_q {eta:g}": (shares.informative_shares, {"eta_q": eta})
        for eta in (3.0, 6.0, 12.0, 24.0, 48.0)},
    draw=draw_shares, seconds={"quick": 3})
