"""Claims on the reduction: the invariant subspace, the six-number map, the second step, the
two-number map."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, IDENTITY
from saccade.studies.group_sparse import theory
from saccade.studies.group_sparse.experiments import reduction

NOT_ORTHOGONAL = Sabotage(
    "random-encodings", "Random encodings: P^T P is not c I.", parameters={"encodings": "random"})

INVARIANT = Claim(
    id="group-sparse.invariant-subspace", spec="GS-D1",
    statement=(
        "From zero, population descent keeps v2 = W12 = W21 = 0, W11 in two numbers and the"
        " position scores in five."),
    source="ours; contains Lemma 5.1 and v2 = 0 of Lemma 5.2", status="exact", kind=IDENTITY,
    experiment=reduction.symmetric_gradient, measure=lambda run: one_row(run.data.outside.values),
    predict=lambda run: np.zeros(5), resolution=1e-12,
    argued=(
        "On a sample closed under the symmetries (1920 points) the population argument is exact;"
        " rounding is near 1e-15."),
    parts=reduction.BLOCKS, scales={"quick": Scale(seconds=4)},
    finding=(
        "Symmetry alone kills v2, W12 and W21 and leaves six free numbers, whatever the step size."
    ),
    sabotages=(NOT_ORTHOGONAL,))


def _scaled(run: Run, name: str) -> np.ndarray:
    return run.data[name].values / np.abs(run.data.projected.values).max()


REDUCED = Claim(
    id="group-sparse.reduced-gradient", spec="GS-D1",
    statement=(
        "The gradient of the full layer, projected on the invariant subspace, is the preconditioned"
        " reduced gradient."),
    source="ours", status="exact", kind=IDENTITY, experiment=reduction.symmetric_gradient,
    measure=lambda run: one_row(_scaled(run, "projected")),
    predict=lambda run: _scaled(run, "reduced"), resolution=1e-12,
    argued="The same sample through two programs; relative to the largest component.",
    parts=("alpha", "a", "b", "m_ss", "m_so", "m_os", "m_dd", "m_oo"),
    scales={"quick": Scale(seconds=4)}, sabotages=(NOT_ORTHOGONAL,))


def _engine_ratio(run: Run) -> np.ndarray:
    return run.data.full.values / run.data.reduced.values.mean(axis=0) - 1


ENGINES = Claim(
    id="group-sparse.two-engines", spec="GS-D2",
    statement=(
        "The six-number map and descent of every weight with fresh batches reach the same alpha,"
        " gap and attention."),
    source="ours", status="exact", kind=ESTIMATE, experiment=reduction.two_engines,
    measure=_engine_ratio, predict=lambda run: np.zeros(3), resolution=0.02,
    argued=(
        "Relative differences; batches of 500 add a bias of order 1/500 and the map's own draws"
        " scatter by 0.2 %."),
    statistic="mean", parts=("alpha", "gap", "attention"),
    scales={
        "quick": Scale(repetitions=2, seconds=10), "standard": Scale(repetitions=2, seconds=120),
        "paper": Scale(seconds=900)},
    sabotages=(Sabotage(
        "unit-encodings", "One-hot encodings of length one.",
        {"encodings": "one-hot", "norm_squared": 1.0}),))


def _second_step(run: Run) -> np.ndarray:
    values = run.data.state.values
    return values.reshape(len(values), -1)


def _second_step_theory(run: Run, factor: float = 1.0) -> np.ndarray:
    rows = [
        theory.two_steps(groups, factor * step_size) for groups, step_size in run.parameters.cases]
    return np.array([[row.alpha, row.gap, row.a, row.b] for row in rows]).ravel()


SECOND_STEP = Claim(
    id="group-sparse.second-step", spec="GS-D3",
    statement=(
        "After two steps alpha, A, a and b have the closed form; A(2) = eta^2 sigma^2 c^2 / (2 pi"
        " D) and b(2) = 0."),
    source="ours", status="quadrature", kind=ESTIMATE, experiment=reduction.second_step,
    measure=_second_step, predict=_second_step_theory,
    resolution=lambda run: np.maximum(0.05 * np.abs(_second_step_theory(run)), 0.04),
    argued=(
        "5 % of each number, or 0.04 where it is small; 32 x 4000 samples a block have standard"
        " errors below 0.005."),
    statistic="mean",
    scales={"quick": Scale(repetitions=8, seconds=8), "standard": Scale(repetitions=2, seconds=60)},
    sabotages=(
        Sabotage(
            "step-size", "Predict with a step 10 % larger.",
            predict=lambda run: _second_step_theory(run, 1.1)),
        Sabotage(
            "unit-encodings", "One-hot encodings of length one.",
            {"encodings": "one-hot", "norm_squared": 1.0})))

TWO_NUMBERS = Claim(
    id="group-sparse.two-number-map", spec="GS-D2",
    statement=(
        "The position-only layer moves in two numbers, and its two-dimensional expectation"
        " collapses to one dimension."),
    source="ours", status="quadrature", kind=IDENTITY, experiment=reduction.position_quadrature,
    measure=lambda run: one_row(run.data["map"].values),
    predict=lambda run: run.data.plain.values.ravel(), resolution=1e-9,
    argued=(
        "A product rule of 160 x 160 nodes on the definition is good to 1e-10 or better while alpha"
        " D stays below 15."),
    scales={"quick": Scale(seconds=2)},
    sabotages=(Sabotage(
        "frozen-attention", "Leave attention uniform in the plain recursion.", {"fixed": True}),))
