"""Figures of what grows with the number of patches, of the third event, of transfer by size and of
content in the attention."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import NullLocator

from saccade.lab.experiment import Run
from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, CYCLE, GREEN, GREY, ORANGE, RED
from saccade.studies.spatial.experiments import content, orders, scaling


def _sizes(axes: Axes, sizes: np.ndarray) -> None:
    """Logarithmic axes with ticks at these numbers alone."""
    axes.set(xscale="log", yscale="log", xlabel="patches $D$")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(sizes, [str(size) for size in sizes])


def _power(axes: Axes, sizes: np.ndarray, first: float, exponent: float, label: str) -> None:
    """A dashed line of a power law through the first point."""
    law = first * (sizes / sizes[0]) ** exponent
    axes.plot(sizes, law, color=GREY, linestyle="--", linewidth=1, label=label)


def _orders(runs: Mapping[str, Run]) -> Drawing:
    rest, path = runs["rest"].data, runs["path"].data
    figure, (sums, threshold, moves) = plt.subplots(1, 3, figsize=(10, 3.0))
    sizes = rest.size.values
    middle = np.median(rest["sum"].values, axis=0)
    sums.plot(sizes, middle[:, 0], "o-", color=BLUE, label="signal set")
    sums.plot(sizes, middle[:, 1], "o-", color=RED, label="all others")
    _power(sums, sizes, middle[0, 1], 1.0, "$D^1$")
    sums.set_title("Sums of $(D\\langle w^*, O_i\\rangle)^3$")
    threshold.plot(sizes, middle[:, 4], "o-", color=ORANGE)
    _power(threshold, sizes, middle[0, 4], -1 / 3, "$D^{-1/3}$")
    threshold.set_title("$\\alpha$ that moves the sigmoid")
    along = path.size.values
    gamma, rho = (np.diff(path.path.sel(of=name).values, axis=1) for name in ("gamma", "rho"))
    rows = np.arange(len(along))
    for level, colour in zip(range(4), CYCLE, strict=False):
        when = path.passed.values[:, level]
        ratio = np.abs(rho[rows, when]) / gamma[rows, when]
        moves.plot(
            along, ratio, "o-", color=colour, label=rf"$\gamma$ = {path.level.values[level]:g}")
    _power(moves, along, ratio[0], -1.0, "$D^{-1}$")
    moves.set_title("A step of $\\rho$ over one of $\\gamma$")
    for axes, ticks in ((sums, sizes), (threshold, sizes), (moves, along)):
        _sizes(axes, ticks)
        axes.legend(fontsize=7)
    return figure


def _third(runs: Mapping[str, Run]) -> Drawing:
    data = runs["path"].data
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.0))
    for states, colour in zip(data.states.values, (BLUE, ORANGE, RED), strict=True):
        for axes, name in zip(panels, ("alpha", "loss"), strict=True):
            axes.plot(
                data.step, data.path.sel(states=states, of=name), color=colour,
                label=f"{states} states")
    panels[0].set(title="Feature $\\alpha$", xscale="log", xlabel="step")
    panels[1].set(title="Loss", xscale="log", yscale="log", xlabel="step")
    panels[0].legend()
    return figure


def _transfer(runs: Mapping[str, Run]) -> Drawing:
    frozen, found = runs["frozen"].data, runs["found"].data
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.0), sharey=True)
    shown = (
        (panels[0], frozen.error, frozen.few, (1, 4, 16), "pretrained attention"),
        (panels[1], found.paired, found.images, (16, 64, 256), "sets found by counting pairs"))
    for axes, errors, numbers, ticks, title in shown:
        for size, colour in zip(errors["size"].values, (*CYCLE, GREY), strict=False):
            middle = np.maximum(errors.sel(size=size).mean("repetition").values, 5e-4)
            axes.plot(numbers, middle, "o-", markersize=3, color=colour, label=f"$D$ = {size}")
        axes.axhline(0.02, color="black", linestyle=":", linewidth=1)
        _sizes(axes, np.asarray(ticks))
        axes.set(xlabel="images $N$", title=title)
    floors = (
        (frozen.rival.sel(kind="untrained"), "untrained attention"),
        (frozen.rival.sel(kind="other sets"), "windows that do not fit"),
        (found.linear, "logistic regression"))
    for errors, label in floors:
        panels[2].plot(frozen["size"], errors.mean("repetition"), "o-", label=label)
    _sizes(panels[2], frozen["size"].values)
    panels[2].set_title("learners that stay above")
    panels[2].axhline(0.02, color="black", linestyle=":", linewidth=1)
    panels[0].set_ylabel("test error")
    for axes in panels[1:]:
        axes.legend(fontsize=7)
    return figure


def _content(runs: Mapping[str, Run]) -> Drawing:
    data = runs["path"].data
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.0))
    names = (("gamma", "Attention within sets $\\gamma$"), ("theta", "Content $\\theta$"))
    for kind, colour in zip(data.kind.values, (RED, GREY, GREEN, BLUE, ORANGE), strict=True):
        label = kind if kind[-1].isalpha() else rf"$\theta$ = {kind}"
        for axes, (name, title) in zip(panels, (*names, ("error", "Error")), strict=True):
            axes.plot(data.step + 1, data[name].sel(kind=kind), color=colour, label=label)
            axes.set(title=title, xscale="log", xlabel="step + 1")
    panels[2].set_yscale("log")
    panels[0].legend(fontsize=7)
    return figure


ORDERS = Figure(
    "spatial/orders", "What grows with the number of patches",
    "Left and middle: medians over samples with the attention at rest; right: along population"
    " descent, when gamma passes 0.3, 1, 2, 3. C = 4 and q D = 16 throughout; dashed: power laws"
    " through the first point.", "ours; Lemmas D.1, D.4, D.5, 4.3",
    {"rest": (orders.orders_at_rest, {}), "path": (orders.orders_along_path, {})}, _orders)
THIRD = Figure(
    "spatial/third-event", "Event III waits for the rarest image",
    "Population descent at D = 72, C = 6, q = 1/4 with 500, 2000 or 8000 weighted states standing"
    " for all images: the more, the deeper and the later alpha turns.",
    "ours; section 4.1, Event III", {"path": (orders.third_event_by_states, {})}, _third)
TRANSFER = Figure(
    "spatial/transfer-scaling", "Images that transfer needs, by number of patches",
    "Mean errors over repetitions (below 0.0005 drawn there) at C = 4, q D = 6, d = D. Left: one"
    " normalised step with the attention of the last step of pretraining; middle: a learner told"
    " the feature finds the sets; right: after 32 images (logistic regression: 256) by D. Dotted:"
    " what is asked for.", "ours; Theorems 5.1 and 5.2",
    {"frozen": (scaling.transfer_scaling, {}), "found": (scaling.sets_from_pairs, {})}, _transfer)
CONTENT = Figure(
    "spatial/content", "Content in queries and keys",
    "Population descent on sampled images (D = 36, C = 4, q = 0.3) with theta x_i x_j beside A:"
    " fixed, trained, or trained with A at rest.", "ours; the paper's named limitation",
    {"path": (content.content_descent, {})}, _content)
