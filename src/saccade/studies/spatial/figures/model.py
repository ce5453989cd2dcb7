"""Figures 1, 3, 4 and 8 for the theoretical model (partitions, an image, learned attention); phase
portrait and events of population descent."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import MaxNLocator

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE, RED
from saccade.studies.spatial.experiments import idealised, realistic, sampling
from saccade.studies.spatial.theory.population import label_error, linear_error

PAPER = "Jelassi, Sander, Li (2022)"
LOCAL = {"local": True, "repetitions": 1, "steps": 200}
SETS = ListedColormap([*CYCLE, GREY, "#56B4E9"])


def _grid(axes: Axes, values: np.ndarray, **style: Any) -> None:
    """A square image of patches, without axes."""
    side = round(np.sqrt(values.size))
    axes.imshow(values.reshape(side, side), **style)
    axes.set_xticks(np.arange(side + 1) - 0.5, [])
    axes.set_yticks(np.arange(side + 1) - 0.5, [])
    axes.grid(color="white", linewidth=1.5)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _partitions(runs: Mapping[str, Run]) -> Drawing:
    data = runs["pictures"].data
    figure, panels = plt.subplots(1, 2, figsize=(5.2, 2.8))
    titles = "(1) localised", "(2) any other partition"
    for axes, labels, title in zip(panels, data.labels.values, titles, strict=True):
        _grid(axes, labels, cmap=SETS, vmin=0, vmax=SETS.N - 1)
        axes.set_title(title)
    return figure


def _image(runs: Mapping[str, Run]) -> Drawing:
    data = runs["pictures"].data.sel(kind="localised")
    labels, signals = data.labels.values, data.signals.values
    side = round(np.sqrt(labels.size))
    figure, axes = plt.subplots(figsize=(3.4, 3.6))
    _grid(axes, labels, cmap=SETS, vmin=0, vmax=SETS.N - 1, alpha=0.55)
    for patch, value in enumerate(signals):
        word = f"{value:+.0f}" if value else "0"
        axes.text(patch % side, patch // side, word, ha="center", va="center")
    inside = np.flatnonzero(labels == int(data.signal_set))
    rows, columns = inside // side, inside % side
    corner = (columns.min() - 0.5, rows.min() - 0.5)
    axes.add_patch(plt.Rectangle(
        corner, np.ptp(columns) + 1, np.ptp(rows) + 1, fill=False, edgecolor=RED, linewidth=3,
        zorder=5, clip_on=False))
    axes.set_title(f"label {float(data.y):+.0f}; sum of all signals {signals.sum():+.0f}")
    return figure


def _row(axes: Axes, row: np.ndarray, patch: int, limit: float, cross: float) -> None:
    """What one patch thinks of the others, at their places: a cross at itself, left blank."""
    side = round(np.sqrt(len(row)))
    values = np.where(np.arange(len(row)) == patch, np.nan, row)
    _grid(axes, values, cmap="RdBu_r", vmin=-limit, vmax=limit)
    axes.plot(patch % side, patch // side, "x", color="black", markersize=cross)


def _similarities(runs: Mapping[str, Run]) -> Drawing:
    data = runs["local"].data
    shown = np.linspace(0, data.sizes["i"] - 1, 4).astype(int)
    matrices = {"at a random start": data.first_A.values, "after training": data.A.values}
    figure, panels = plt.subplots(2, 4, figsize=(6.4, 3.5))
    for row, (title, matrix) in zip(panels, matrices.items(), strict=True):
        for axes, patch in zip(row, shown, strict=True):
            _row(axes, matrix[patch], patch, np.abs(np.delete(matrix[patch], patch)).max(), 6)
            axes.set_title(f"patch {patch}", fontsize=8, fontweight="normal")
        row[0].set_ylabel(title)
    return figure


def _all_rows(runs: Mapping[str, Run]) -> Drawing:
    data = runs["local"].data
    A, side = data.A.values, round(np.sqrt(data.sizes["i"]))
    limit = np.abs(A[~np.eye(len(A), dtype=bool)]).max()
    figure, panels = plt.subplots(side, side, figsize=(5.0, 5.2))
    for patch, axes in enumerate(np.ravel(np.asarray(panels))):
        _row(axes, A[patch], patch, limit, 4)
    return figure


def _learning(runs: Mapping[str, Run]) -> Drawing:
    data, p = runs["scattered"].data, runs["scattered"].parameters
    labels, A = data.labels.values, data.A.values
    figure, (truth, learned, error, aligned) = plt.subplots(1, 4, figsize=(11, 2.7))
    truth.imshow(labels[:, None] == labels, cmap="Greys", vmax=2)
    truth.set(title="Same set", xlabel="patch $j$", ylabel="patch $i$")
    off = np.where(np.eye(len(A), dtype=bool), np.nan, A)
    picture = learned.imshow(off, cmap="viridis")
    learned.set(title="Learned $A$ (off diagonal)", xlabel="patch $j$")
    figure.colorbar(picture, ax=learned, fraction=0.046)
    for axes in (truth, learned):
        axes.grid(False)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    steps = data.step.values
    _seeds(error, steps, data.error.values, ORANGE)
    sizes = p.side**2, p.block**2, p.spurious_rate
    floor, label = linear_error(*sizes).bayes, label_error(*sizes)
    error.axhline(floor, color=GREY, linestyle="--", linewidth=1, label="best linear (exact)")
    error.axhline(label, color=GREY, linestyle=":", linewidth=1, label="$f^*$ (exact)")
    error.set(title="Test error", xlabel="step", yscale="log", ylim=(label / 4, 1))
    error.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, columnspacing=1)
    _seeds(aligned, steps, np.abs(data.cosine.values), BLUE, "$|\\cos(v, w^*)|$")
    _seeds(aligned, steps, data.row_fraction.values, RED, "rows that associate")
    aligned.set(title="Feature and sets found", xlabel="step", ylim=(-0.03, 1.05))
    aligned.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    return figure


def _seeds(
    axes: Axes, steps: np.ndarray, values: np.ndarray, colour: str, label: str | None = None
) -> None:
    """Median and central 95 % of the repetitions."""
    low, middle, high = np.percentile(values, [2.5, 50, 97.5], axis=0)
    axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(steps, middle, color=colour, label=label)


def marks(run: Run) -> tuple[int, int, int]:
    """Rows of the record: first peak of alpha, gamma passes 1, alpha is lowest after that."""
    alpha, gamma = run.data.alpha.values, run.data.gamma.values
    taken_off = min(int(np.searchsorted(gamma, 1.0)), len(gamma) - 1)
    peak = int(np.argmax(alpha[: taken_off + 1]))
    return peak, taken_off, taken_off + int(np.argmin(alpha[taken_off:]))


def _portrait(runs: Mapping[str, Run]) -> Drawing:
    field, path = runs["field"].data, runs["path"].data
    figure, axes = plt.subplots(figsize=(5.6, 4.2))
    levels = np.geomspace(float(field.loss.min()), float(field.loss.max()), 14)
    filled = axes.contourf(
        field.alpha, field.gamma, np.log10(field.loss.values.T), np.log10(levels), cmap="Greys_r",
        alpha=0.6)
    figure.colorbar(filled, ax=axes, label=r"$\log_{10}$ loss")
    moves = (
        field.move_alpha.values.T / np.ptp(field.alpha.values),
        field.move_gamma.values.T / np.ptp(field.gamma.values))
    length = np.hypot(*moves)
    axes.quiver(
        field.alpha, field.gamma, moves[0] / length, moves[1] / length, color=BLUE, alpha=0.6,
        scale=34, width=0.003, angles="uv")
    axes.plot(path.alpha, path.gamma, color=ORANGE, linewidth=2.2, label="descent")
    peak, taken_off, _ = marks(runs["path"])
    rising = int(np.searchsorted(path.alpha.values[: peak + 1], path.alpha.values[peak] / 2))
    places = (
        ("I", rising, (0, 9)), ("II", taken_off, (9, 2)),
        ("III does not come", len(path.step) - 1, (10, 2)))
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5}
    for name, row, shift in places:
        where = float(path.alpha[row]), float(path.gamma[row])
        axes.plot(*where, "o", color=RED, markersize=5, clip_on=False, zorder=5)
        axes.annotate(name, where, xytext=shift, textcoords="offset points", color=RED, bbox=box)
    axes.set(
        xlabel=r"$\alpha = \langle v, w^*\rangle$", ylabel=r"$\gamma$ (entry of $A$ within a set)")
    axes.legend(loc="upper right")
    return figure


def _events(runs: Mapping[str, Run]) -> Drawing:
    figure, panels = plt.subplots(2, 3, figsize=(10, 5.0))
    for row, name in zip(panels, ("small sets", "large sets"), strict=True):
        _one_descent(row, runs[name])
    return figure


def _one_descent(row: np.ndarray, run: Run) -> None:
    data, p = run.data, run.parameters
    step = data.step.values + 1
    feature, attention, error = row
    feature.plot(step, data.alpha, color=BLUE)
    feature.set(ylabel=rf"$\alpha$  ($D$ = {p.patches}, $C$ = {p.set_size})", title="Feature")
    attention.plot(step, data.gamma, color=RED, label=r"$\gamma$ (same set)")
    attention.plot(step, data.rho, color=GREEN, label=r"$\rho$ (other sets)")
    attention.set(title="Attention")
    attention.legend(loc="upper left")
    shown = data.error.values > 0
    error.plot(step, data.loss, color=GREY, label="loss")
    error.plot(step[shown], data.error.values[shown], color=ORANGE, label="error")
    sizes = p.patches, p.set_size, p.spurious_rate
    floor, best = linear_error(*sizes).sign, label_error(*sizes)
    error.axhline(floor, color="black", linestyle="--", linewidth=0.8, label="linear")
    error.axhline(best, color="black", linestyle=":", linewidth=0.8, label="$f^*$")
    error.set(yscale="log", title="Loss and error", ylim=(best / 2, 1.2))
    error.legend(loc="lower left")
    for axes in row:
        axes.set(xscale="log", xlabel="step + 1")
        axes.set_title(axes.get_title(loc="left"), loc="left", pad=16)
        _bands(axes, run, step)


def _bands(axes: Axes, run: Run, step: np.ndarray) -> None:
    """Events I, II and, if alpha rises by 2 per cent from its dip, III."""
    peak, _, dip = marks(run)
    alpha = run.data.alpha.values
    rises = alpha[-1] > 1.02 * alpha[dip]
    ends = [step[0], step[peak], step[dip], *([step[-1]] if rises else [])]
    for number, (low, high) in enumerate(pairwise(ends)):
        axes.axvspan(low, high, color=(BLUE, RED, GREEN)[number], alpha=0.06, linewidth=0)
        axes.text(
            np.sqrt(low * high), 1.0, ("I", "II", "III")[number],
            transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=8)


ONCE = {"standard": {"local": {"repetitions": 1}}, "paper": {"local": {"repetitions": 1}}}
FIGURE_1A = Figure(
    "spatial/1a", "Similarities of a patch with all others, before and after training",
    "Rows of A of the theoretical model on a 4 x 4 image with 2 x 2 sets, shown at the places of"
    " the patches (cross: the patch itself, left blank), each map scaled to its largest entry. The"
    " paper shows P^T P of a trained ViT.", f"Figure 1a, {PAPER}, for the theoretical model",
    {"local": (realistic.realistic, LOCAL)}, _similarities, ONCE)
FIGURE_1B = Figure(
    "spatial/1b", "Two partitions of the patches", "Patches of one colour belong to one set.",
    f"Figure 1b, {PAPER}", {"pictures": (sampling.pictures, {})}, _partitions)
FIGURE_3 = Figure(
    "spatial/3", "An image",
    "Signals of the patches; colours are sets, the frame is the signal set, which decides the"
    " label.", f"Figure 3, {PAPER}", {"pictures": (sampling.pictures, {})}, _image)
FIGURE_4 = Figure(
    "spatial/4", "Training on a sample finds the sets",
    "Scattered sets; the learned A of one run, and median and central 95 % over repetitions of test"
    " error, alignment and association.", f"Figure 4, {PAPER}",
    {"scattered": (realistic.realistic, {})}, _learning,
    {"standard": {"scattered": {"repetitions": 20}}, "paper": {"scattered": {"repetitions": 20}}})
FIGURE_8 = Figure(
    "spatial/8", "Similarities of all patches after training",
    "Every row of the learned A at the places of the patches (cross: the patch itself): all see"
    " their own 2 x 2 set.", f"Figure 8, {PAPER}, for the theoretical model",
    {"local": (realistic.realistic, LOCAL)}, _all_rows, ONCE)
PORTRAIT = Figure(
    "spatial/portrait", "Phase portrait of population descent",
    "Loss (grey), direction of descent (arrows, rho tied to gamma as along the path) and the path"
    " at D = 64, C = 4, q = 1/4. Event I runs right, Event II up and back; alpha does not rise"
    " again.", "ours; section 4.1 describes it",
    {"field": (idealised.phase_portrait, {}), "path": (idealised.idealised, {})}, _portrait)
EVENTS_FIGURE = Figure(
    "spatial/events", "The events of population descent",
    "Feature, attention, loss and error along descent; bands are Events I, II and III. Top: C = 4,"
    " where alpha never rises again; bottom: C = 9, where it does. Lines: exact errors of the best"
    " linear rule and of f*.", "ours; section 4.1, Lemmas D.2, D.8, D.11",
    {
        "small sets": (idealised.idealised, {}),
        "large sets": (idealised.idealised, idealised.EVENTS)},
    _events)
