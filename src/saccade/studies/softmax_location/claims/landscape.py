"""Claims on fixed points: convergence on the manifold, stability of the truth, and the tilted
swapped state with its window."""

from functools import cache, partial

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, ESTIMATE, IDENTITY
from saccade.studies.softmax_location import theory
from saccade.studies.softmax_location.claims import answers, changed, claim, quick
from saccade.studies.softmax_location.experiments import descent, states
from saccade.studies.softmax_location.theory import FINE, Setting

CONVERGES = claim(
    id="softmax-location.manifold-convergence", spec="SM-6",
    statement="On the manifold every start of the open square converges to the truth itself: no"
    " sign condition, no twin at (-1, -1).",
    citation=answers(
        "Theorem 5", "for a generic initialization (k0, v0) in M, (kt, vt) -> +-(k*, v*)"),
    status="quadrature", kind=IDENTITY, experiment=descent.manifold_descent,
    measure=lambda run: one_row(np.abs(run.data.overlap.values[:, :, :2] - 1).max(axis=1)),
    resolution=1e-9,
    argued="12,000 steps of 0.1 leave nothing: 1e-15 was found. Small steps are a condition.",
    parts=("kappa d=400", "nu d=400", "kappa d=20", "nu d=20"), scales=quick(seconds=3),
    sabotages=(
        changed("opposite-key", "Start at kappa = -1, which is a fixed point.", first_kappa=-1.0),
        changed("erf", "Descend the risk of erf, which has the twin.", kind="erf")))

STABLE = claim(
    id="softmax-location.truth-is-minimum", spec="SM-7",
    statement="At gamma^2 up to 1 the truth is a strict local minimum at every inverse temperature"
    " tried: 150 random settings, L from 2 to 1000, lambda from 0.02 to 3.",
    citation=answers(
        "Section 5",
        "a fruitful direction would be to investigate the (local) stability of the manifold M"),
    status="quadrature", kind=BELOW, experiment=states.oracle_turns,
    measure=lambda run: one_row(run.data.rate.values.max()), resolution=0.0,
    argued="The rate is -1 where the two turns do not mix and 0 at the edge; differences of the"
    " velocity are good to 1e-6. No theorem: a scan.", scales=quick({"count": 150}, seconds=1),
    finding="Softmax has no critical inverse temperature at gamma^2 = 1/2, where erf has one at"
    " 0.892; at gamma = 3.5 a window of instability opens.",
    sabotages=(changed("erf", "The risk of erf: unstable above its critical value.", kind="erf"),))


def _hessian_errors(run: Run, gamma: float | None = None) -> np.ndarray:
    """Largest relative differences of -turns and the Hessian: along eta, along theta, mixed."""
    errors = []
    for row, turns in zip(run.data.setting.values, -run.data.turns.values, strict=True):
        h = theory.oracle_hessian(Setting(*row[:3], gamma=row[3] if gamma is None else gamma))
        mixed = (turns[0, 1] - h.theta_eta) / np.sqrt(h.theta_theta * h.eta_eta)
        errors.append([turns[0, 0] / h.eta_eta - 1, turns[1, 1] / h.theta_theta - 1, mixed])
    return one_row(np.abs(errors).max(axis=0))


HESSIAN = claim(
    id="softmax-location.transverse-hessian", spec="SM-7",
    statement="The transverse Hessian at the truth, in both of its forms, is the derivative of the"
    " descent's velocity, over 150 random settings.", status="quadrature", kind=BELOW,
    experiment=states.oracle_turns, measure=_hessian_errors, resolution=2e-5,
    argued="Differences over 1e-4: the error is of order 1e-8 d.",
    parts=("along eta", "along theta", "mixed"), scales=quick({"count": 150}, seconds=1),
    sabotages=(Sabotage(
        "one-gamma", "The Hessian at gamma^2 = 1/2 everywhere.",
        measure=lambda run: _hessian_errors(run, 2**-0.5)),))


def _edges(run: Run, more: float = 0.0, gamma: float = 3.5) -> list[float]:
    """The ends of the first window as it is searched for, of the others between their brackets;
    the beginning of one that is open; maybe with `more` tokens."""
    dim, length, *_ = states.UNSTABLE[0]
    low, high = theory.unstable_window(dim, length + more, gamma)
    return (
        [low or np.nan, high or np.nan]
        + [
            theory.root_between(
                partial(theory.instability, task=(dim, length + more, gamma)), low, high)
            for dim, length, low, high in states.UNSTABLE[2:]]
        + [_begins(more)])


def _begins(more: float) -> float:
    """Of the window that goes on beyond the grid it is searched on, at gamma = 30."""
    dim, length, *_ = states.OPEN
    low, high = theory.unstable_window(dim, length + 1e6 * more, 30.0)
    return low if low and high is None else np.nan


WINDOW = claim(
    id="softmax-location.unstable-window", spec="SM-7",
    statement="At gamma = 3.5 the truth is no local minimum in a window of inverse temperatures,"
    " where the transverse Hessian says; at gamma = 30 and 1e8 tokens in one that is open, beyond"
    " lambda = 60/gamma.", status="quadrature", kind=IDENTITY, experiment=states.instability_edges,
    measure=lambda run: one_row(run.data.inverse_temperature.values), predict=_edges,
    resolution=1e-6, argued="Differences over 1e-4 have an error of 1e-8.",
    parts=tuple(
        f"d={c[0]:g} L={c[1]:g} {side}"
        for c, side in zip(
            (*states.UNSTABLE, states.OPEN), ("low", "high") * 3 + ("low",), strict=True)),
    sabotages=(
        changed(
            "smaller-gamma", "Differences at gamma = 3.4 and 29, Hessian at 3.5 and 30.", gamma=3.4,
            wide=29.0),
        Sabotage(
            "two-tokens-more", "The Hessian with two tokens more (of 1e8, two millions more) than"
            " the differences have.", predict=lambda run: _edges(run, 2.0))))


def saturated_law(run: Run, pairs: bool = True) -> np.ndarray:
    settings = [Setting(*case, gamma=run.parameters.gamma) for case in run.parameters.cases]
    return np.array([
        theory.saturated_curvature(s if pairs else s._replace(length=2.0))
        * (1 if pairs else s.others) for s in settings])


SATURATED = claim(
    id="softmax-location.saturated-curvature", spec="SM-7",
    statement="Where softmax is saturated, turning k towards v* costs 2 N exp(-2 lambda m) C with C"
    " > 0 in closed form: no large lambda is critical.", status="asymptotic", kind=ESTIMATE,
    experiment=states.oracle_curvature,
    measure=lambda run: one_row(run.data.curvature.values / saturated_law(run)),
    predict=lambda run: [1.0] * 5, resolution=0.008,
    argued="Corrections are of relative order 1/d (saturated-approach): 0.5 % at most here.",
    parts=("400 10 .9", "400 10 1.5", "1600 10 .5", "1600 100 .8", "400 2 .9"),
    sabotages=(
        Sabotage(
            "no-pairs", "Leave out the pairs of other tokens.",
            measure=lambda run: one_row(run.data.curvature.values / saturated_law(run, False))),
        changed(
            "not-saturated", "Measure at lambda = 0.1 .. 0.2.",
            cases=(
                (400.0, 10.0, 0.1), (400.0, 10.0, 0.2), (1600.0, 10.0, 0.1), (1600.0, 100.0, 0.1),
                (400.0, 2.0, 0.1)))))


def _state(run: Run) -> np.ndarray:
    """State and risk, mirrored to eta > 0, and its largest growth rate."""
    flip = np.where(run.data.state.values[:, 3:4] < 0, [[1, 1, -1, -1, -1, 1]], 1)
    return one_row(
        np.concatenate([run.data.state.values * flip, run.data.rate.values[:, None]], axis=1))


def _swapped(run: Run) -> list[float]:
    rows = [
        theory.swapped_state(Setting(*case, gamma=run.parameters.gamma)) for case in states.SWAPPED]
    return [x for row in rows if row for x in (*row.overlaps, row.risk, -row.out_of_plane)]


NAMES = ("kappa", "nu", "theta", "eta", "rho", "risk", "rate")
TILTED = claim(
    id="softmax-location.swapped-state", spec="SM-11",
    statement="A tilted swapped state exists: both vectors in the plane of k* and v*, k near v*,"
    " and inside a window of lambda descent returns to it from any push.",
    citation=answers(
        "Appendix D.2, Figure 7b",
        "some initializations lead to a convergence to the point (kappa, nu) = (0, 0)"),
    status="quadrature", kind=IDENTITY, experiment=states.settled, measure=_state, predict=_swapped,
    resolution=2e-5,
    argued="The slowest mode decays at 0.0045: 6000 units of time leave exp(-27); at the edge of"
    " the plane a square root of rounding remains.",
    parts=tuple(f"{name} {where}" for where in ("d=100", "d=10") for name in NAMES),
    scales=quick(seconds=3),
    sabotages=(changed(
        "outside-the-window",
        "lambda = 2, outside the window: a small push leads to the truth.",
        cases=((100.0, 100.0, 2.0), (10.0, 10.0, 2.0))),))

BRACKETS = ((100.0, 100.0, 0.13, 0.2), (100.0, 100.0, 1.3, 1.6))
GAMMA = 0.8


@cache
def _searched(dim: float, length: float) -> list[float]:
    """The ends of a window as they are searched for."""
    ends = theory.swapped_window(dim, length, GAMMA)
    return [end.inverse_temperature if end else np.nan for end in ends]


def _window_edges(run: Run, more: float = 0.0) -> list[float]:
    """The ends of the first window between their brackets, and of the second; maybe with `more`
    tokens."""
    return [_one_edge(case, more) for case in BRACKETS] + _searched(10.0, 10.0 + more)


@cache
def _one_edge(case: tuple[float, float, float, float], more: float) -> float:
    dim, length, low, high = case
    task = dim, length + more, GAMMA
    state = theory.swapped_state(Setting(dim, length + more, (low * high) ** 0.5, GAMMA))
    if state is None:
        return float("nan")
    at = state.overlaps
    angles = np.array([np.arctan2(at.eta, at.kappa), np.arctan2(at.theta, at.nu)])
    return theory.root_between(lambda lam: theory.stability_at(lam, angles, task, FINE), low, high)


EDGES = claim(
    id="softmax-location.swapped-window", spec="SM-11",
    statement="The window of the swapped state ends where a push out of the plane starts to grow:"
    " where the 2 x 2 matrix [[-s_k, R_rho], [R_rho, -s_v]] loses definiteness (gamma = 0.8).",
    status="quadrature", kind=IDENTITY, experiment=states.swapped_edges,
    measure=lambda run: one_row(run.data.inverse_temperature.values), predict=_window_edges,
    resolution=1e-5, argued="Growth rates by differences over 1e-5 are good to 1e-9.",
    parts=("(100, 100) low", "(100, 100) high", "(10, 10) low", "(10, 10) high"),
    scales=quick(seconds=2),
    sabotages=(
        Sabotage(
            "one-token-more", "The matrix with one token more than the differences have.",
            predict=lambda run: _window_edges(run, 1.0)),
        changed("other-gamma", "Differences at gamma = 0.82.", gamma=0.82)))
