"""Claims on the manifold: it is invariant, two overlaps suffice, five points are stationary."""

from functools import cache, partial

import jax
import numpy as np
from jaxtyping import ArrayLike

from saccade import gaussian
from saccade.lab.claim import Repair, Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, IDENTITY
from saccade.studies.single_location import dynamics, theory
from saccade.studies.single_location.claims import changed, claim, quick, recorded, setting, start
from saccade.studies.single_location.experiments import closed_forms, descent, states
from saccade.studies.single_location.theory import Overlaps, Setting

ON_MANIFOLD = {
    "start": "manifold", "inverse_temperature": 0.4, "decay": 0.0, "steps": 5000,
    "record_every": 500, "dim": 40}

INVARIANT = claim(
    "single-location.manifold-invariant", "SL-L4",
    "Started on the manifold k.v* = v.k* = k.v = 0, projected gradient descent stays on it.",
    source="Lemma 4", kind=BELOW, experiment=descent.full_descent,
    measure=lambda run: one_row(
        np.max(np.linalg.norm(recorded(run, ("theta", "eta", "rho")), axis=0))),
    resolution=1e-10,
    argued="Rounding of 1e-16 a step can grow along the unstable transverse mode of the origin"
    " (rate below 1) while the run passes there; 5000 steps of 2e-3 leave room for a factor"
    " exp(10).", scales=quick(ON_MANIFOLD, seconds=2), figure="4b",
    sabotages=changed("off-the-manifold", "Start anywhere on the sphere.", start="sphere"))


def _two_overlap_run(run: Run, half_gradient: bool = False) -> np.ndarray:
    p, (kappa, nu, *_) = run.parameters, start(run)
    step_size = p.step_size / 2 if half_gradient else p.step_size
    path = dynamics.manifold_trajectory(kappa, nu, setting(run), step_size, p.steps, p.record_every)
    return np.stack(path.overlaps[:2]).ravel()


TWO_OVERLAPS = claim(
    "single-location.two-overlap-map", "SL-L7",
    "On the manifold the descent in all dimensions is the stated map of (kappa, nu).",
    source="Lemma 7", kind=IDENTITY, experiment=descent.full_descent,
    measure=lambda run: one_row(recorded(run, ("kappa", "nu"))), predict=_two_overlap_run,
    resolution=1e-10,
    argued="Rounding of 1e-16 a step, amplified along the run's own unstable direction by at most a"
    " few thousand.", scales=quick(ON_MANIFOLD, seconds=2),
    sabotages=Sabotage(
        "half-the-step", "Iterate the map with half the step size.",
        predict=lambda run: _two_overlap_run(run, True)))


def _five_overlap_run(run: Run, gradient=theory.risk_gradient) -> np.ndarray:
    """The map step by step, cooled by hand, and the risk after the recorded steps."""
    p, state, kept = run.parameters, start(run), []
    step = _compiled_step(gradient)
    for t in range(p.steps):
        at = setting(run, p.inverse_temperature / (1 + p.decay * t))
        state = step(state, at, p.step_size)
        if (t + 1) % p.record_every == 0:
            kept.append([*state, theory.risk(state, at)])
    return np.moveaxis(np.array(kept), 0, -1).ravel()


@cache
def _compiled_step(gradient):
    return jax.jit(partial(dynamics.overlap_step, gradient=gradient))


def _without_zeta(overlaps: Overlaps, at: Setting) -> Overlaps:
    """The gradient if zeta itself, not only its slope, were not needed: d theta zeta left out."""
    full = theory.risk_gradient(overlaps, at)
    shift = at.inverse_temperature * (at.dim / 2) ** 0.5 * overlaps.kappa
    zeta = gaussian.zeta(shift, (at.inverse_temperature * at.gamma) ** 2)
    return full._replace(theta=full.theta - at.dim * overlaps.theta * zeta)


def _exactly_on_manifold(run: Run) -> Run:
    """The run with its transverse starts, zero up to rounding, set to zero."""
    zero = {f"first_{name}": 0 * run.data[f"first_{name}"] for name in ("theta", "eta", "rho")}
    return run._replace(data=run.data.assign(zero))


def _recorded_with_risk(run: Run) -> np.ndarray:
    return one_row(recorded(run, (*Overlaps._fields, "risk")))


FIVE_MAP = claim(
    "single-location.five-overlap-map", "SL-D5",
    "From any start, the descent in all dimensions is an exact map of five overlaps; the"
    " dimension enters through the risk alone.", source="eq. (10) and Theorem 1; the map is ours",
    kind=IDENTITY, experiment=descent.full_descent, measure=_recorded_with_risk,
    predict=_five_overlap_run, resolution=1e-11,
    argued="Rounding of 1e-16 a step over 300 steps, amplified by the transient; the step size is"
    " below the edge of stability.", scales=quick(seconds=2),
    finding="Descent from any start closes in five numbers, so a run costs the same at d = 100 and"
    " at d = 10^9.",
    sabotages=Sabotage(
        "no-zeta", "Leave zeta itself out of the gradient.",
        predict=lambda run: _five_overlap_run(run, _without_zeta)))

ZETA_NEEDED = claim(
    "single-location.zeta-not-needed", "SL-D5",
    "Evaluating zeta itself, and not only its derivative, is not required to simulate the"
    " dynamics.", source="Appendix D.2, implementation details", kind=IDENTITY,
    experiment=descent.full_descent, measure=_recorded_with_risk,
    predict=lambda run: _five_overlap_run(run, _without_zeta), resolution=1e-6,
    argued="Far above rounding: if the sentence were right the two runs would agree to 1e-11.",
    expected="refuted", scales=quick(seconds=2),
    finding="Off the manifold the slope in theta contains d theta zeta: zeta itself is needed.",
    corrected="zeta-on-manifold",
    repairs=(
        Repair("on-the-manifold", "Start on the manifold.", {"start": "manifold", "decay": 0.0}),))

ZETA_ON_MANIFOLD = claim(
    "single-location.zeta-on-manifold", "SL-D5",
    "On the manifold, zeta's derivative is enough to simulate the dynamics.",
    source="Appendix D.2, restricted to the manifold", kind=IDENTITY,
    experiment=descent.full_descent, measure=lambda run: one_row(recorded(run, ("kappa", "nu"))),
    predict=lambda run: (
        _five_overlap_run(_exactly_on_manifold(run), _without_zeta).reshape(6, -1)[:2].ravel()),
    resolution=1e-10,
    argued="As for the two-overlap map. Without zeta nothing pulls theta back, so the simplified"
    " run starts from exact zeros: rounding of 1e-17 would grow.",
    scales=quick(ON_MANIFOLD, seconds=2),
    sabotages=changed("off-the-manifold", "Start anywhere on the sphere.", start="sphere"))


EVERY_STEP = {"start": "manifold", "steps": 800, "record_every": 1, "repetitions": 10}
DECREASING = claim(
    "single-location.risk-decreases", "SL-P8",
    "On the manifold, with a small step size, the risk never rises.", source="Proposition 8",
    status="bound", kind=BELOW, experiment=descent.descent,
    measure=lambda run: one_row(np.sum(np.diff(run.data.risk.values, axis=1) > 1e-14)),
    resolution=0.0, argued="A count; rises below 1e-14 are rounding.",
    scales=quick(EVERY_STEP, seconds=1),
    sabotages=changed("large-step", "Step size 0.04 at lambda = 1.", step_size=0.04))


def _root_distance(run: Run) -> np.ndarray:
    """Number of roots, and the largest distance of a predicted root from the nearest of them."""
    roots = run.data.point.values
    predicted = np.array([(0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)], float)
    distances = np.linalg.norm(roots[:, None] - predicted[None], axis=-1)
    return one_row([len(roots), distances.min(0).max()])


FIXED_POINTS = claim(
    "single-location.fixed-points", "SL-P9",
    "The descent map on the manifold has exactly five fixed points: the four corners and the"
    " origin.", source="Proposition 9", kind=IDENTITY, experiment=states.manifold_roots,
    measure=_root_distance, predict=lambda run: [5.0, 0.0], resolution=[0.0, 1e-7],
    argued="A count, and root searches from 441 starts converged to 1e-10 in the residual. At"
    " lambda = 0.1 nothing is saturated, so no plateau can pose as a root.",
    parts=("roots found", "distance"), scales=quick(seconds=3),
    sabotages=changed("added-push", "Add a constant push to the field.", slope=0.3))


def _extremes(run: Run, sign: int) -> set[tuple[float, float]]:
    risk = sign * run.data.risk.values
    where = np.argwhere(np.isclose(risk, risk.min(), rtol=0, atol=1e-10))
    return {(float(run.data.kappa[i]), float(run.data.nu[j])) for i, j in where}


def _landscape(run: Run) -> np.ndarray:
    """Mismatches: of the minima, of the maxima, and of the signs of the curvature at the origin."""
    minima, maxima = {(1.0, 1.0), (-1.0, -1.0)}, {(1.0, -1.0), (-1.0, 1.0)}
    middle, step = len(run.data.kappa) // 2, float(run.data.kappa[1] - run.data.kappa[0])
    around = slice(middle - 1, middle + 2, 2)
    hessian = np.array([
        [np.diff(gradient[around, middle])[0], np.diff(gradient[middle, around])[0]]
        for gradient in (run.data.d_kappa.values, run.data.d_nu.values)]) / (2 * step)
    saddle = np.linalg.det(hessian) < -1e-9
    return one_row(
        [len(_extremes(run, 1) ^ minima), len(_extremes(run, -1) ^ maxima), float(not saddle)])


CLASSIFICATION = claim(
    "single-location.landscape", "SL-P10",
    "On the manifold the minima are exactly (1,1) and (-1,-1), the maxima (1,-1) and (-1,1),"
    " and the origin is a saddle.", source="Proposition 10", kind=IDENTITY,
    experiment=closed_forms.manifold_landscape, measure=_landscape, resolution=0.0,
    argued="Counts of mismatches on a 101 x 101 grid of risks taken by quadrature.",
    parts=("minima", "maxima", "saddle"), figure="6",
    sabotages=changed(
        "even-weights", "Weigh tokens by |erf|: the sign of a score tells nothing.", even=True))

# Every tenth point of the grid, clear of the edges and axes, where parts of the field vanish.
INSIDE = slice(5, None, 10)


def _field(run: Run, in_kappa: ArrayLike, in_nu: ArrayLike) -> np.ndarray:
    """The descent field -(1-kappa^2) R_kappa, -(1-nu^2) R_nu at the points inside."""
    kappa, nu = run.data.kappa.values[INSIDE, None], run.data.nu.values[None, INSIDE]
    return -np.stack([np.asarray(in_kappa) * (1 - kappa**2), np.asarray(in_nu) * (1 - nu**2)])


def _theory_field(run: Run, factor: float = 1.0, **changes: float) -> np.ndarray:
    axes = run.data.kappa.values[INSIDE], run.data.nu.values[INSIDE]
    kappa, nu = np.meshgrid(*axes, indexing="ij")
    at = setting(run)._replace(**changes)
    return _field(run, *theory.manifold_gradient(kappa, factor * nu, at)).ravel()


VECTOR_FIELD = claim(
    "single-location.vector-field", "SL-F6",
    "The descent field of Figure 6 follows from the closed-form slopes, at 100 points of the"
    " square.", source="Figure 6", kind=IDENTITY, experiment=closed_forms.manifold_landscape,
    measure=lambda run: one_row(
        _field(run, *(run.data[name].values[INSIDE, INSIDE] for name in ("d_kappa", "d_nu")))),
    predict=_theory_field, resolution=1e-10,
    argued=(
        "120 Gauss-Hermite nodes for functions as smooth as erf(0.07 z + ..); rounding otherwise."),
    figure="6",
    sabotages=(
        Sabotage(
            "mirror-nu", "Mirror nu in the formula.", predict=lambda run: _theory_field(run, -1.0)),
        Sabotage(
            "one-dimension-more", "Put d + 1 for d in the formula.",
            predict=lambda run: _theory_field(run, dim=run.parameters.dim + 1))))


def _origin_eigenvalues(run: Run, self_term: bool = True) -> np.ndarray:
    step_size = run.parameters.step_size
    at = setting(run, np.array(run.parameters.inverse_temperatures))
    if self_term:
        return np.ravel(theory.origin_jacobian_eigenvalues(at, step_size))
    coupling = np.abs(np.asarray(theory.origin_hessian(at))[:, 0, 1])
    return np.ravel(1 + step_size * np.stack([-coupling, coupling], axis=1))


ORIGIN = claim(
    "single-location.origin-jacobian", "SL-P12",
    "At the origin the descent map on the manifold has one eigenvalue in (0,1) and one above 1,"
    " with the stated formula.", source="Propositions 10 and 12", kind=IDENTITY,
    experiment=states.origin_modes, measure=lambda run: one_row(run.data.on_manifold.values),
    predict=_origin_eigenvalues, resolution=1e-7,
    argued="Central differences of step 1e-5 leave a third-order term of about 1e-9 and rounding of"
    " 1e-11.",
    sabotages=Sabotage(
        "no-self-term", "Leave out the curvature c of the kappa axis.",
        predict=lambda run: _origin_eigenvalues(run, False)))

INJECTIVE = claim(
    "single-location.injective", "SL-P12b",
    "For a small step size the descent map on the manifold is injective with a nowhere"
    " degenerate Jacobian.", source="Proposition 12", status="bound", kind=BELOW,
    experiment=states.injectivity,
    measure=lambda run: one_row(
        [-run.data.determinant.values.min(), run.data["shift"].values.max()]),
    predict=lambda run: [0.0, 1.0], resolution=0.0,
    argued="On a convex set |J - I| < 1 everywhere makes the map injective; the margin found is far"
    " above what a grid of 201 x 201 could miss.",
    parts=("minus least determinant", "largest |J - I|"), scales=quick(seconds=2),
    sabotages=changed("large-step", "Step size 1.", step_size=1.0))
