"""The calculators of group-sparse classification: the layer on explicit data, the exact maps, the
late laws, and screening. Data are X[sample][coordinate][group] here, as in the paper."""

from typing import Annotated, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field

from saccade.errors import Diverged, InvalidInput, require
from saccade.lab.calculator import Inputs, Whole, calculator
from saccade.studies.group_sparse import models
from saccade.studies.group_sparse.dynamics import position_map
from saccade.studies.group_sparse.dynamics import reduced_gradient as reduced
from saccade.studies.group_sparse.task import group_sparse_task, whole_number
from saccade.studies.group_sparse.theory import laws, position, reduction
from saccade.studies.group_sparse.theory.stability import stability_advice

PAPER = "arXiv 2504.08638"
OURS = "saccade, not in the paper"
MOST_STEPS = 10_000_000
MOST_GROUPS = 2048
"""Largest number of groups for which a matrix over groups is written out."""
_evaluate = jax.jit(models.evaluate)

Data = Annotated[list[list[list[float]]], Field(description="data X[sample][coordinate][group]")]
Groups = Annotated[Whole, Field(description="number D of groups, at least 2", ge=2)]
FewGroups = Annotated[
    Whole, Field(description="number D of groups, at least 2", ge=2, le=MOST_GROUPS)]
Scale = Annotated[
    float, Field(description="standard deviation sigma_x of the features, above 0", gt=0)]
StepSize = Annotated[float, Field(description="step size eta, above 0", gt=0)]
Relevant = Annotated[
    Whole, Field(description="zero-based index j* of the group that decides the label", ge=0)]


def _array(values: Any, name: str, rule: str) -> np.ndarray:
    """A rectangular array, or a refusal of rows of unequal length."""
    try:
        return np.asarray(values, dtype=float)
    except ValueError:
        raise InvalidInput(f"{name} = [...] {rule}: rows of equal length.") from None


def _rows(X: list[list[list[float]]]) -> Float[Array, "n groups group_dim"]:
    """Explicit data with groups as rows: at least one sample, one coordinate and two groups."""
    rule = "must be a rectangular X[sample][coordinate][group] with at least two groups"
    data = _array(X, "X", rule)
    is_table = data.ndim == 3 and min(data.shape) >= 1 and data.shape[2] >= 2
    require(is_table, "X of shape", data.shape, rule)
    return jnp.asarray(np.swapaxes(data, 1, 2))


class Explicit(Inputs):
    """Data and what decides their labels."""

    X: Data
    relevant: Relevant
    direction: list[float] = Field(
        description="direction v*, d entries, not zero (it is normalised)")


_TINY = [[[0.3, -1.2], [0.5, 0.4]], [[-0.7, 0.1], [1.1, -0.2]]]
_EYE = [[0.1 if row == column else 0.0 for column in range(4)] for row in range(4)]
_STEP = {"groups": 8, "step_size": 0.5}
_ACCURACY = {"accuracy": "relative quadrature error, estimated by doubling the nodes"}
_REST = {"one_minus_attention": "1 - s without cancellation"}


@calculator(
    "group-sparse.encoding",
    outputs={
        "P": "P[i][j] = sin(pi (i+1)(j+1)/(D+1)); column j is p_j",
        "gram_scale": "c = (D+1)/2 of P^T P = c I"},
    source=f"{PAPER}; the discrete sine transform is our reading of its orthogonal sines",
    example={"groups": 3})
def encoding(groups: FewGroups) -> dict[str, Any]:
    """The orthogonal sine encoding of the groups."""
    matrix = models.encoding("sine", groups)
    return {"P": matrix, "gram_scale": models.mean_square(matrix)}


def _shaped(values: Any, name: str, *shape: int) -> np.ndarray:
    """A matrix or vector, d + D a side."""
    rule = f"must be {' x '.join(map(str, shape))}, as d + D = {shape[0]}"
    array = _array(values, name, rule)
    require(array.shape == shape, f"{name} of shape", array.shape, rule)
    return array


@calculator(
    "group-sparse.model",
    outputs={
        "labels": "y = sign(<v*, x_j*>), sign(0) = +1",
        "attention": "S[sample][key][query]; columns sum to one",
        "output": "f = v^T Z S 1, a sum over queries", "loss": "mean of log(1 + exp(-y f))",
        "grad_W": "d loss / d W", "grad_v": "d loss / d v"},
    source=f"the layer: {PAPER}; the written-out gradients: saccade",
    example={
        "X": _TINY, "W": _EYE, "v": [0.5, 0.2, 0.0, 0.0], "relevant": 0, "direction": [1.0, 0.0]})
def model(
    data: Explicit,
    W: Annotated[list[list[float]], Field(description="merged query-key matrix, (d+D) x (d+D)")],
    v: Annotated[list[float], Field(description="value vector, d+D entries")],
) -> dict[str, Any]:
    """The merged-QK layer on explicit data: labels, attention, output, logistic loss and its
    gradients."""
    X = _rows(data.X)
    _, groups, dim = X.shape
    task, size = group_sparse_task(groups, dim, 1.0, data.relevant, data.direction), dim + groups
    rows, labels = models.tokens(X, models.encoding("sine", groups)), task.label(X)
    at = _evaluate(rows, labels, _shaped(W, "W", size, size), _shaped(v, "v", size))
    return {
        "labels": labels, "attention": at.attention, "output": at.output, "loss": at.loss,
        "grad_W": at.grad_attention_weights, "grad_v": at.grad_value}


@calculator(
    "group-sparse.two-steps",
    outputs={
        "alpha": "<v1, v*> after two steps", "gap": "A = B = eta^2 sigma^2 c^2 / (2 pi D)",
        "a": "W11 along v*", "b": "W11 across v*: zero",
        "first_alpha": "eta sigma / sqrt(2 pi), after one step", **_ACCURACY},
    status=(
        "quadrature (one integral in alpha and a, to about 1e-13; gap and first_alpha are exact)"),
    source=OURS, example=_STEP)
def two_steps(groups: Groups, step_size: StepSize, scale: Scale = 1.0) -> dict[str, Any]:
    """The full layer after exactly two population steps from zero."""
    return laws.two_steps(groups, step_size, scale)._asdict()


@calculator(
    "group-sparse.position-only",
    outputs={
        "steps": "recorded step numbers", "alpha": "<v1, v*>", "gap": "A",
        "loss": "population loss", "attention": "s = 1/(1 + (D-1) e^-A)", **_REST,
        "warning": "what the stability rule says of this step size; empty when nothing"},
    status="quadrature (64 nodes a step)", source=OURS,
    example={**_STEP, "steps": 1000, "record": [1, 2, 100, 1000]})
def position_only(
    groups: Groups, step_size: StepSize,
    steps: Annotated[Whole, Field(description="number of steps, at least 1", ge=1, le=MOST_STEPS)],
    record: Annotated[
        list[Whole],
        Field(
            description="step numbers to report, 0 = the start, 1 = after the first step",
            min_length=1)],
    scale: Scale = 1.0,
) -> dict[str, Any]:
    """Population descent of the layer with position scores only, by its exact two-number map."""
    run = position_map.position_trajectory(groups, step_size, steps, record, scale)
    values = {name: getattr(run, name) for name in position_map.Observed._fields}
    if run.advice and not np.isfinite(np.stack(list(values.values()))).all():
        raise Diverged(f"group-sparse.position-only {run.advice}")
    return {"steps": run.steps, **values, "warning": stability_advice(groups, step_size, scale)}


@calculator(
    "group-sparse.position-loss",
    outputs={
        "loss": "E log(1 + exp(-y f))", "alpha_force": "-dL/dalpha",
        "attention_force": "h = E[sigmoid(-f)(u - m)]", "gap_force": "-dL/dA = alpha D s (1-s) h",
        "attention": "s", **_REST, **_ACCURACY},
    status="quadrature (to about 1e-13)", source=OURS,
    example={"groups": 8, "alpha": 1.0, "gap": 2.0})
def position_loss(
    groups: Groups, alpha: Annotated[float, Field(description="alpha = <v1, v*>")],
    gap: Annotated[
        float, Field(description="score gap A between the relevant group and the others")],
    scale: Scale = 1.0,
) -> dict[str, Any]:
    """Population loss and forces of the position-only layer at alpha and A."""
    return position.position_loss(groups, alpha, gap, scale)._asdict()


@calculator(
    "group-sparse.reduced-gradient",
    outputs={
        "loss": "mean of log(1 + exp(-y f))",
        "gradient": "plain partial derivatives in the order of the coordinates",
        "preconditioner": (
            "multiplies the gradient in a step of the full layer; 0 where a coordinate does not"
            " exist"),
        "attention": "mean attention on the relevant group"},
    source=OURS,
    example={
        "X": _TINY, "direction": [1.0, 0.0], "relevant": 0,
        "coordinates": [1.0, 0.1, 0.0, 0.5, 0.5, -0.5, -0.5, 0.0]})
def reduced_gradient(
    data: Explicit,
    coordinates: Annotated[
        list[float], Field(description="eight numbers: alpha, a, b, m_ss, m_so, m_os, m_dd, m_oo")],
) -> dict[str, Any]:
    """Loss and gradient in the eight reduced coordinates, on explicit data."""
    answer, speed = reduced.reduced_gradient(
        _rows(data.X), data.direction, data.relevant, coordinates)
    return {**answer._asdict(), "preconditioner": speed}


@calculator(
    "group-sparse.late-laws",
    outputs={
        "kappa": "sqrt(2/pi) pi^2/12", "loss": "kappa^(2/3) / ((D sigma)^(2/3) (3 eta t)^(1/3))",
        "alpha": "(3 eta kappa t/(D sigma))^(1/3)", "one_minus_attention": "k t^(-2/3)",
        "attention_constant": "k"},
    status="asymptotic", source=OURS, example={**_STEP, "time": 20000})
def late_laws(
    groups: Groups, step_size: StepSize,
    time: Annotated[float, Field(description="number t of steps done, above 0", gt=0)],
    scale: Scale = 1.0,
) -> dict[str, Any]:
    """Late-time laws of the position-only layer: loss ~ t^(-1/3), alpha ~ t^(1/3), 1 - s ~
    t^(-2/3)."""
    return laws.late_laws(groups, step_size, time, scale)._asdict()


@calculator(
    "group-sparse.error", outputs={"error": "arctan((1-s)/(s sqrt(D-1)))/pi"}, source=OURS,
    example={"attention": 0.9, "groups": 8})
def error(
    attention: Annotated[
        float, Field(description="attention s on the relevant group, from 0 to 1", ge=0, le=1)],
    groups: Groups,
) -> dict[str, Any]:
    """Classification error of a layer that puts attention s on the relevant group and shares the
    rest equally."""
    return {"error": laws.selection_error(attention, groups)}


@calculator(
    "group-sparse.position-matrix", outputs={"W22": "P M P^T / c^2, so that P^T W22 P = M"},
    source=OURS,
    example={
        "groups": 3, "relevant": 1, "m_ss": 1.0, "m_so": 1.0, "m_os": -0.5, "m_dd": -0.5,
        "m_oo": -0.5})
def position_matrix(
    groups: FewGroups,
    relevant: Annotated[
        Whole, Field(description="zero-based index j* of the relevant group", ge=0)],
    m_ss: Annotated[float, Field(description="score of key j* for query j*")],
    m_so: Annotated[float, Field(description="score of key j* for another query")],
    m_os: Annotated[float, Field(description="score of another key for query j*")],
    m_dd: Annotated[float, Field(description="score of another key for itself as query")],
    m_oo: Annotated[float, Field(description="score of another key for a third group as query")],
) -> dict[str, Any]:
    """The position block of W from its five orbit values."""
    orbits = jnp.asarray([m_ss, m_so, m_os, m_dd, m_oo])
    matrix = models.encoding("sine", groups)
    chosen = whole_number(relevant, "relevant", 0, groups - 1)
    return {"W22": reduction.position_matrix(orbits, matrix, chosen)}


@calculator(
    "group-sparse.screening",
    outputs={
        "scores": "|X_g^T y|_2", "best": "the group with the largest score",
        "lambda_max": "max score / (2 n): the group lasso is empty above it"},
    source="standard; the yardstick of this study", example={"X": _TINY, "labels": [1, -1]})
def screening(
    X: Data,
    labels: Annotated[list[float], Field(description="labels, each -1 or +1, one a sample")],
) -> dict[str, Any]:
    """Find the group by its correlation with the labels."""
    rows, y = _rows(X), np.asarray(labels, float)
    is_right = y.shape == (len(rows),) and bool(np.all(np.abs(y) == 1))
    require(is_right, "labels", labels, f"must be {len(rows)} labels, each -1 or +1")
    return models.screen(rows, jnp.asarray(y))._asdict()
