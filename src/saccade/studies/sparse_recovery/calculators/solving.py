"""Calculators of the LASSO: its minimum, iterations towards it, and ALISTA's weight."""

from typing import Annotated, Any

import jax
import numpy as np
from pydantic import Field

from saccade.errors import require
from saccade.lab.calculator import calculator
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.calculators import inputs
from saccade.studies.sparse_recovery.calculators.inputs import Matrix, Measurements, Record, Vector
from saccade.studies.sparse_recovery.dynamics import solvers
from saccade.studies.sparse_recovery.models import steps

X = [[1.0, 0.5, -0.3], [0.2, -1.0, 0.4]]
Y = [1.0, -0.5]
RECORDED = {"steps": "the recorded step numbers, as asked for"}
BOUNDS = {"ista": theory.ista_bound, "fista": theory.fista_bound}


@calculator(
    "sparse-recovery.soft-threshold", outputs={"value": "as u"}, source="definition",
    example={"u": [1.5, -0.2, -3.0], "threshold": 0.5})
def soft_threshold(
    u: Annotated[
        float | Vector | Matrix, Field(description="a number, a list, or a list of lists")],
    threshold: Annotated[
        float | Vector,
        Field(description="threshold t, at least 0: one number, or one for each entry of u")],
) -> dict[str, Any]:
    """The soft threshold sign(u) max(|u| - t, 0)."""
    nested = isinstance(u, list) and any(isinstance(row, list) for row in u)
    values = inputs.array(u, "u", 2 if nested else int(isinstance(u, list)), "is ragged")
    t = np.asarray(threshold, float)
    require(bool((t >= 0).all()), "threshold", threshold, "must be at least 0")
    require(
        t.ndim == 0 or values.ndim == 0 or t.shape == values.shape[-1:], "threshold", threshold,
        "must be one number, or a list with one number for each entry of u")
    return {"value": np.where(np.abs(values) > t, values - np.sign(values) * t, 0.0)}


@calculator(
    "sparse-recovery.lasso",
    outputs={
        "coefficients": "the minimiser b", "objective": "its value",
        "gap": "duality gap, at least value - minimum",
        "lam_max": "|X^T y|_inf: from here on the solution is zero"},
    status="exact (active set)",
    source="standard; the method by saccade after Lee, Battle, Raina, Ng (2007)",
    example={"X": X, "y": Y, "lam": 0.1})
def lasso(problem: inputs.Penalised) -> dict[str, Any]:
    """A minimiser of 1/2 |y - Xb|^2 + lam |b|_1, up to rounding (for lam = 0 the least-squares
    solution of least length)."""
    (X, y), lam = problem.arrays(), problem.lam
    b = solvers.solve_exactly(X, y, lam)
    return {
        "coefficients": b, "objective": theory.lasso_objective(X, y, b, lam),
        "gap": theory.duality_gap(X, y, b, lam), "lam_max": theory.lam_max(X, y)}


@calculator(
    "sparse-recovery.iterates",
    outputs={
        **RECORDED, "coefficients": "one list a recorded step", "gap": "duality gap at each",
        "objective": "1/2 |y - Xb|^2 + lam |b|_1 at each", "lipschitz": "L = |X|_2^2"},
    source="Beck and Teboulle (2009)",
    example={"algorithm": "fista", "X": X, "y": Y, "lam": 0.1, "record": [0, 1, 10]})
def iterates(
    problem: inputs.Penalised, record: Record,
    algorithm: Annotated[str, Field(description="ista or fista")],
) -> dict[str, Any]:
    """Iterates of ISTA or FISTA from b = 0 with step 1/|X|_2^2."""
    run = solvers.iterates(algorithm, *problem.arrays(), problem.lam, record)
    return {"steps": record, **run._asdict()}


@calculator(
    "sparse-recovery.rates",
    outputs={
        **RECORDED, "ista_gap": "F(b_k) - F*", "fista_gap": "F(b_k) - F*",
        "ista_bound": "L |b*|^2/(2k); null at k = 0, where nothing is promised",
        "fista_bound": "2 L |b*|^2/(k+1)^2", "minimum": "F*", "lipschitz": "L = |X|_2^2"},
    status="bound", source="Beck and Teboulle (2009), Theorems 3.1 and 4.4",
    example={"X": X, "y": Y, "lam": 0.1, "record": [1, 10, 100]})
def rates(problem: inputs.Penalised, record: Record) -> dict[str, Any]:
    """How far ISTA and FISTA are from the minimum, and how far theory lets them be."""
    (X, y), lam = problem.arrays(), problem.lam
    best = solvers.solve_exactly(X, y, lam)
    lowest, distance = theory.lasso_objective(X, y, best, lam), np.linalg.norm(best)
    answer: dict[str, Any] = {"steps": record, "minimum": lowest}
    for name, bound_of in BOUNDS.items():
        run = solvers.iterates(name, X, y, lam, record)
        bound = bound_of(np.asarray(record), run.lipschitz, distance).tolist()
        answer[f"{name}_gap"] = np.maximum(run.objective - lowest, 0.0)
        answer[f"{name}_bound"] = [None if value == np.inf else value for value in bound]
        answer["lipschitz"] = run.lipschitz
    return answer


@calculator(
    "sparse-recovery.alista-weight",
    outputs={
        "W": "row by coordinate, as X", "objective": "|W^T X|_F^2",
        "coherence": "largest off-diagonal |w_i^T x_j|"},
    source="Liu, Chen, Wang, Yin (2019); closed form by saccade", example={"X": X})
def alista_weight(X: Measurements) -> dict[str, Any]:
    """ALISTA's weight: the W with w_j^T x_j = 1 that minimises |W^T X|_F^2, in closed form. A
    zero column gets a zero weight."""
    matrix = inputs.rows_of(X)
    W = np.asarray(jax.jit(steps.alista_weight)(matrix))
    return {
        "W": W, "objective": theory.frobenius_objective(W, matrix),
        "coherence": theory.coherence(W, matrix)}
