"""Population descent in three scalars: the phase portrait and the three events along the way."""

from collections.abc import Mapping
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, GREEN, GREY, ORANGE, RED
from saccade.studies.spatial.experiments import idealised
from saccade.studies.spatial.theory.errors import label_error, linear_error


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
    for name, row, shift in places:
        where = float(path.alpha[row]), float(path.gamma[row])
        axes.plot(*where, "o", color=RED, markersize=5, clip_on=False, zorder=5)
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5}
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
