"""Claims on what the study computes with: the task's options, the layer and its variants, random
starts, screening, the error of a selection, half-normal integrals."""

import math
from functools import partial

import jax
import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, IDENTITY
from saccade.studies.group_sparse.claims import claim
from saccade.studies.group_sparse.experiments import data
from saccade.studies.group_sparse.theory import laws, position

_sampled = partial(
    claim, source="ours", kind=ESTIMATE, statistic="mean",
    scales={"quick": Scale(repetitions=4, seconds=2)})
_exact = partial(claim, source="ours", kind=IDENTITY, scales={"quick": Scale(seconds=2)})


def _moments(run: Run, **other: float) -> list[float]:
    """Of Gaussian signals with a common correlation: E[y u] = sqrt(2/pi) cov(u, t)/sd(t), with t
    what the label is the sign of; the margin moves the deciding group along v*. A shared variable
    has the variance of one, and of a label that one group makes its share by v*; two of the four
    are among those that the margin m moves by m y v: E[(x + m y v)^2] = sigma^2 + 2 m v E[y x] +
    m^2 v^2, E[y x] = sqrt(2/pi) sigma v."""
    p = run.parameters.model_dump() | other
    scale, rho, w = p["scale"], p["correlation"], p["split_weight"]
    square, pull = scale**2, math.sqrt(2 / math.pi) * scale / math.sqrt(1 + w**2 + 2 * w * rho)
    unit, m = np.array(p["direction"]) / math.hypot(*p["direction"]), p["margin"]
    alone = math.sqrt(2 / math.pi) * scale
    return [
        square, rho * square, pull * (1 + w * rho) + m, pull * (w + rho), pull * rho * (1 + w), 0.0,
        square + (unit[0] ** 2 + unit[-1] ** 2) * (2 * m * alone + m**2) / 4, (alone + m) * unit[0]]


TASK = _sampled(
    "group-sparse.task-moments", "GS-D0",
    "The task with every option on (sigma 1.7, a direction off the axes, a margin, correlated"
    " groups, a split signal of which one weight is negative) has the moments of its definition,"
    " and so has one with groups that overlap, whose margin moves shared variables in both of their"
    " groups.", "32 samples of 10000 leave 0.003 to 0.006; the resolution is some five of these.",
    experiment=data.task_moments, measure=lambda run: run.data.moment.values, predict=_moments,
    resolution=0.04,
    parts=(
        "variance", "covariance of groups", "pull of the deciding group", "of the second",
        "of another", "across the direction", "shared variables", "pull of a shared variable"),
    sabotages=(
        Sabotage(
            "sigma-1", "Predict with sigma = 1 and independent groups.",
            predict=lambda run: _moments(run, scale=1.0, correlation=0.0)),
        Sabotage("off-direction", "Look along the first axis.", {"looked": (1.0, 0.0, 0.0)}),
        Sabotage("apart", "Groups that share no variable.", {"overlap": 0}),
        Sabotage(
            "no-margin", "Predict without the margin.",
            predict=lambda run: _moments(run, margin=0.0))))

MARKS = _exact(
    "group-sparse.task-marks", "GS-D0",
    "The hidden truth marks the groups that decide, in every sample: the third of five, that and"
    " the fifth where it has a positive or a negative weight in the label, and the third alone"
    " where groups overlap.", "Marked or not; the groups are digits of a binary number.",
    experiment=data.task_marks,
    measure=lambda run: one_row(run.data.marked.values @ 2.0 ** np.arange(5)),
    predict=lambda run: [2.0**2, 2.0**2 + 2.0**4, 2.0**2 + 2.0**4, 2.0**2], resolution=0.0,
    parts=("one group", "weight 0.6", "weight -0.4", "overlap"),
    sabotages=(
        Sabotage("one-group", "The fifth group has no weight.", {"weights": (0.0, 0.0)}),
        Sabotage("another", "The second group decides.", {"relevant": 1})))

LAYER = _exact(
    "group-sparse.layer-as-defined", "GS-D0",
    "At random weights the layer, each of its variants, one layer or two, a masked group, the"
    " loss and where it looks give what plain loops over their definitions give.",
    "Rounding; the outputs are of order one to a hundred.", experiment=data.layer_definitions,
    measure=lambda run: one_row(run.data.model.values), predict=lambda run: run.data.plain.values,
    resolution=1e-9, parts=data.LAYER_PARTS,
    sabotages=(Sabotage(
        "over-queries", "The softmax over queries in the plain loops.", {"over": "queries"}),))


def _glorot(run: Run) -> np.ndarray:
    """factor^2 2/(inputs + outputs): W 5 x 5, v 4 x 1, U 5 x 4; 0.1^2 twice; W 5 x 5, v 5 x 1."""
    drawn = run.parameters.factor**2 * 2 / np.array([10, 5, 9, 10, 6])
    return np.array([*drawn[:3], 0.01, 0.01, *drawn[3:]])


STARTS = _sampled(
    "group-sparse.starts", "GS-D0",
    "Random starts have Glorot's variance, 2/(inputs + outputs) times the square of the factor; the"
    " MLP of the zero start has entries of size 0.1.",
    "Mean squares over 6400 starts; the fewest numbers, 25600, leave 1 %.", experiment=data.starts,
    measure=lambda run: run.data.square.values, predict=_glorot,
    resolution=lambda run: 0.06 * _glorot(run),
    parts=("W", "v behind the MLP", "U", "v at zero", "U at zero", "W, no MLP", "v, no MLP"),
    sabotages=(Sabotage(
        "by-inputs", "Variance 2/inputs, without the factor.",
        predict=lambda run: 2 / np.array([5, 4, 5, 4, 5, 5, 5])),))

ENCODINGS = _exact(
    "group-sparse.encodings", "GS-D0",
    "P^T P is (D+1)/2 I for the sine encoding, c I at any length c and for one-hot codes, c"
    " everywhere for equal ones, and c I on average for random ones, of D dimensions unless told.",
    "Rounding; random encodings are averaged over 4000 draws, whose largest entry strays by 0.04.",
    experiment=data.encodings,
    measure=lambda run: one_row(
        [*run.data.gram.values.ravel(), float(run.data.mean_square), float(run.data.rows)]),
    predict=lambda run: [
        3.0, 0.0, 1.7, 0.0, 1.7, 0.0, 1.7, 1.7, 1.7, 0.0, 1.7, run.parameters.groups],
    resolution=[*[1e-12] * 8, 0.1, 0.1, 1e-12, 0.0],
    parts=tuple(
        f"{kind}, {entry}" for kind in ("sine", "sine, length 1.7", "one-hot", "equal", "random")
        for entry in ("diagonal", "off it"))
    + ("mean square", "dimensions of random codes"),
    sabotages=(
        Sabotage("per-row", "Each divided by the number of its rows.", {"normalised": False}),
        Sabotage("overlap", "A third of the first code added to the second.", {"overlap": 0.3}),
        Sabotage("three", "Random codes of three dimensions for five groups.", {"unnamed": 3})))

SCREENED = _exact(
    "group-sparse.screening-threshold", "GS-F1",
    "The penalty above which the logistic group lasso is empty, max |X_g^T y|/(2n), is the largest"
    " gradient of the mean loss at zero.", "Rounding.", experiment=data.screening,
    measure=lambda run: float(run.data.screened), predict=lambda run: float(run.data.gradient),
    resolution=1e-12,
    sabotages=(Sabotage("square-loss", "The gradient of the square loss.", {"loss": "square"}),))

SELECTED = _sampled(
    "group-sparse.selection-error", "GS-D2",
    "A layer that looks at the relevant group with a share s of its attention errs with probability"
    " arctan((1-s)/(s sqrt(D-1)))/pi, whatever the scale.", "32 samples of 4000 leave 0.001.",
    experiment=data.selector_error, measure=lambda run: run.data.error.values,
    predict=lambda run: [
        laws.selection_error(share, run.parameters.groups) for share in run.parameters.shares],
    resolution=[0.008, 0.006, 0.003], parts=("s=0.3", "s=0.6", "s=0.9"),
    sabotages=(Sabotage("correlated", "Groups correlated by 0.9.", {"correlation": 0.9}),))


def _fall(beta: float) -> float:
    """How the loss falls with beta, by its own rule of differentiation."""
    return -float(jax.grad(position.half_normal_loss)(beta))


def _integrals(run: Run) -> list[float]:
    functions = (
        position.half_normal_slope, position.half_normal_loss, position.half_normal_curvature)
    return [float(function(beta)) for beta in run.parameters.betas for function in functions]


FEW = 6


def _stated(run: Run) -> list[float]:
    return [position.quadrature_accuracy(beta, FEW) for beta in run.parameters.betas]


def _true(run: Run) -> np.ndarray:
    """The larger relative error of slope and loss by few nodes."""
    few = [
        [float(function(beta, FEW)) for beta in run.parameters.betas]
        for function in (position.half_normal_slope, position.half_normal_loss)]
    return np.abs(np.array(few) / run.data.value.values[:, :2].T - 1).max(axis=0)


INTEGRALS = _exact(
    "group-sparse.half-normal-integrals", "GS-D2",
    "Slope, loss and curvature of a half-normal margin by 64 nodes are those of adaptive"
    " quadrature, the accuracy stated for six nodes is their true error, and differentiating the"
    " loss gives the slope.",
    "Both are good to 1e-12; twice as many nodes, by which the accuracy of six is told, leave 3e-5"
    " of slope or loss at beta = -3 and 0.5, 7e-4 at 20.", status="quadrature",
    experiment=data.half_normal,
    measure=lambda run: one_row(
        [*run.data.value.values.ravel(), *_true(run), *run.data.value.values[:, 0]]),
    predict=lambda run: [*_integrals(run), *_stated(run), *map(_fall, run.parameters.betas)],
    resolution=[*[1e-10] * 9, 1e-4, 1e-4, 2e-3, *[1e-10] * 3],
    parts=tuple(
        [
            f"{what}, beta={beta:g}" for beta in (-3, 0.5, 20)
            for what in ("slope", "loss", "curvature")]
        + [f"{what}, beta={beta:g}" for what in ("accuracy", "fall") for beta in (-3, 0.5, 20)]),
    sabotages=(Sabotage("laplace", "A Laplace margin of the same variance.", {"law": "laplace"}),))
