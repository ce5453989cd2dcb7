"""Claims on the invariant manifold: it is invariant, two overlaps suffice there, and its landscape
has five stationary points."""

import jax.numpy as jnp
import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, IDENTITY
from saccade.studies.single_location import dynamics, theory
from saccade.studies.single_location.experiments import closed_forms, descent, states
from saccade.studies.single_location.theory import Overlaps, Setting

ON_MANIFOLD = {
    "start": "manifold", "inverse_temperature": 0.4, "decay": 0.0, "steps": 5000,
    "record_every": 500, "dim": 40}


def _setting(run: Run) -> Setting:
    p = run.parameters
    return Setting(p.dim, p.length, p.inverse_temperature, p.gamma)


def _first(run: Run) -> Overlaps:
    return Overlaps(*(run.data[f"first_{name}"].values for name in Overlaps._fields))


def _overlaps(run: Run, names=Overlaps._fields) -> np.ndarray:
    return np.stack([run.data[name].values for name in names])


INVARIANT = Claim(
    id="single-location.manifold-invariant", spec="SL-L4",
    statement=(
        "Started on the manifold k.v* = v.k* = k.v = 0, projected gradient descent stays on it."),
    source="Lemma 4", status="exact", kind=BELOW, experiment=descent.full_descent,
    measure=lambda run: one_row(
        np.max(np.linalg.norm(_overlaps(run, ("theta", "eta", "rho")), axis=0))),
    predict=lambda run: 0.0, resolution=1e-10,
    argued=(
        "Rounding of 1e-16 a step can grow along the unstable transverse mode of the origin (rate"
        " below 1) while the run passes there; 5000 steps of 2e-3 leave room for a factor exp(10)."
    ),
    scales={"quick": Scale(ON_MANIFOLD, seconds=2)}, figure="single-location/4b",
    sabotages=(Sabotage(
        "off-the-manifold", "Start anywhere on the sphere.", parameters={"start": "sphere"}),))


def _two_overlap_run(run: Run, half_gradient: bool = False) -> np.ndarray:
    p, first = run.parameters, _first(run)
    step_size = p.step_size / 2 if half_gradient else p.step_size
    made = dynamics.manifold_trajectory(
        first.kappa, first.nu, _setting(run), step_size, p.steps, record_every=p.record_every)
    return np.stack([made.overlaps.kappa, made.overlaps.nu]).ravel()


TWO_OVERLAPS = Claim(
    id="single-location.two-overlap-map", spec="SL-L7",
    statement="On the manifold the descent in all dimensions is the stated map of (kappa, nu).",
    source="Lemma 7", status="exact", kind=IDENTITY, experiment=descent.full_descent,
    measure=lambda run: one_row(_overlaps(run, ("kappa", "nu"))), predict=_two_overlap_run,
    resolution=1e-10,
    argued=(
        "Rounding of 1e-16 a step, amplified along the run's own unstable direction by at most a"
        " few thousand."),
    scales={"quick": Scale(ON_MANIFOLD, seconds=2)},
    sabotages=(Sabotage(
        "half-the-step", "Iterate the map with half the step size.",
        predict=lambda run: _two_overlap_run(run, True)),))


def _five_overlap_run(run: Run, gradient=None) -> np.ndarray:
    p = run.parameters
    extra = {} if gradient is None else {"gradient": gradient}
    made = dynamics.overlap_trajectory(
        _first(run), _setting(run), p.step_size, p.steps, record_every=p.record_every,
        decay=p.decay, **extra)
    return np.stack([np.asarray(value) for value in made.overlaps]).ravel()


def _without_zeta(overlaps: Overlaps, setting: Setting) -> Overlaps:
    """The gradient as it would be if zeta itself, not only its slope, were not needed: d theta zeta
    left out."""
    from saccade.gaussian import zeta

    full = theory.risk_gradient(overlaps, setting)
    lam, spread = setting.inverse_temperature, (setting.inverse_temperature * setting.gamma) ** 2
    return full._replace(
        theta=full.theta - setting.dim * overlaps.theta
        * zeta(lam * jnp.sqrt(setting.dim / 2) * overlaps.kappa, spread))


def _exactly_on_manifold(run: Run) -> Run:
    """The run with its transverse starts, zero up to rounding, set to zero."""
    zero = {f"first_{name}": 0 * run.data[f"first_{name}"] for name in ("theta", "eta", "rho")}
    return run._replace(data=run.data.assign(zero))


FIVE_MAP = Claim(
    id="single-location.five-overlap-map", spec="SL-D5",
    statement=(
        "From any start, the descent in all dimensions is an exact map of five overlaps; the"
        " dimension enters through the risk alone."),
    source="eq. (10) and Theorem 1; the map is ours", status="exact", kind=IDENTITY,
    experiment=descent.full_descent, measure=lambda run: one_row(_overlaps(run)),
    predict=_five_overlap_run, resolution=1e-11,
    argued=(
        "Rounding of 1e-16 a step over 300 steps, amplified by the transient; the step size is"
        " below the edge of stability."),
    scales={"quick": Scale(seconds=2)},
    finding=(
        "Descent from any start closes in five numbers, so a run costs the same at d = 100 and at d"
        " = 10^9."),
    sabotages=(Sabotage(
        "no-zeta", "Leave zeta itself out of the gradient.",
        predict=lambda run: _five_overlap_run(run, _without_zeta)),))

ZETA_NEEDED = Claim(
    id="single-location.zeta-not-needed", spec="SL-D5",
    statement=(
        "Evaluating zeta itself, and not only its derivative, is not required to simulate the"
        " dynamics."),
    source="Appendix D.2, implementation details", status="exact", kind=IDENTITY,
    experiment=descent.full_descent, measure=lambda run: one_row(_overlaps(run)),
    predict=lambda run: _five_overlap_run(run, _without_zeta), resolution=1e-6,
    argued="Far above rounding: if the sentence were right the two runs would agree to 1e-11.",
    expected="refuted", scales={"quick": Scale(seconds=2)},
    finding="Off the manifold the slope in theta contains d theta zeta: zeta itself is needed.",
    corrected="single-location.zeta-on-manifold",
    sabotages=(Sabotage(
        "other-temperature", "Also change the inverse temperature that the run has.",
        parameters={"inverse_temperature": 0.8}),))

ZETA_ON_MANIFOLD = Claim(
    id="single-location.zeta-on-manifold", spec="SL-D5",
    statement="On the manifold, zeta's derivative is enough to simulate the dynamics.",
    source="Appendix D.2, restricted to the manifold", status="exact", kind=IDENTITY,
    experiment=descent.full_descent, measure=lambda run: one_row(_overlaps(run, ("kappa", "nu"))),
    predict=lambda run: (
        _five_overlap_run(_exactly_on_manifold(run), _without_zeta).reshape(5, -1)[:2].ravel()),
    resolution=1e-10,
    argued=(
        "As for the two-overlap map. Without zeta nothing pulls theta back, so the simplified run"
        " starts from exact zeros: rounding of 1e-17 would grow."),
    scales={"quick": Scale(ON_MANIFOLD, seconds=2)},
    sabotages=(Sabotage(
        "off-the-manifold", "Start anywhere on the sphere.", parameters={"start": "sphere"}),))


def _rises(run: Run) -> np.ndarray:
    """How often the recorded risk rises by more than rounding, over all repetitions."""
    return one_row(np.sum(np.diff(run.data.risk.values, axis=1) > 1e-14))


EVERY_STEP = {"start": "manifold", "steps": 800, "record_every": 1, "repetitions": 10}
DECREASING = Claim(
    id="single-location.risk-decreases", spec="SL-P8",
    statement="On the manifold, with a small step size, the risk never rises.",
    source="Proposition 8", status="bound", kind=BELOW, experiment=descent.descent, measure=_rises,
    predict=lambda run: 0.0, resolution=0.0, argued="A count; rises below 1e-14 are rounding.",
    scales={"quick": Scale(EVERY_STEP, seconds=1)},
    sabotages=(
        Sabotage("large-step", "Step size 0.04 at lambda = 1.", parameters={"step_size": 0.04}),))


def _root_distance(run: Run) -> np.ndarray:
    """Number of roots found, and the largest distance of a predicted root from the nearest found
    one."""
    found = run.data.point.values
    predicted = np.array([(0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)], float)
    distances = np.linalg.norm(found[:, None] - predicted[None], axis=-1)
    return one_row([len(found), distances.min(0).max()])


FIXED_POINTS = Claim(
    id="single-location.fixed-points", spec="SL-P9",
    statement=(
        "The descent map on the manifold has exactly five fixed points: the four corners and the"
        " origin."),
    source="Proposition 9", status="exact", kind=IDENTITY, experiment=states.manifold_roots,
    measure=_root_distance, predict=lambda run: [5.0, 0.0], resolution=[0.0, 1e-7],
    argued=(
        "A count, and root searches from 441 starts converged to 1e-10 in the residual. At lambda ="
        " 0.1 nothing is saturated, so no plateau can pose as a root."),
    parts=("roots found", "distance"), scales={"quick": Scale(seconds=3)},
    sabotages=(
        Sabotage("added-push", "Add a constant push to the field.", parameters={"slope": 0.3}),))


def _extremes(run: Run, sign: int) -> set[tuple[float, float]]:
    risk = sign * run.data.risk.values
    where = np.argwhere(np.isclose(risk, risk.min(), rtol=0, atol=1e-10))
    return {(float(run.data.kappa[i]), float(run.data.nu[j])) for i, j in where}


def _landscape(run: Run, minima=((1.0, 1.0), (-1.0, -1.0))) -> np.ndarray:
    """Mismatches: of the minima, of the maxima, and of the signs of the curvature at the origin."""
    maxima = {(1.0, -1.0), (-1.0, 1.0)}
    middle = len(run.data.kappa) // 2
    step = float(run.data.kappa[1] - run.data.kappa[0])
    d_kappa, d_nu = run.data.d_kappa.values, run.data.d_nu.values
    hessian = np.array([
        [
            d_kappa[middle + 1, middle] - d_kappa[middle - 1, middle],
            d_kappa[middle, middle + 1] - d_kappa[middle, middle - 1]],
        [
            d_nu[middle + 1, middle] - d_nu[middle - 1, middle],
            d_nu[middle, middle + 1] - d_nu[middle, middle - 1]]]) / (2 * step)
    saddle = np.linalg.det(hessian) < 0
    return one_row(
        [len(_extremes(run, 1) ^ set(minima)), len(_extremes(run, -1) ^ maxima), float(not saddle)])


CLASSIFICATION = Claim(
    id="single-location.landscape", spec="SL-P10",
    statement=(
        "On the manifold the minima are exactly (1,1) and (-1,-1), the maxima (1,-1) and (-1,1),"
        " and the origin is a saddle."),
    source="Proposition 10", status="exact", kind=IDENTITY,
    experiment=closed_forms.manifold_landscape, measure=_landscape, predict=lambda run: np.zeros(3),
    resolution=0.0, argued="Counts of mismatches on a 101 x 101 grid of risks taken by quadrature.",
    parts=("minima", "maxima", "saddle"), figure="single-location/6",
    sabotages=(Sabotage(
        "one-minimum", "Claim that (1, 1) is the only minimum.",
        measure=lambda run: _landscape(run, ((1.0, 1.0),))),))


def _field(run: Run) -> np.ndarray:
    """The descent field -(1-kappa^2) R_kappa, -(1-nu^2) R_nu from the quadrature's slopes, on the
    grid."""
    kappa, nu = run.data.kappa.values[:, None], run.data.nu.values[None, :]
    return -np.stack([run.data.d_kappa.values * (1 - kappa**2), run.data.d_nu.values * (1 - nu**2)])


def _theory_field(run: Run, factor: float = 1.0) -> np.ndarray:
    kappa, nu = np.meshgrid(run.data.kappa.values, run.data.nu.values, indexing="ij")
    slopes = theory.manifold_gradient(kappa, factor * nu, _setting(run))
    return -np.stack(
        [np.asarray(slopes[0]) * (1 - kappa**2), np.asarray(slopes[1]) * (1 - nu**2)]).ravel()


VECTOR_FIELD = Claim(
    id="single-location.vector-field", spec="SL-F6",
    statement=(
        "The descent field of Figure 6 follows from the closed-form slopes, everywhere on the"
        " square."),
    source="Figure 6", status="exact", kind=IDENTITY, experiment=closed_forms.manifold_landscape,
    measure=lambda run: one_row(_field(run)), predict=_theory_field, resolution=1e-10,
    argued=(
        "120 Gauss-Hermite nodes for functions as smooth as erf(0.07 z + ..); rounding otherwise."),
    figure="single-location/6",
    sabotages=(Sabotage(
        "mirror-nu", "Mirror nu in the formula.", predict=lambda run: _theory_field(run, -1.0)),))

ORIGIN = Claim(
    id="single-location.origin-jacobian", spec="SL-P12",
    statement=(
        "At the origin the descent map on the manifold has one eigenvalue in (0,1) and one above 1,"
        " with the stated formula."),
    source="Propositions 10 and 12", status="exact", kind=IDENTITY, experiment=states.origin_modes,
    measure=lambda run: one_row(run.data.on_manifold.values),
    predict=lambda run: _origin_eigenvalues(run), resolution=1e-7,
    argued=(
        "Central differences of step 1e-5 leave a third-order term of about 1e-9 and rounding of"
        " 1e-11."),
    sabotages=(Sabotage(
        "no-self-term", "Leave out the curvature c of the kappa axis.",
        predict=lambda run: _origin_eigenvalues(run, False)),))


def _origin_eigenvalues(run: Run, self_term: bool = True) -> np.ndarray:
    p, rows = run.parameters, []
    for inverse_temperature in p.inverse_temperatures:
        setting = Setting(p.dim, p.length, inverse_temperature, p.gamma)
        if self_term:
            rows.append(np.asarray(theory.origin_jacobian_eigenvalues(setting, p.step_size)))
        else:
            coupling = abs(float(np.asarray(theory.origin_hessian(setting))[0, 1]))
            rows.append(np.array([1 - p.step_size * coupling, 1 + p.step_size * coupling]))
    return np.concatenate(rows)


INJECTIVE = Claim(
    id="single-location.injective", spec="SL-P12b",
    statement=(
        "For a small step size the descent map on the manifold is injective with a nowhere"
        " degenerate Jacobian."),
    source="Proposition 12", status="bound", kind=BELOW, experiment=states.injectivity,
    measure=lambda run: one_row(
        [-run.data.determinant.values.min(), run.data["shift"].values.max()]),
    predict=lambda run: [0.0, 1.0], resolution=0.0,
    argued=(
        "On a convex set |J - I| < 1 everywhere makes the map injective; the margin found is far"
        " above what a grid of 201 x 201 could miss."),
    parts=("minus least determinant", "largest |J - I|"), scales={"quick": Scale(seconds=2)},
    sabotages=(Sabotage("large-step", "Step size 1.", parameters={"step_size": 1.0}),))
