"""Claims on states and ends of the exact maps: loss and forces by their definition, the words for
how runs end, and what runs say when they diverge."""

import numpy as np
from scipy.special import expit, ndtr

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.group_sparse.claims import claim
from saccade.studies.group_sparse.experiments import maps, states
from saccade.studies.group_sparse.theory import position, reduction


def _answers(run: Run) -> list[float]:
    """`position_loss` at every state."""
    told = [
        position.position_loss(D, alpha, gap, scale)
        for D, alpha, gap, scale in run.parameters.states]
    return [getattr(one, name) for one in told for name in states.ANSWERS]


STATES = claim(
    "group-sparse.position-loss", "GS-D2",
    "Loss, forces and attention of the position-only layer at any alpha, gap and scale are those of"
    " a two-dimensional quadrature of the definition.",
    "160 x 160 nodes are good to 1e-10 while alpha D stays below 15.", source="ours",
    status="quadrature", kind=IDENTITY, experiment=states.position_states,
    measure=lambda run: one_row(run.data.plain.values), predict=_answers, resolution=1e-9,
    parts=tuple(f"{name}, D={state[0]}" for state in states.STATES for name in states.ANSWERS),
    scales={"quick": Scale(seconds=1)},
    sabotages=(Sabotage("one-more-group", "The definition with one group more.", {"more": 1}),))

ROUND_TRIP = claim(
    "group-sparse.coordinates-round-trip", "GS-D1",
    "Any eight coordinates, made into the weights of a layer and read off again, are themselves"
    " (encodings of another length, a direction off the axes).", "Rounding.", source="ours",
    kind=IDENTITY, experiment=states.round_trip, measure=lambda run: one_row(run.data.back.values),
    predict=lambda run: run.data.point.values, resolution=1e-12, parts=maps.COORDINATES,
    scales={"quick": Scale(seconds=1)},
    sabotages=(
        Sabotage("other-group", "Read off for the first group.", {"relevant": 0}),
        Sabotage("other-direction", "Along (2, 1, 2).", {"direction": (2.0, 1.0, 2.0)})))


def _gaps(run: Run, groups: int = 5, order: int = 1) -> list[float]:
    """A, B and C of coordinates made from those of the run, then two column sums of their scores;
    from orbits in the other `order`, for another number of groups."""
    ss, so, os_, dd, oo = run.data.point.values[3:][::order]
    made = reduction.coordinates_from_gaps(groups, A=ss - os_, B=so - oo, C=dd - oo)
    columns = np.asarray(reduction.position_scores(made[3:], 5, 2)).sum(axis=0)
    return [*map(float, reduction.gaps(made)), columns[2], columns[0]]


GAPS = claim(
    "group-sparse.gaps-round-trip", "GS-D1",
    "The gaps A = m_ss - m_os, B = m_so - m_oo and C = m_dd - m_oo, made into position scores whose"
    " columns sum to zero, are read off again.", "Rounding.", source="ours", kind=IDENTITY,
    experiment=states.round_trip,
    measure=lambda run: one_row(
        [*(run.data.point.values[[3, 4, 6]] - run.data.point.values[[5, 7, 7]]), 0.0, 0.0]),
    predict=_gaps, resolution=1e-12,
    parts=("A", "B", "C", "column of the relevant query", "column of another"),
    scales={"quick": Scale(seconds=1)},
    sabotages=(Sabotage(
        "mixed-up", "From the orbits in reverse order, and for six groups.",
        predict=lambda run: _gaps(run, 6, -1)),))

WORDS = {"groups": (64,), "step_sizes": (0.002, 0.1, 0.5, 2.0), "scales": (1.5,), "steps": 800}
ENDINGS = claim(
    "group-sparse.endings-named", "GS-T2d",
    "At D = 64 and sigma = 1.5 runs of 800 steps are called concentrating at eta = 0.002 (slow) and"
    " 0.1, locked out at 0.5 and locked at 2.", "A word is right or wrong.", source="ours",
    status="heuristic", kind=IDENTITY, experiment=maps.regimes,
    measure=lambda run: one_row(run.data.regime.values.astype(float)),
    predict=lambda run: [0.0, 0.0, 2.0, 1.0], resolution=0.0,
    parts=tuple(f"eta={eta}" for eta in WORDS["step_sizes"]),
    scales={"quick": Scale(WORDS, seconds=2)}, figure="group-sparse/regimes",
    sabotages=(Sabotage(
        "from-the-largest", "The step sizes from the largest down.",
        {"step_sizes": WORDS["step_sizes"][::-1]}),))

STANDING = claim(
    "group-sparse.standing-runs-named", "GS-T2d",
    "A run whose gap stands is called locked where its 1 - S is below the late law of its own scale"
    " and concentrating (slowly) where it is above: sigma = 0.3 and 4, 3 % to either side.",
    "A word is right or wrong; the law of sigma = 1 is a tenth and more away.", source="ours",
    status="heuristic", kind=IDENTITY, experiment=states.standing_runs,
    measure=lambda run: one_row(run.data.regime.values.astype(float)),
    predict=lambda run: [1.0, 0.0, 1.0, 0.0], resolution=0.0,
    parts=tuple(f"sigma={s}, {side}" for s in (0.3, 4) for side in ("below", "above")),
    scales={"quick": Scale(seconds=1)},
    sabotages=(
        Sabotage("sigma-1", "Named by the law of sigma = 1.", {"told": 1.0}),
        Sabotage("longer", "Named as runs of 8000 steps.", {"told_steps": 8000})))

NEAR = ("rise", "rise, low", "gap", "loss, standing", "loss, rising", "rise of zero")
THRESHOLDS = claim(
    "group-sparse.words-at-thresholds", "GS-T2d",
    "The words change where they should: between standing and rising at half of the rise of the"
    " late law from a quarter of the time on; to locked out where the group's odds are half of"
    " uniform attention's; to unstable at the loss of guessing, or where 1 - S is above"
    " the law and the gap falls.", "A word is right or wrong, 1 % to either side.", source="ours",
    status="heuristic", kind=IDENTITY, experiment=states.words_near_thresholds,
    measure=lambda run: one_row(run.data.regime.values.astype(float).ravel()),
    predict=lambda run: [1.0, 0.0, 2.0, 0.0, 0.0, 2.0, 1.0, 3.0, 0.0, 3.0, 3.0, 0.0],
    resolution=0.0, parts=tuple(f"{what}, {side}" for what in NEAR for side in ("less", "more")),
    scales={"quick": Scale(seconds=1)},
    sabotages=(
        Sabotage("exchanged", "The sides exchanged.", {"sides": (1.01, 0.99)}),
        Sabotage("a-fifth", "The rise from a fifth of the time on.", {"earlier": 5}),
        Sabotage("two-fifths", "Odds of two fifths of uniform attention's.", {"odds": 0.4}),
        Sabotage("three-classes", "The loss of guessing among three.", {"classes": 3})))

REPORTS = claim(
    "group-sparse.runs-report-divergence", "GS-D2",
    "The two-number map, the six-number map and descent of every weight name a step size that takes"
    " them out of the finite numbers, and no other.", "Said or not said.", source="ours",
    kind=IDENTITY, experiment=states.run_reports,
    measure=lambda run: one_row(run.data.advised.values),
    predict=lambda run: np.repeat([0.0, 1.0], 3), resolution=0.0,
    parts=tuple(
        f"{engine}, eta={eta}" for eta in ("0.3", "1e200")
        for engine in ("two numbers", "six numbers", "every weight")),
    scales={"quick": Scale(seconds=3)},
    sabotages=(Sabotage("exchanged", "The large step first.", {"step_sizes": (1e200, 0.3)}),))

ENGINES = ("two numbers", "six numbers", "every weight")


def _started(run: Run, below: float = 0.0) -> list[float]:
    """After a step, at the start, the warnings above the rule and `below` it, and W11 at 0.4 of its
    speed after two steps."""
    alpha = run.parameters.step_size * run.parameters.scale / np.sqrt(2 * np.pi)
    return [
        alpha, 0.0, 0.0, 0.0, *[1.0] * 3, *[below] * 3, 0.4 * _second_feature(run) * (1 + below)]


def _second_feature(run: Run) -> float:
    """a(2) = eta alpha_1 sigma^2 ((D-1)/D) (E[p T] - sigma/(D sqrt(2 pi))) at D = 4, E over T = |u|
    + R with p = sigmoid(-alpha_1 T), by plain quadrature."""
    eta, sigma = run.parameters.step_size, run.parameters.scale
    alpha = eta * sigma / np.sqrt(2 * np.pi)
    x, w = np.polynomial.hermite_e.hermegauss(80)
    # |u| and R are rotated into T = 2 sigma x, whose density is tilted by P(u > 0 | T).
    weight = 2 * ndtr(x / np.sqrt(3)) * w / w.sum()
    pull = weight @ (expit(-alpha * 2 * sigma * x) * 2 * sigma * x)
    return eta * alpha * sigma**2 * 3 / 4 * (pull - sigma / (4 * np.sqrt(2 * np.pi)))


STARTED = claim(
    "group-sparse.run-starts", "GS-D2",
    "The six-number map starts at zero, has alpha = eta sigma/sqrt(2 pi) and nothing else after a"
    " step, in the order asked for; at 0.4 of its speed W11 has 0.4 a(2) after two; and every"
    " engine warns just above eta D sigma = 16, not below.", "Closed form; said or not said.",
    source="ours", kind=IDENTITY, experiment=states.run_starts,
    measure=lambda run: one_row(
        [*run.data.point.values.ravel(), *run.data.warned.values, run.data.slowed.values[0]]),
    predict=_started, resolution=[*[1e-12] * 10, 1e-9],
    parts=(
        "alpha after a step", "the rest after a step", "alpha at the start",
        "the rest at the start",
        *(f"{engine}, {side}" for side in ("above", "below") for engine in ENGINES),
        "W11 at 0.4 of its speed"),
    scales={"quick": Scale(seconds=3)},
    sabotages=(
        Sabotage("later", "Look after two and three steps.", {"record": (3, 2)}),
        Sabotage("kept", "A step size that keeps the rule.", {"over": 0.99}),
        Sabotage(
            "rule-of-12", "The rule with 12 in the place of 16.",
            predict=lambda run: _started(run, below=1.0))))
