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
from saccade.studies.single_location.experiments import closed_forms, descent, everywhere, states
from saccade.studies.single_location.theory import Overlaps, Setting

TRANSVERSE = ("theta", "eta", "rho")
ON_MANIFOLD = {
    "start": "manifold", "inverse_temperature": 0.4, "decay": 0.0, "steps": 5000,
    "record_every": 500, "dim": 40}

INVARIANT = claim(
    "single-location.manifold-invariant", "SL-L4",
    "On the manifold k.v* = v.k* = k.v = 0 a step of projected gradient descent leads to it again:"
    " from 64 uniform states each at 24 random settings (d from 20 to 1000, L from 2 to 100, gamma"
    " from 0.5 to 1.2, lambda up to 1), with steps from 0.05 to 1.9 inverse curvatures of the"
    " origin.", source="Lemma 4", kind=BELOW, experiment=everywhere.off_the_manifold,
    measure=lambda run: one_row(np.abs(recorded(run, TRANSVERSE)).max(axis=(1, 2))),
    resolution=1e-11,
    argued="Rounding of 1e-16, which a step multiplies by up to some thousand: across the manifold"
    " the risk is far steeper, and it may rise. Hence one step, from any state.", parts=TRANSVERSE,
    scales=quick(seconds=1), figure="4b",
    sabotages=(
        changed("leaning", "Let v* lean on k* by a hundredth.", lean=0.01),
        changed("off-the-manifold", "Start a millionth off the manifold.", tilt=1e-6)))

DRIFT = claim(
    "single-location.manifold-drift", "SL-L4",
    "Started on the manifold, descent in all dimensions stays within 1e-10 of it for 5000 steps at"
    " lambda = 0.4 (d = 40, ten tokens).", source="ours", kind=BELOW,
    experiment=descent.full_descent,
    measure=lambda run: one_row(np.max(np.linalg.norm(recorded(run, TRANSVERSE), axis=0))),
    resolution=1e-10,
    argued="Rounding of 1e-16 a step can grow along the unstable transverse mode of the origin"
    " (rate below 1) while the run passes there; 5000 steps of 2e-3 leave room for a factor"
    " exp(10).", scales=quick(ON_MANIFOLD, seconds=2), figure="4b",
    sabotages=changed("off-the-manifold", "Start anywhere on the sphere.", start="sphere"))


def _two_overlap_run(run: Run, half_gradient: bool = False) -> np.ndarray:
    p, (kappa, nu, *_) = run.parameters, start(run)
    step_size = p.step_size / 2 if half_gradient else p.step_size
    path = dynamics.manifold_trajectory(
        kappa, nu, setting(run), step_size, p.steps, p.record_every, p.decay)
    return np.stack([*path.overlaps[:2], path.risk]).ravel()


TWO_OVERLAPS = claim(
    "single-location.two-overlap-map", "SL-L7",
    "On the manifold the descent in all dimensions is the stated map of (kappa, nu), and its risk"
    " that of Lemma 6, also with a falling inverse temperature.", source="Lemma 7", kind=IDENTITY,
    experiment=descent.full_descent,
    measure=lambda run: one_row(recorded(run, ("kappa", "nu", "risk"))), predict=_two_overlap_run,
    resolution=1e-10,
    argued="Rounding of 1e-16 a step, amplified along the run's own unstable direction by at most a"
    " few thousand.", scales=quick(ON_MANIFOLD | {"decay": 2e-4}, seconds=2),
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


def _rises(run: Run) -> np.ndarray:
    """How many steps raised the risk by more than rounding."""
    risk = run.data.risk.values
    return one_row(np.sum(np.diff(risk, axis=-1) > 1e-14 * np.maximum(1.0, risk[..., :-1])))


DECREASING = claim(
    "single-location.risk-decreases", "SL-P8",
    "On the manifold the risk never rises: not in one of 500 steps from 16 uniform starts, at 24"
    " random settings (d from 20 to 1000, L from 2 to 100, gamma from 0.5 to 1.2, lambda up to 1)"
    " with steps from 0.05 to 1.9 inverse curvatures of the origin.", source="Proposition 8",
    status="bound", kind=BELOW, experiment=everywhere.every_step, measure=_rises, resolution=0.0,
    argued="A count; rises below 1e-14 of the risk are rounding. At 2 inverse curvatures descent"
    " ends (largest-steps).", scales=quick(seconds=1),
    sabotages=changed("large-steps", "Steps of 2.5 to 6 inverse curvatures.", units=(2.5, 6.0)))


def _most_and_fewest(run: Run) -> np.ndarray:
    """Over the settings: the fewest and the most roots, and the largest distance of a predicted
    root from the nearest of them."""
    roots = run.data.roots.values
    return one_row([roots.min(), roots.max(), run.data.distance.values.max()])


FIXED_POINTS = claim(
    "single-location.fixed-points", "SL-P9",
    "The descent map on the manifold has exactly five fixed points, the four corners and the"
    " origin, at twelve random settings and step sizes (d from 20 to 1000, L from 2 to 100, gamma"
    " from 0.5 to 1.2, steps from 0.1 to 1.8 inverse curvatures; lambda sqrt(d/2) from 0.3 to about"
    " 2.5).", source="Proposition 9", kind=IDENTITY, experiment=everywhere.manifold_roots,
    measure=_most_and_fewest, predict=lambda run: [5.0, 5.0, 0.0], resolution=[0.0, 0.0, 1e-7],
    argued="Counts, and Newton's method from 441 starts to 1e-10 in the residual. Where lambda"
    " sqrt(d/2) is above about 3 erf saturates, and a plateau could pose as a root.",
    parts=("fewest roots", "most roots", "distance"), scales=quick(seconds=2),
    sabotages=(
        changed(
            "added-push", "Add a push that leaves nothing at rest but the corners.", slope=30.0),
        changed(
            "large-steps", "Steps of 8 to 12 inverse curvatures, which return over the pole.",
            units=(8.0, 12.0))))

MINIMA, MAXIMA = {(1.0, 1.0), (-1.0, -1.0)}, {(1.0, -1.0), (-1.0, 1.0)}


def _extremes(risk: np.ndarray, line: np.ndarray) -> set[tuple[float, float]]:
    where = np.argwhere(np.isclose(risk, risk.min(), rtol=0, atol=1e-10))
    return {(float(line[i]), float(line[j])) for i, j in where}


def _landscape(run: Run) -> np.ndarray:
    """Mismatches, the most of any setting: of the minima, of the maxima, and of the sign of the
    Hessian's determinant at the origin, by differences of the risk."""
    line, rows = run.data.kappa.values, []
    low, middle, high = len(line) // 2 + np.array([-1, 0, 1])
    for risk in run.data.risk.values:
        near = risk[np.ix_([low, middle, high], [low, middle, high])]
        pure = [np.diff(near[:, 1], 2)[0], np.diff(near[1], 2)[0]]
        mixed = (near[2, 2] - near[2, 0] - near[0, 2] + near[0, 0]) / 4
        saddle = (pure[0] * pure[1] - mixed**2) / (line[1] - line[0]) ** 4 < -1e-9
        rows.append([
            len(_extremes(risk, line) ^ MINIMA), len(_extremes(-risk, line) ^ MAXIMA),
            float(not saddle)])
    return one_row(np.max(rows, axis=0))


CLASSIFICATION = claim(
    "single-location.landscape", "SL-P10",
    "On the manifold the minima are exactly (1,1) and (-1,-1), the maxima (1,-1) and (-1,1), and"
    " the origin is a saddle, at twelve random settings (d from 20 to 1000, L from 2 to 100, gamma"
    " from 0.5 to 1.2, lambda sqrt(d/2) from 0.3 to about 3).", source="Proposition 10",
    kind=IDENTITY, experiment=everywhere.manifold_landscapes, measure=_landscape, resolution=0.0,
    argued="Counts of mismatches on 41 x 41 grids of risks taken by quadrature; at lambda sqrt(d/2)"
    " = 3 neighbours of a corner still differ by 1e-6 of the risk.",
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
    "For a small step size the descent map on the manifold is injective with a nowhere degenerate"
    " Jacobian: at twelve random settings (d from 20 to 1000, L from 2 to 100, gamma from 0.5 to"
    " 1.2, lambda up to 1), with steps from 0.02 to 0.2 inverse curvatures of the origin.",
    source="Proposition 12", status="bound", kind=BELOW, experiment=everywhere.injectivity,
    measure=lambda run: one_row(
        [-run.data.determinant.values.min(), run.data["shift"].values.max()]),
    predict=lambda run: [0.0, 1.0], resolution=0.0,
    argued="On a convex set |J - I| < 1 everywhere makes the map injective; the margin found is far"
    " above what grids of 101 x 101 could miss.",
    parts=("minus least determinant", "largest |J - I|"), scales=quick(seconds=2),
    sabotages=changed("large-steps", "Steps of 6 to 10 inverse curvatures.", units=(6.0, 10.0)))
