"""The calculators of group-sparse classification: the layer on explicit data, the exact maps, the
late laws, and screening."""

from typing import Any

import numpy as np
from pydantic import Field

from saccade.errors import Diverged, InvalidInput, require
from saccade.lab.calculator import Calculator, Inputs, Whole
from saccade.studies.group_sparse import dynamics, models, theory
from saccade.studies.group_sparse.task import (
    check_groups,
    check_inputs,
    check_labels,
    check_relevant,
)

PAPER = "arXiv 2504.08638"
OURS = "saccade, not in the paper"
MOST_STEPS = 10_000_000
MOST_GROUPS = 4096
"""Largest number of groups for which a matrix over groups is written out."""

Data = list[list[list[float]]]


class Groups(Inputs):
    groups: Whole = Field(description="number D of groups, at least 2")

    def few_groups(self) -> int:
        """D for calculators that answer with a D x D matrix."""
        groups = check_groups(self.groups)
        require(
            groups <= MOST_GROUPS, "groups", groups,
            f"must be at most {MOST_GROUPS}: the answer is a full matrix")
        return groups


class Scale(Inputs):
    scale: float = Field(1.0, description="standard deviation sigma_x of the features, above 0")


class Step(Groups, Scale):
    step_size: float = Field(description="step size eta, above 0")


class ModelInputs(Inputs):
    X: Data = Field(description="data X[sample][coordinate][group]")
    W: list[list[float]] = Field(description="merged query-key matrix, (d+D) x (d+D)")
    v: list[float] = Field(description="value vector, d+D entries")
    relevant: Whole = Field(description="zero-based index j* of the group that decides the label")
    direction: list[float] = Field(
        description="direction v*, d entries, not zero (it is normalised)")


class PositionOnlyInputs(Step):
    steps: Whole = Field(description="number of steps, at least 1", le=MOST_STEPS)
    record: list[Whole] = Field(
        description="step numbers to report, 0 = the start, 1 = after the first step", min_length=1)


class PositionLossInputs(Groups, Scale):
    alpha: float = Field(description="alpha = <v1, v*>")
    gap: float = Field(description="score gap A between the relevant group and the others")


class ReducedInputs(Inputs):
    X: Data = Field(description="data X[sample][coordinate][group]")
    direction: list[float] = Field(
        description="direction v*, d entries, not zero (it is normalised)")
    relevant: Whole = Field(description="zero-based index j* of the group that decides the label")
    coordinates: list[float] = Field(
        description="eight numbers: alpha, a, b, m_ss, m_so, m_os, m_dd, m_oo")


class LateInputs(Step):
    time: float = Field(description="number t of steps done, above 0")


class ErrorInputs(Groups):
    attention: float = Field(description="attention s on the relevant group, from 0 to 1")


class MatrixInputs(Groups):
    relevant: Whole = Field(description="zero-based index j* of the relevant group")
    m_ss: float = Field(description="score of key j* for query j*")
    m_so: float = Field(description="score of key j* for another query")
    m_os: float = Field(description="score of another key for query j*")
    m_dd: float = Field(description="score of another key for itself as query")
    m_oo: float = Field(description="score of another key for a third group as query")


class ScreeningInputs(Inputs):
    X: Data = Field(description="data X[sample][coordinate][group]")
    labels: list[float] = Field(description="labels, each -1 or +1, one a sample")


def _encoding(given: Groups) -> dict[str, Any]:
    made = models.encoding("sine", given.few_groups())
    return {"P": made.matrix, "gram_scale": made.gram_scale}


def _square(rows: list[list[float]], name: str) -> np.ndarray:
    """A matrix, or a refusal of rows of unequal length."""
    try:
        return np.asarray(rows, float)
    except ValueError:
        raise InvalidInput(f"{name} = [...] must be a matrix: rows of equal length.") from None


def _model(given: ModelInputs) -> dict[str, Any]:
    labels, at = models.evaluate_data(
        given.X, _square(given.W, "W"), given.v, given.relevant, given.direction)
    return {
        "labels": labels, "attention": at.attention, "output": at.output, "loss": at.loss,
        "grad_W": at.grad_attention_weights, "grad_v": at.grad_value}


def _two_steps(given: Step) -> dict[str, Any]:
    made = theory.two_steps(given.groups, given.step_size, given.scale)
    return {
        name: getattr(made, name) for name in ("alpha", "gap", "a", "b", "first_alpha", "accuracy")}


def _position_only(given: PositionOnlyInputs) -> dict[str, Any]:
    made = dynamics.position_trajectory(
        given.groups, given.step_size, given.steps, given.record, given.scale)
    names = ("alpha", "gap", "loss", "attention", "one_minus_attention")
    values = {name: getattr(made, name) for name in names}
    if made.advice and not all(np.all(np.isfinite(value)) for value in values.values()):
        raise Diverged(f"group-sparse.position-only {made.advice}")
    return {
        "steps": made.steps, **values,
        "warning": theory.stability_rule(given.groups, given.step_size, given.scale).advice}


def _position_loss(given: PositionLossInputs) -> dict[str, Any]:
    made = theory.position_loss(given.groups, given.alpha, given.gap, given.scale)
    return {name: value for name, value in made._asdict().items() if name != "status"}


def _reduced_gradient(given: ReducedInputs) -> dict[str, Any]:
    made, speed = dynamics.reduced_gradient(
        given.X, given.direction, given.relevant, given.coordinates)
    return {
        "loss": made.loss, "gradient": made.gradient, "preconditioner": speed,
        "attention": made.attention}


def _late_laws(given: LateInputs) -> dict[str, Any]:
    made = theory.late_laws(given.groups, given.step_size, given.time, given.scale)
    names = ("kappa", "loss", "alpha", "one_minus_attention", "attention_constant")
    return {name: getattr(made, name) for name in names}


def _error(given: ErrorInputs) -> dict[str, Any]:
    return {"error": theory.selection_error(given.attention, given.groups).error}


def _position_matrix(given: MatrixInputs) -> dict[str, Any]:
    groups = given.few_groups()
    relevant = check_relevant(given.relevant, groups)
    orbits = np.array([given.m_ss, given.m_so, given.m_os, given.m_dd, given.m_oo])
    return {"W22": theory.position_matrix(orbits, models.encoding("sine", groups).matrix, relevant)}  # pyright: ignore[reportArgumentType]


def _screening(given: ScreeningInputs) -> dict[str, Any]:
    data = check_inputs(given.X)
    made = models.screen(data, check_labels(given.labels, data.shape[0]))
    return {"scores": made.scores, "best": made.best, "lambda_max": made.lambda_max}


_TINY = [[[0.3, -1.2], [0.5, 0.4]], [[-0.7, 0.1], [1.1, -0.2]]]
_EYE = [[0.1 if row == column else 0.0 for column in range(4)] for row in range(4)]
_STEP = {"groups": 8, "step_size": 0.5}

CALCULATORS = (
    Calculator(
        "group-sparse.encoding", Groups, _encoding, "The orthogonal sine encoding of the groups.",
        {
            "P": "P[i][j] = sin(pi (i+1)(j+1)/(D+1)); column j is p_j",
            "gram_scale": "c = (D+1)/2 of P^T P = c I"},
        "exact", f"{PAPER}; the discrete sine transform is our reading of its orthogonal sines",
        {"groups": 3}),
    Calculator(
        "group-sparse.model", ModelInputs, _model,
        "The merged-QK layer on explicit data: labels, attention, output, logistic loss and its"
        " gradients.",
        {
            "labels": "y = sign(<v*, x_j*>), sign(0) = +1",
            "attention": "S[sample][key][query]; columns sum to one",
            "output": "f = v^T Z S 1, a sum over queries", "loss": "mean of log(1 + exp(-y f))",
            "grad_W": "d loss / d W", "grad_v": "d loss / d v"},
        "exact", f"the layer: {PAPER}; the written-out gradients: saccade",
        {"X": _TINY, "W": _EYE, "v": [0.5, 0.2, 0.0, 0.0], "relevant": 0, "direction": [1.0, 0.0]}),
    Calculator(
        "group-sparse.two-steps", Step, _two_steps,
        "The full layer after exactly two population steps from zero.",
        {
            "alpha": "<v1, v*> after two steps", "gap": "A = B = eta^2 sigma^2 c^2 / (2 pi D)",
            "a": "W11 along v*", "b": "W11 across v*: zero",
            "first_alpha": "eta sigma / sqrt(2 pi), after one step",
            "accuracy": "relative quadrature error, estimated by doubling the nodes"},
        "quadrature (one integral in alpha and a, to about 1e-13; gap and first_alpha are exact)",
        OURS, _STEP),
    Calculator(
        "group-sparse.position-only", PositionOnlyInputs, _position_only,
        "Population descent of the layer with position scores only, by its exact two-number map.",
        {
            "steps": "recorded step numbers", "alpha": "<v1, v*>", "gap": "A",
            "loss": "population loss", "attention": "s = 1/(1 + (D-1) e^-A)",
            "one_minus_attention": "1 - s without cancellation",
            "warning": "what the stability rule says of this step size; empty when nothing"},
        "quadrature (64 nodes a step)", OURS, {**_STEP, "steps": 1000, "record": [1, 2, 100, 1000]},
    ),
    Calculator(
        "group-sparse.position-loss", PositionLossInputs, _position_loss,
        "Population loss and forces of the position-only layer at alpha and A.",
        {
            "loss": "E log(1 + exp(-y f))", "alpha_force": "-dL/dalpha",
            "attention_force": "h = E[sigmoid(-f)(u - m)]",
            "gap_force": "-dL/dA = alpha D s (1-s) h", "attention": "s",
            "one_minus_attention": "1 - s without cancellation",
            "accuracy": "relative quadrature error, estimated by doubling the nodes"},
        "quadrature (to about 1e-13)", OURS, {"groups": 8, "alpha": 1.0, "gap": 2.0}),
    Calculator(
        "group-sparse.reduced-gradient", ReducedInputs, _reduced_gradient,
        "Loss and gradient in the eight reduced coordinates, on explicit data.",
        {
            "loss": "mean of log(1 + exp(-y f))",
            "gradient": "plain partial derivatives in the order of the coordinates",
            "preconditioner": (
                "multiplies the gradient in a step of the full layer; 0 where a coordinate does not"
                " exist"),
            "attention": "mean attention on the relevant group"},
        "exact", OURS,
        {
            "X": _TINY, "direction": [1.0, 0.0], "relevant": 0,
            "coordinates": [1.0, 0.1, 0.0, 0.5, 0.5, -0.5, -0.5, 0.0]}),
    Calculator(
        "group-sparse.late-laws", LateInputs, _late_laws,
        "Late-time laws of the position-only layer: loss ~ t^(-1/3), alpha ~ t^(1/3), 1 - s ~"
        " t^(-2/3).",
        {
            "kappa": "sqrt(2/pi) pi^2/12",
            "loss": "kappa^(2/3) / ((D sigma)^(2/3) (3 eta t)^(1/3))",
            "alpha": "(3 eta kappa t/(D sigma))^(1/3)", "one_minus_attention": "k t^(-2/3)",
            "attention_constant": "k"},
        "asymptotic", OURS, {**_STEP, "time": 20000}),
    Calculator(
        "group-sparse.error", ErrorInputs, _error,
        "Classification error of a layer that puts attention s on the relevant group and shares the"
        " rest equally.", {"error": "arctan((1-s)/(s sqrt(D-1)))/pi"}, "exact", OURS,
        {"attention": 0.9, "groups": 8}),
    Calculator(
        "group-sparse.position-matrix", MatrixInputs, _position_matrix,
        "The position block of W from its five orbit values.",
        {"W22": "P M P^T / c^2, so that P^T W22 P = M"}, "exact", OURS,
        {
            "groups": 3, "relevant": 1, "m_ss": 1.0, "m_so": 1.0, "m_os": -0.5, "m_dd": -0.5,
            "m_oo": -0.5}),
    Calculator(
        "group-sparse.screening", ScreeningInputs, _screening,
        "Find the group by its correlation with the labels.",
        {
            "scores": "|X_g^T y|_2", "best": "the group with the largest score",
            "lambda_max": "max score / (2 n): the group lasso is empty above it"},
        "exact", "standard; the yardstick of this study", {"X": _TINY, "labels": [1, -1]}))
