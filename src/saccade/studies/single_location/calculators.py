"""The calculators: closed forms of the paper, the exact descent maps, and the predictors."""

from typing import Annotated, Any, Literal

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from saccade import gaussian
from saccade.descent import divergence_report
from saccade.errors import Diverged, InvalidInput, require, shown
from saccade.lab.calculator import Inputs, calculator
from saccade.studies.single_location import dynamics, models, theory
from saccade.studies.single_location.theory import Overlaps, Setting

PAPER = "Marion, Berthier, Biau, Boyer (2025)"
CLOSED = f"Definition 1, {PAPER}, closed in five overlaps by saccade"
MOST_STEPS = 10_000_000

Numbers = float | list[float]
Dim = Annotated[
    float, Field(description="dimension d of a token, a whole number from 2 to 1e15", ge=2, le=1e15)
]
InverseTemperature = Annotated[
    float, Field(description="inverse temperature lambda, above 0", gt=0)]
Gamma = Annotated[
    float, Field(description="standard deviation of the informative token, above 0", gt=0)]
Noise = Annotated[
    float, Field(description="standard deviation epsilon of the label noise, at least 0", ge=0)]
Kappa = Annotated[float, Field(description="k . k*")]
Nu = Annotated[float, Field(description="v . v*")]
StepSize = Annotated[float, Field(description="step size alpha, above 0", gt=0)]
Decay = Annotated[
    float,
    Field(description="lambda_t = lambda/(1 + decay t), t = 0 at the first step; at least 0", ge=0)]


class Common(Inputs):
    """The setting shared by most calculators."""

    dim: Dim
    length: float = Field(
        description="number L of tokens, a whole number from 1 to 1e15", ge=1, le=1e15)
    inverse_temperature: InverseTemperature
    gamma: Gamma = 2**-0.5
    noise: Noise = 0.0

    def setting(self) -> Setting:
        return theory.check_setting(
            Setting(self.dim, self.length, self.inverse_temperature, self.gamma, self.noise))


class At(Common):
    """A setting and the five overlaps."""

    kappa: Kappa
    nu: Nu
    theta: float = Field(0.0, description="v . k*")
    eta: float = Field(0.0, description="k . v*")
    rho: float = Field(0.0, description="k . v")

    def overlaps(self) -> Overlaps:
        return theory.check_overlaps(Overlaps(self.kappa, self.nu, self.theta, self.eta, self.rho))


class Path(Inputs):
    """How far descent goes, and what is reported of it."""

    step_size: StepSize
    steps: int = Field(description=f"number of steps, 1 to {MOST_STEPS}", ge=1, le=MOST_STEPS)
    record: list[int] | None = Field(
        None, description="increasing step numbers to report, 1 = after the first step; if none,"
        " the last", min_length=1)

    def run(self) -> dict[str, Any]:
        """What a trajectory is asked for; it ends with the last recorded step."""
        rule = f"must hold increasing step numbers from 1 to steps = {self.steps}"
        record = self.record or [self.steps]
        for earlier, later in zip([0, *record], record, strict=False):
            require(earlier < later <= self.steps, "record", record, rule)
        return {"step_size": self.step_size, "steps": record[-1], "record": record}


class Vectors(Inputs):
    """Where descent starts, and the truth."""

    k0: list[float] = Field(description="first key direction, a unit vector of dim entries")
    v0: list[float] = Field(description="first value direction, a unit vector of dim entries")
    k_star: list[float] = Field(description="true key direction k*, a unit vector")
    v_star: list[float] = Field(
        description="true value direction v*, a unit vector orthogonal to k*")


def _recorded(
    run: dynamics.Trajectory, step_size: float, advised: Setting | None = None
) -> dict[str, Any]:
    """The recorded lists, and advice if the step is past the edge of stability of a setting."""
    if int(run.diverged_at) >= 0:
        raise Diverged(divergence_report(int(run.diverged_at), step_size))
    advice = dynamics.advice(advised, step_size) if advised else ""
    lists = {"steps": run.steps, **run.overlaps._asdict(), "risk": run.risk}
    return lists | ({"advice": advice} if advice else {})


_PAPER_SETTING = {"dim": 400, "length": 10, "inverse_temperature": 0.1}
_START = {"kappa": 0.05, "nu": 0.05, **_PAPER_SETTING, "step_size": 0.004}
_RUN = {**_START, "steps": 1000, "record": [1, 100, 1000]}
_TRACE = {
    "steps": "recorded step numbers",
    **dict.fromkeys(Overlaps._fields, "overlap after each recorded step"), "risk": "risk there",
    "advice": "only when the step size is past the edge of stability"}


@calculator(
    "single-location.zeta",
    outputs={
        "zeta": "1 - 8 T(sqrt2 |t|/sqrt(1+2s), 1/sqrt(1+4s)) with Owen's T and s the variance"},
    status="quadrature (12 nodes, error below 1e-15)",
    source=f"eq. (7), {PAPER}; closed form by saccade", example={"t": 1.0, "variance": 0.5})
def zeta(
    t: Annotated[Numbers, Field(description="shift t, a number or a list")],
    variance: Annotated[
        Numbers,
        Field(
            description="variance of the Gaussian, not negative; a number or a list as long as t")],
) -> dict[str, Any]:
    """E erf(t + G)^2 for a centred Gaussian G of the given variance."""
    shifts, variances = np.asarray(t, float), np.asarray(variance, float)
    fits = shifts.shape == variances.shape or 0 in (shifts.ndim, variances.ndim)
    require(fits, "variance", variance, "must be a number, or a list as long as t")
    require(bool(np.all(variances >= 0)), "variance", variance, "must not be negative")
    return {"zeta": gaussian.zeta(shifts, variances)}


@calculator(
    "single-location.risk",
    outputs={"risk": "mean squared error", "gradient": "plain partial derivatives by overlap"},
    source=f"Theorem 1 and Proposition 15, {PAPER}",
    example={"kappa": 0.3, "nu": 0.5, "dim": 80, "length": 10, "inverse_temperature": 0.6})
def risk(at: At) -> dict[str, Any]:
    """Risk of the erf predictor at five overlaps, and its partial derivatives."""
    overlaps, setting = at.overlaps(), at.setting()
    gradient = theory.risk_gradient(overlaps, setting)
    return {"risk": theory.risk(overlaps, setting), "gradient": gradient._asdict()}


@calculator(
    "single-location.step", outputs=dict.fromkeys(Overlaps._fields, "overlap after the step"),
    source=CLOSED, example=_START)
def step(at: At, step_size: StepSize) -> dict[str, Any]:
    """The overlaps after one exact projected-gradient step."""
    after = dynamics.overlap_step(at.overlaps(), at.setting(), step_size)
    if not np.all(np.isfinite(np.asarray(after))):
        raise Diverged(divergence_report(1, step_size))
    return after._asdict()


@calculator("single-location.trajectory", outputs=_TRACE, source=CLOSED, example=_RUN)
def trajectory(at: At, path: Path, decay: Decay = 0.0) -> dict[str, Any]:
    """Projected gradient descent followed exactly in five overlaps."""
    asked, setting = path.run(), at.setting()
    run = dynamics.overlap_trajectory(at.overlaps(), setting, **asked, decay=decay)
    return _recorded(run, path.step_size, setting)


@calculator(
    "single-location.manifold-trajectory",
    outputs={
        "steps": "recorded step numbers", "kappa": "k . k*", "nu": "v . v*", "risk": "risk there"},
    source=f"Lemma 7, {PAPER}", example=_RUN)
def manifold_trajectory(common: Common, path: Path, kappa: Kappa, nu: Nu) -> dict[str, Any]:
    """Descent on the invariant manifold, in two overlaps."""
    for name, value in (("kappa", kappa), ("nu", nu)):
        require(abs(value) <= 1, name, value, "must lie in [-1, 1]")
    run = dynamics.manifold_trajectory(kappa, nu, common.setting(), **path.run())
    # No advice: the stiffest direction at the oracle leaves the manifold and does not bound this.
    values = _recorded(run, path.step_size)
    return {name: values[name] for name in ("steps", "kappa", "nu", "risk")}


@calculator(
    "single-location.full-trajectory", outputs=_TRACE, source=f"Definition 1, {PAPER}",
    example={
        "k0": [0.6, 0, 0.8, 0], "v0": [0, 0.6, 0, 0.8], "k_star": [1, 0, 0, 0],
        "v_star": [0, 1, 0, 0], "dim": 4, "length": 10, "inverse_temperature": 0.5,
        "step_size": 0.01, "steps": 100, "record": [1, 100]})
def full_trajectory(
    common: Common, path: Path, vectors: Vectors, decay: Decay = 0.0
) -> dict[str, Any]:
    """The same descent in all dimensions, from explicit vectors."""
    setting = common.setting()
    k0, v0, k_star, v_star = (
        jnp.array(x, float) for x in (vectors.k0, vectors.v0, vectors.k_star, vectors.v_star))
    run = dynamics.full_trajectory(k0, v0, k_star, v_star, setting, **path.run(), decay=decay)
    return _recorded(run, path.step_size, setting)


@calculator(
    "single-location.oracle-risk", outputs={"risk": "mean squared error"},
    source=f"Theorem 1, {PAPER}", example=_PAPER_SETTING)
def oracle_risk(common: Common) -> dict[str, Any]:
    """Risk of the erf predictor at the true directions."""
    return {"risk": theory.oracle_risk(common.setting())}


@calculator(
    "single-location.linear-risk",
    outputs={
        "risk": "mean squared error", "coefficients": "beta_j = coefficient_j v*",
        "null_risk": "risk of predicting zero"},
    source=f"Proposition 3, {PAPER}", example={"location_probabilities": [0.5, 0.3, 0.2]})
def linear_risk(
    location_probabilities: Annotated[
        list[float], Field(description="law p of the informative location; sums to one")],
    gamma: Gamma = 2**-0.5, noise: Noise = 0.0,
) -> dict[str, Any]:
    """The best linear predictor under any location law."""
    return {
        "risk": theory.linear_risk(location_probabilities, gamma, noise),
        "coefficients": theory.linear_coefficients(location_probabilities, gamma),
        "null_risk": theory.null_risk(gamma, noise)}


@calculator(
    "single-location.origin",
    outputs={"hessian": "2x2, order kappa nu", "jacobian_eigenvalues": "ascending"},
    source=f"Propositions 10 and 12, {PAPER}",
    example={"dim": 400, "inverse_temperature": 0.1, "step_size": 0.004})
def origin(
    dim: Dim, inverse_temperature: InverseTemperature, step_size: StepSize, gamma: Gamma = 2**-0.5
) -> dict[str, Any]:
    """Hessian of the risk and Jacobian of the descent map at (kappa, nu) = (0, 0)."""
    setting = theory.check_setting(Setting(dim, 1, inverse_temperature, gamma))
    eigenvalues = theory.origin_jacobian_eigenvalues(setting, step_size)
    return {"hessian": theory.origin_hessian(setting), "jacobian_eigenvalues": eigenvalues}


@calculator(
    "single-location.critical-inverse-temperature",
    outputs={"inverse_temperature": "critical lambda"},
    status="asymptotic (saturated regime: lambda sqrt(d) large)",
    source="saccade, not in the paper", example={"dim": 400, "length": 10})
def critical_inverse_temperature(
    dim: Dim,
    length: Annotated[
        float,
        Field(
            description="number L of tokens, a whole number of at least 2: one token needs no"
            " looking", ge=2)],
    gamma: Gamma = 2**-0.5,
) -> dict[str, Any]:
    """Above this inverse temperature the oracle is no longer a local minimum of the risk."""
    value = theory.critical_inverse_temperature(dim, length, gamma)
    rule = (
        f"with dim = {dim:g} and length = {length:g} has no critical inverse temperature: the"
        " oracle is a local minimum for every one")
    require(bool(np.isfinite(value)), "gamma", gamma, rule)
    return {"inverse_temperature": value}


@calculator(
    "single-location.swapped-state", outputs={"theta": "v . k*, at most 1", "risk": "risk there"},
    source="saccade, not in the paper", example=_PAPER_SETTING)
def swapped_state(common: Common) -> dict[str, Any]:
    """The fixed point of swapped roles: k = v*, v . k* = theta."""
    return theory.swapped_state(common.setting())._asdict()


@calculator(
    "single-location.predict", outputs={"predictions": "one per sample"},
    source=f"eqs. (1)-(3), {PAPER}",
    example={
        "X": [[[1.0, 2.0], [3.0, 1.0]]], "k": [1.0, 0.0], "v": [0.0, 1.0],
        "inverse_temperature": 1.0, "kind": "softmax"})
def predict(
    X: Annotated[
        list[list[list[float]]], Field(description="tokens, X[sample][token][coordinate]")],
    k: Annotated[list[float], Field(description="key direction")],
    v: Annotated[list[float], Field(description="value direction")],
    kind: Annotated[
        Literal["erf", "softmax", "argmax"], Field(description="erf, softmax or argmax")],
    inverse_temperature: Annotated[
        float | None,
        Field(description="inverse temperature lambda, above 0; argmax needs none", gt=0)] = None,
) -> dict[str, Any]:
    """Predictions of the erf, softmax or argmax predictor on explicit tokens."""
    try:
        tokens = np.asarray(X, float)
    except ValueError:
        rule = "must have as many tokens in each sample, and as many coordinates in each token"
        raise InvalidInput(f"X = {shown(X)} {rule}.") from None
    rule = "must be X[sample][token][coordinate], nowhere empty"
    require(tokens.ndim == 3 and tokens.size > 0, "X", X, rule)
    for name, vector in (("k", k), ("v", v)):
        rule = f"must be {tokens.shape[2]}, as many as a token has coordinates"
        require(len(vector) == tokens.shape[2], f"number of entries of {name}", len(vector), rule)
    directions = jnp.array(k, float), jnp.array(v, float)
    if kind == "argmax":
        return {"predictions": models.ArgmaxAttention(*directions)(jnp.array(tokens))}
    if inverse_temperature is None:
        raise InvalidInput(
            "single-location.predict needs the input 'inverse_temperature' for kind ="
            f" {kind!r}, which is missing.")
    model = models.ErfAttention if kind == "erf" else models.SoftmaxAttention
    return {"predictions": model(*directions, inverse_temperature)(jnp.array(tokens))}
