"""Claims on the reduction: the invariant subspace, the six-number map, the second step, the
two-number map, and the step size at which batches leave the maps."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, ESTIMATE, IDENTITY
from saccade.studies.group_sparse.claims import answers, claim
from saccade.studies.group_sparse.dynamics import designs
from saccade.studies.group_sparse.experiments import maps, reduction, steps
from saccade.studies.group_sparse.theory import laws, stability

NOT_ORTHOGONAL = Sabotage(
    "random-encodings", "Random encodings: P^T P is not c I.", {"encodings": "random"})
UNIT_ENCODINGS = Sabotage(
    "unit-encodings", "One-hot encodings of length one.",
    {"encodings": "one-hot", "norm_squared": 1.0})
_on_symmetric_sample = partial(
    claim, kind=IDENTITY, experiment=reduction.symmetric_gradient, resolution=1e-12,
    scales={"quick": Scale(seconds=4)}, sabotages=(NOT_ORTHOGONAL,))

INVARIANT = _on_symmetric_sample(
    "group-sparse.invariant-subspace", "GS-D1",
    "From zero, population descent keeps v2 = W12 = W21 = 0, W11 in two numbers and the position"
    " scores in five.",
    "On a sample closed under the symmetries (1920 points) the population argument is exact;"
    " rounding is near 1e-15.",
    "Symmetry alone kills v2, W12 and W21 and leaves six free numbers, whatever the step size.",
    source="ours; contains Lemma 5.1 and v2 = 0 of Lemma 5.2",
    citation=answers("Lemma 5.2", "v_2^{(T*)} = 0"),
    measure=lambda run: one_row(run.data.outside.values), parts=reduction.BLOCKS,
    sabotages=(
        NOT_ORTHOGONAL,
        Sabotage(
            "plain-sample", "A sample that is not closed under the symmetries.",
            {"symmetric": False})))


def _relative(run: Run, name: str, road: str) -> np.ndarray:
    """The gradient over its largest component, and the loss."""
    gradient = run.data[name].values / np.abs(run.data.projected.values).max()
    return np.append(gradient, run.data.loss.sel(road=road).values)


REDUCED = _on_symmetric_sample(
    "group-sparse.reduced-gradient", "GS-D1",
    "The gradient of the full layer, projected on the invariant subspace, is the preconditioned"
    " reduced gradient; the losses are the same.",
    "The same sample through two programs; relative to the largest component.", source="ours",
    measure=lambda run: one_row(_relative(run, "projected", "layer")),
    predict=lambda run: _relative(run, "reduced", "reduced"), parts=(*maps.COORDINATES, "loss"))


def _ahead(run: Run) -> np.ndarray:
    """How far batches are ahead of the map, relative to it: alpha, gap, attention, loss."""
    return run.data.full.values / run.data.reduced.values.mean(axis=0) - 1


_on_engines = partial(claim, source="ours", experiment=maps.two_engines, statistic="mean")

ENGINES = _on_engines(
    "group-sparse.two-engines", "GS-D2",
    "The six-number map and descent of every weight with fresh batches reach the same alpha, gap,"
    " attention and loss, sigma = 1.2.",
    "Relative differences; batches of 500 add a bias of order 1/500 and the map's own draws"
    " scatter by 0.2 %; the loss is judged on 1000 samples a run, which leaves 1.5 %.",
    kind=ESTIMATE, measure=_ahead, resolution=[0.02, 0.02, 0.02, 0.1],
    parts=("alpha", "gap", "attention", "loss"),
    scales={
        "quick": Scale({"scale": 1.2}, repetitions=2, seconds=10),
        "standard": Scale({"scale": 1.2}, repetitions=2, seconds=120),
        "paper": Scale({"scale": 1.2}, seconds=900)},
    sabotages=(UNIT_ENCODINGS,))


def _second_step_theory(run: Run, factor: float = 1.0, isotropic: bool = False) -> np.ndarray:
    p = run.parameters
    rows = [laws.two_steps(groups, factor * eta, p.scale) for groups, eta in p.cases]
    return np.array(
        [[row.alpha, row.gap, row.a, row.a if isotropic else row.b] for row in rows]).ravel()


SECOND_STEP = claim(
    "group-sparse.second-step", "GS-D3",
    "After two steps alpha, A, a and b have the closed form (sigma = 1.3); A(2) = eta^2 sigma^2 c^2"
    " / (2 pi D) and b(2) = 0.",
    "5 % of each number, or 0.04 where it is small; 32 x 4000 samples a block have standard errors"
    " below 0.005.", source="ours", status="quadrature", kind=ESTIMATE,
    experiment=reduction.second_step,
    measure=lambda run: run.data.state.stack(all=("case", "name")).values,
    predict=_second_step_theory,
    resolution=lambda run: np.maximum(0.05 * np.abs(_second_step_theory(run)), 0.04),
    statistic="mean",
    parts=tuple(f"{name}, case {case}" for case in (1, 2) for name in ("alpha", "A", "a", "b")),
    scales={"quick": Scale(repetitions=8, seconds=8), "standard": Scale(repetitions=2, seconds=60)},
    sabotages=(
        Sabotage(
            "step-size", "Predict with a step 10 % larger.",
            predict=lambda run: _second_step_theory(run, 1.1)),
        Sabotage(
            "isotropic", "Predict W11 = a I: b like a.",
            predict=lambda run: _second_step_theory(run, isotropic=True)),
        Sabotage("correlated", "Groups correlated by 0.5.", {"correlation": 0.5}), UNIT_ENCODINGS))

TWO_NUMBERS = claim(
    "group-sparse.two-number-map", "GS-D2",
    "The position-only layer moves in two numbers, and its two-dimensional expectation collapses"
    " to one dimension.",
    "A product rule of 160 x 160 nodes on the definition is good to 1e-10 or better while alpha D"
    " stays below 15.", source="ours", status="quadrature", kind=IDENTITY,
    experiment=maps.position_quadrature, measure=lambda run: one_row(run.data["map"].values),
    predict=lambda run: run.data.plain.values.ravel(), resolution=1e-9,
    scales={"quick": Scale(seconds=2)},
    sabotages=(Sabotage(
        "frozen-attention", "Leave attention uniform in the plain recursion.", {"fixed": True}),))


def _curvature_ratio(run: Run, at: tuple[float | None, float | None] = (None, None)) -> np.ndarray:
    """Measured over predicted (two over the limit of the step size), at the states of the map, or
    with another alpha or gap."""
    columns = [run.data[name].values for name in ("groups", "alpha", "gap")]
    limits = []
    for D, *state in zip(*columns, strict=True):
        alpha, gap = (own if other is None else other for own, other in zip(state, at))
        limits.append(stability.transverse_limit(int(D), None, alpha, gap, run.parameters.scale))
    return run.data.curvature.values * np.array(limits) / 2


CURVATURE = claim(
    "group-sparse.transverse-curvature", "GS-T4",
    "Along v2 = P q the loss has the curvature c D^2 |q|^2 E[sigmoid'(alpha D sigma |q| x)],"
    " largest in mid-training.",
    "Relative; 32 x 2000 samples leave less than 1 % (5 % of each replicate at the last state).",
    "The step size at which batches lose v2 = 0 falls along a run, from 16/(D(D+1)) at the start"
    " to two thirds of it at D = 16.", source="ours", status="quadrature", kind=ESTIMATE,
    experiment=reduction.transverse_curvature, measure=_curvature_ratio, predict=lambda run: 1.0,
    resolution=0.03, statistic="mean", parts=("step 2", "step 68", "step 600"),
    scales={"quick": Scale(repetitions=8, seconds=8), "standard": Scale(seconds=20)},
    sabotages=(
        Sabotage(
            "at-the-start", "The curvature of the zero start instead.",
            measure=lambda run: _curvature_ratio(run, at=(0.0, 0.0))),
        Sabotage(
            "all-attention", "As if all attention were on the relevant group: |q| = 1.",
            measure=lambda run: _curvature_ratio(run, at=(None, 30.0)))))


def _limits(run: Run, scale: float | None = None) -> list[float]:
    """2 / `transverse_limit` at every state, then `transverse_curvature`, perhaps of another
    scale."""
    p = run.parameters
    c, sigma = p.norm_squared, scale or p.scale
    later = p.states[1:]
    return [
        2 / stability.transverse_limit(3, c),
        *(2 / stability.transverse_limit(3, c, alpha, gap, sigma) for alpha, gap in later),
        *(stability.transverse_curvature(3, alpha, gap, sigma, c) for alpha, gap in later)]


ANY_LENGTH = claim(
    "group-sparse.transverse-curvature-of-any-length", "GS-T4",
    "For encodings of another squared length c, the curvature of the population loss along v2 = P q"
    " is that of the closed form, c D/4 at the start: D = 3, c = 2.3, sigma = 1.3, encodings of"
    " five dimensions.",
    "No chance: a product rule of 32 x 16 x 16 nodes on either side of the label is good to 1e-10.",
    source="ours", status="quadrature", kind=IDENTITY, experiment=steps.curvature_by_rule,
    measure=lambda run: one_row(run.data.curvature.values[[0, 1, 2, 1, 2]]), predict=_limits,
    resolution=1e-8,
    parts=(
        "limit at the start", "limit at A = 0.9", "limit at A = -0.7", "curvature at A = 0.9",
        "curvature at A = -0.7"),
    scales={"quick": Scale(seconds=2)},
    sabotages=(
        Sabotage("one-code", "Along the code of the deciding group alone.", {"alone": True}),
        Sabotage("sigma-1", "Predict for sigma = 1.", predict=lambda run: _limits(run, scale=1.0))))

CONTROL = claim(
    "group-sparse.control-variate", "GS-D2",
    "What the six-number map subtracts, the position-only layer on its own draws, has the"
    " expectation that it adds: loss and gradient, sigma = 1.3; the parts across v* have the square"
    " (d-1) sigma^2.",
    "512 designs of 222 samples leave 0.001 to 0.004 (0.006 of the square); the gradient has"
    " sizes of 0.1 to 1.", source="ours", status="quadrature", kind=ESTIMATE,
    experiment=reduction.control_variate, measure=lambda run: run.data.sampled.values,
    predict=lambda run: run.data.expected.values, resolution=[*[0.03] * 9, 0.06], statistic="mean",
    parts=tuple(f"of {name}" for name in ("loss", *maps.COORDINATES, "square across v*")),
    scales={"quick": Scale(repetitions=4, seconds=3)},
    sabotages=(Sabotage(
        "other-state", "The expectation at another alpha, gap and sign of the orthogonal part.",
        {"alpha_factor": 2.0, "gap_shift": -1.5, "skew": 0.5}),))


def _added(run: Run, scale: float | None = None, gap: float | None = None) -> np.ndarray:
    """What the six-number map adds again; without b, which is zero."""
    p = run.parameters
    loss, slope = designs.expected_control(p.alpha, gap or p.gap, 4, scale or p.scale)
    return np.append(float(loss), np.delete(np.asarray(slope), 2))


ADDED = claim(
    "group-sparse.control-by-quadrature", "GS-D2",
    "The expected loss and gradient of the position-only layer that the six-number map adds are"
    " those of a product rule over the signals of all four groups, score by score.",
    "The graded nodes leave 1e-6 in a, rounding in the rest.", source="ours", status="quadrature",
    kind=IDENTITY, experiment=reduction.control_by_quadrature,
    measure=lambda run: one_row(run.data.number.values), predict=_added, resolution=1e-5,
    parts=tuple(f"of {name}" for name in reduction.CONTROLLED), scales={"quick": Scale(seconds=1)},
    sabotages=(
        Sabotage("sigma-1", "Predict for sigma = 1.", predict=lambda run: _added(run, scale=1.0)),
        Sabotage("other-gap", "Predict for a gap of 1.", predict=lambda run: _added(run, gap=1.0))))

ABOVE_LIMIT = _on_engines(
    "group-sparse.batches-leave-above-limit", "GS-D2",
    "Above the transverse limit descent with batches leaves the six-number map: alpha runs ahead"
    " by more than 5 %.",
    "D = 6: the limit is 0.38 at the start and 0.37 where s = 0.65; eta = 0.6 is above both. At D"
    " = 8 and eta = 0.3 the excess was 13 % with batches of 250 and 10 % with 1000.",
    "At d = 20, D = 16, eta = 0.05 (limit 0.039) alpha is 14 % ahead of the map with batches of"
    " 250; at eta = 0.03 the excess is 2 % and falls as one over the batch.", status="heuristic",
    kind=ABOVE, measure=lambda run: _ahead(run)[:, 0], predict=lambda run: 0.05, resolution=0.0,
    scales={"quick": Scale(
        {"groups": 6, "step_size": 0.6, "steps": 60, "batch": 100}, repetitions=2, seconds=15)},
    sabotages=(Sabotage(
        "below-the-limit", "eta = 0.2 for three times as long.",
        {"step_size": 0.2, "steps": 180}),))
