"""The calculators of single-location regression: the paper's closed forms, the exact descent maps,
and the predictors."""

from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from saccade import gaussian
from saccade.errors import Diverged, InvalidInput, require, shown
from saccade.lab.calculator import Calculator, Inputs
from saccade.studies.single_location import dynamics, theory
from saccade.studies.single_location import models as attention
from saccade.studies.single_location.theory import Overlaps, Setting

PAPER = "Marion, Berthier, Biau, Boyer (2025)"
NAMES = Overlaps._fields
MOST_STEPS = 10_000_000


class Common(Inputs):
    """The setting shared by most calculators."""

    dim: float = Field(description="dimension d of a token, a whole number of at least 2", ge=2)
    length: float = Field(description="number L of tokens, a whole number of at least 1", ge=1)
    inverse_temperature: float = Field(description="inverse temperature lambda, above 0", gt=0)
    gamma: float = Field(
        2**-0.5, description="standard deviation of the informative token, above 0", gt=0)
    noise: float = Field(
        0.0, description="standard deviation epsilon of the label noise, at least 0", ge=0)

    def setting(self) -> Setting:
        setting = Setting(self.dim, self.length, self.inverse_temperature, self.gamma, self.noise)
        theory.check_setting(setting)
        return setting


class At(Common):
    """A setting and the five overlaps."""

    kappa: float = Field(description="k . k*")
    nu: float = Field(description="v . v*")
    theta: float = Field(0.0, description="v . k*")
    eta: float = Field(0.0, description="k . v*")
    rho: float = Field(0.0, description="k . v")

    def overlaps(self) -> Overlaps:
        overlaps = Overlaps(self.kappa, self.nu, self.theta, self.eta, self.rho)
        theory.check_overlaps(overlaps)
        return overlaps


class StepSize(Inputs):
    step_size: float = Field(description="step size alpha, above 0", gt=0)


class Recorded(StepSize):
    steps: int = Field(description=f"number of steps, 1 to {MOST_STEPS}", ge=1, le=MOST_STEPS)
    record: list[int] = Field(
        description="increasing step numbers to report, 1 = after the first step", min_length=1)

    def recorded(self) -> list[int]:
        """The checked step numbers; a run ends with the last of them, since nothing after it is
        seen."""
        for earlier, later in zip([0, *self.record], self.record, strict=False):
            rule = f"must hold increasing step numbers from 1 to steps = {self.steps}"
            require(earlier < later <= self.steps, "record", self.record, rule)
        return self.record


class Decay(Inputs):
    decay: float = Field(
        0.0, description="lambda_t = lambda/(1 + decay t), t = 0 at the first step; at least 0",
        ge=0)


class ZetaInputs(Inputs):
    t: float | list[float] = Field(description="shift t, a number or a list")
    variance: float | list[float] = Field(
        description="variance of the Gaussian, not negative; a number or a list as long as t")


class StepInputs(At, StepSize):
    pass


class TrajectoryInputs(At, Recorded, Decay):
    pass


class ManifoldInputs(Common, Recorded):
    kappa: float = Field(description="k . k*")
    nu: float = Field(description="v . v*")


class FullInputs(Common, Recorded, Decay):
    k0: list[float] = Field(description="first key direction, a unit vector of dim entries")
    v0: list[float] = Field(description="first value direction, a unit vector of dim entries")
    k_star: list[float] = Field(description="true key direction k*, a unit vector")
    v_star: list[float] = Field(
        description="true value direction v*, a unit vector orthogonal to k*")


class LinearInputs(Inputs):
    location_probabilities: list[float] = Field(
        description="law p of the informative location; sums to one")
    gamma: float = Field(
        2**-0.5, description="standard deviation of the informative token, above 0", gt=0)
    noise: float = Field(
        0.0, description="standard deviation epsilon of the label noise, at least 0", ge=0)


class OriginInputs(StepSize):
    dim: float = Field(description="dimension d of a token, a whole number of at least 2", ge=2)
    inverse_temperature: float = Field(description="inverse temperature lambda, above 0", gt=0)
    gamma: float = Field(
        2**-0.5, description="standard deviation of the informative token, above 0", gt=0)


class CriticalInputs(Inputs):
    dim: float = Field(description="dimension d of a token, a whole number of at least 2", ge=2)
    length: float = Field(
        description="number L of tokens, a whole number of at least 2: one token needs no looking",
        ge=2)
    gamma: float = Field(
        2**-0.5, description="standard deviation of the informative token, above 0", gt=0)


class PredictInputs(Inputs):
    X: list[list[list[float]]] = Field(description="tokens, X[sample][token][coordinate]")
    k: list[float] = Field(description="key direction")
    v: list[float] = Field(description="value direction")
    inverse_temperature: float | None = Field(
        None, description="inverse temperature lambda, above 0; argmax needs none", gt=0)
    kind: Literal["erf", "softmax", "argmax"] = Field(description="erf, softmax or argmax")


def _zeta(given: ZetaInputs) -> dict[str, Any]:
    t, variance = np.asarray(given.t, float), np.asarray(given.variance, float)
    require(
        t.shape == variance.shape, "variance", given.variance,
        "must be a number or a list exactly like t")
    require(bool(np.all(variance >= 0)), "variance", given.variance, "must not be negative")
    return {"zeta": gaussian.zeta(t, variance)}


def _risk(given: At) -> dict[str, Any]:
    overlaps, setting = given.overlaps(), given.setting()
    return {
        "risk": theory.risk(overlaps, setting),
        "gradient": theory.risk_gradient(overlaps, setting)._asdict()}


def _step(given: StepInputs) -> dict[str, Any]:
    setting = given.setting()
    after = dynamics.overlap_step(given.overlaps(), setting, given.step_size)
    if not np.all(np.isfinite(np.asarray(after))):
        raise _overshot(setting, given.step_size, 1)
    return after._asdict()


def _trajectory(given: TrajectoryInputs) -> dict[str, Any]:
    record, setting = given.recorded(), given.setting()
    made = dynamics.overlap_trajectory(
        given.overlaps(), setting, given.step_size, record[-1], record=record, decay=given.decay)
    return _advised(made, setting, given.step_size)


def _listed(made: dynamics.Trajectory, setting: Setting, step_size: float) -> dict[str, Any]:
    """The recorded lists, by name."""
    if int(made.diverged_at) >= 0:
        raise _overshot(setting, step_size, int(made.diverged_at))
    steps = [int(step) for step in np.asarray(made.steps)]
    return {"steps": steps, **made.overlaps._asdict(), "risk": made.risk}


def _advised(made: dynamics.Trajectory, setting: Setting, step_size: float) -> dict[str, Any]:
    """The recorded lists, and a word of advice when the step is past the edge of stability."""
    listed = _listed(made, setting, step_size)
    too_long = dynamics.stability_ratio(setting, step_size) > 2
    return listed | ({"advice": dynamics.advice(made, setting, step_size)} if too_long else {})


def _overshot(setting: Setting, step_size: float, step: int) -> Diverged:
    """What to say when a step left the finite numbers: descent on spheres stays bounded, so only an
    absurd step does."""
    curvature = dynamics.stability_ratio(setting, 1.0)
    hint = f"; try at most {2 / curvature:.3g}" if np.isfinite(curvature) and curvature > 0 else ""
    return Diverged(f"step_size = {step_size!r} left the finite numbers by step {step}{hint}.")


def _manifold_trajectory(given: ManifoldInputs) -> dict[str, Any]:
    for name in ("kappa", "nu"):
        require(abs(getattr(given, name)) <= 1, name, getattr(given, name), "must lie in [-1, 1]")
    record, setting = given.recorded(), given.setting()
    made = dynamics.manifold_trajectory(
        given.kappa, given.nu, setting, given.step_size, record[-1], record=record)
    # No advice here: the stiffest direction at the oracle leaves the manifold, so it does not bound
    # this map.
    values = _listed(made, setting, given.step_size)
    return {name: values[name] for name in ("steps", "kappa", "nu", "risk")}


def _full_trajectory(given: FullInputs) -> dict[str, Any]:
    record, setting = given.recorded(), given.setting()
    vectors = {
        name: np.asarray(getattr(given, name), float) for name in ("k0", "v0", "k_star", "v_star")}
    for name, vector in vectors.items():
        require(
            vector.size == given.dim, f"number of entries of {name}", vector.size,
            f"must be dim = {given.dim:g}")
        norm = float(np.linalg.norm(vector))
        require(abs(norm - 1) < 1e-6, f"norm of {name}", norm, "must be 1: it is a unit vector")
    overlap = float(vectors["k_star"] @ vectors["v_star"])
    require(
        abs(overlap) < 1e-6, "k_star . v_star", overlap,
        "must be 0: the two true directions are orthogonal")
    k0, v0, k_star, v_star = (jnp.asarray(vector) for vector in vectors.values())
    made = dynamics.full_trajectory(
        k0, v0, k_star, v_star, setting, given.step_size, record[-1], record=record,
        decay=given.decay)
    return _advised(made, setting, given.step_size)


def _oracle(given: Common) -> dict[str, Any]:
    return {"risk": theory.oracle_risk(given.setting())}


def _linear(given: LinearInputs) -> dict[str, Any]:
    p = np.asarray(given.location_probabilities, float)
    theory.check_probabilities(p)
    return {
        "risk": theory.linear_risk(p, given.gamma, given.noise),
        "coefficients": theory.linear_coefficients(p, given.gamma),
        "null_risk": theory.null_risk(given.gamma, given.noise)}


def _origin(given: OriginInputs) -> dict[str, Any]:
    setting = Setting(given.dim, 1, given.inverse_temperature, given.gamma)
    theory.check_setting(setting)
    eigenvalues = theory.origin_jacobian_eigenvalues(setting, given.step_size)
    return {"hessian": theory.origin_hessian(setting), "jacobian_eigenvalues": eigenvalues}


def _critical(given: CriticalInputs) -> dict[str, Any]:
    theory.check_setting(Setting(given.dim, given.length, 1.0, given.gamma))
    value = theory.critical_inverse_temperature(given.dim, given.length, given.gamma)
    if not np.isfinite(value):
        raise InvalidInput(
            f"gamma = {given.gamma!r} with dim = {given.dim:g} and length = {given.length:g} has no"
            " critical inverse temperature: the oracle is a local minimum for every one.")
    return {"inverse_temperature": value}


def _swapped(given: Common) -> dict[str, Any]:
    theta, risk = theory.swapped_state(given.setting())
    return {"theta": theta, "risk": risk}


def _predict(given: PredictInputs) -> dict[str, Any]:
    try:
        X = np.asarray(given.X, float)
    except ValueError:
        rule = "must have as many tokens in each sample, and as many coordinates in each token"
        raise InvalidInput(f"X = {shown(given.X)} {rule}.") from None
    require(
        X.ndim == 3 and X.size > 0, "X", given.X,
        "must be X[sample][token][coordinate], nowhere empty")
    k, v = np.asarray(given.k, float), np.asarray(given.v, float)
    for name, vector in (("k", k), ("v", v)):
        rule = f"must be {X.shape[2]}, as many as a token has coordinates"
        require(vector.size == X.shape[2], f"number of entries of {name}", vector.size, rule)
    tokens, key, value = jnp.asarray(X), jnp.asarray(k), jnp.asarray(v)
    if given.kind == "argmax":
        return {"predictions": attention.argmax_predictor(tokens, key, value)}
    if given.inverse_temperature is None:
        raise InvalidInput(
            "single-location.predict needs the input 'inverse_temperature' for kind ="
            f" {given.kind!r}, which is missing.")
    predictor = {"erf": attention.erf_predictor, "softmax": attention.softmax_predictor}[given.kind]
    return {"predictions": predictor(tokens, key, value, given.inverse_temperature)}


_PAPER_SETTING = {"dim": 400, "length": 10, "inverse_temperature": 0.1}
_TRACE = {
    "steps": "recorded step numbers", **dict.fromkeys(NAMES, "overlap after each recorded step"),
    "risk": "risk there", "advice": "only when the step size is past the edge of stability"}

# fmt: off
CALCULATORS = (
    Calculator(
        "single-location.zeta", ZetaInputs, _zeta, "E erf(t + G)^2 for a centred Gaussian G of the given variance.",
        {"zeta": "1 - 8 T(sqrt2 |t|/sqrt(1+2s), 1/sqrt(1+4s)) with Owen's T and s the variance"},
        "quadrature (12 nodes, error below 1e-15)", f"eq. (7), {PAPER}; closed form by saccade", {"t": 1.0, "variance": 0.5},
    ),
    Calculator(
        "single-location.risk", At, _risk, "Risk of the erf predictor at five overlaps, and its partial derivatives.",
        {"risk": "mean squared error", "gradient": "plain partial derivatives by overlap"},
        "exact", f"Theorem 1 and Proposition 15, {PAPER}", {"kappa": 0.3, "nu": 0.5, "dim": 80, "length": 10, "inverse_temperature": 0.6},
    ),
    Calculator(
        "single-location.step", StepInputs, _step, "The overlaps after one exact projected-gradient step.",
        dict.fromkeys(NAMES, "overlap after the step"), "exact", f"Definition 1, {PAPER}, closed in five overlaps by saccade",
        {"kappa": 0.05, "nu": 0.05, **_PAPER_SETTING, "step_size": 0.004}),
    Calculator(
        "single-location.trajectory", TrajectoryInputs, _trajectory, "Projected gradient descent followed exactly in five overlaps.",
        _TRACE, "exact", f"Definition 1, {PAPER}, closed in five overlaps by saccade",
        {"kappa": 0.05, "nu": 0.05, **_PAPER_SETTING, "step_size": 0.004, "steps": 1000, "record": [1, 100, 1000]},
    ),
    Calculator(
        "single-location.manifold-trajectory", ManifoldInputs, _manifold_trajectory, "Descent on the invariant manifold, in two overlaps.",
        {"steps": "recorded step numbers", "kappa": "k . k*", "nu": "v . v*", "risk": "risk there"}, "exact", f"Lemma 7, {PAPER}",
        {"kappa": 0.05, "nu": 0.05, **_PAPER_SETTING, "step_size": 0.004, "steps": 1000, "record": [1, 100, 1000]},
    ),
    Calculator(
        "single-location.full-trajectory", FullInputs, _full_trajectory, "The same descent in all dimensions, from explicit vectors.",
        _TRACE, "exact", f"Definition 1, {PAPER}",
        {
            "k0": [0.6, 0, 0.8, 0], "v0": [0, 0.6, 0, 0.8], "k_star": [1, 0, 0, 0], "v_star": [0, 1, 0, 0], "dim": 4, "length": 10,
            "inverse_temperature": 0.5, "step_size": 0.01, "steps": 100, "record": [1, 100]}),
    Calculator(
        "single-location.oracle-risk", Common, _oracle, "Risk of the erf predictor at the true directions.", {"risk": "mean squared error"},
        "exact", f"Theorem 1, {PAPER}", _PAPER_SETTING),
    Calculator(
        "single-location.linear-risk", LinearInputs, _linear, "The best linear predictor under any location law.",
        {"risk": "mean squared error", "coefficients": "beta_j = coefficient_j v*", "null_risk": "risk of predicting zero"},
        "exact", f"Proposition 3, {PAPER}", {"location_probabilities": [0.5, 0.3, 0.2]}),
    Calculator(
        "single-location.origin", OriginInputs, _origin, "Hessian of the risk and Jacobian of the descent map at (kappa, nu) = (0, 0).",
        {"hessian": "2x2, order kappa nu", "jacobian_eigenvalues": "ascending"}, "exact", f"Propositions 10 and 12, {PAPER}",
        {"dim": 400, "inverse_temperature": 0.1, "step_size": 0.004}),
    Calculator(
        "single-location.critical-inverse-temperature", CriticalInputs, _critical,
        "Above this inverse temperature the oracle is no longer a local minimum of the risk.",
        {"inverse_temperature": "critical lambda"}, "asymptotic (saturated regime: lambda sqrt(d) large)", "saccade, not in the paper",
        {"dim": 400, "length": 10}),
    Calculator(
        "single-location.swapped-state", Common, _swapped, "The fixed point of swapped roles: k = v*, v . k* = theta.",
        {"theta": "v . k*, at most 1", "risk": "risk there"}, "exact", "saccade, not in the paper", _PAPER_SETTING,
    ),
    Calculator(
        "single-location.predict", PredictInputs, _predict, "Predictions of the erf, softmax or argmax predictor on explicit tokens.",
        {"predictions": "one per sample"}, "exact", f"eqs. (1)-(3), {PAPER}",
        {"X": [[[1.0, 2.0], [3.0, 1.0]]], "k": [1.0, 0.0], "v": [0.0, 1.0], "inverse_temperature": 1.0, "kind": "softmax"},
    ))
# fmt: on
