"""The calculators: risk, descent, best predictors, stability. Each result carries `accuracy`, an
estimate of its error: the difference of two rules of integration, or of two tables."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from saccade.errors import require
from saccade.lab.calculator import Inputs, calculator
from saccade.studies.softmax_location import dynamics, theory
from saccade.studies.softmax_location.dynamics.tables import LAMBDA_POINTS, points_in_kappa
from saccade.studies.softmax_location.theory import FINE, FINEST, Overlaps, Setting

OURS = "saccade, for the task of Marion, Berthier, Biau, Boyer (2025)"
MOST_STEPS = 10_000_000
QUADRATURE = "quadrature (exponentially convergent)"

Dim = Annotated[
    float, Field(description="dimension d of a token, a whole number from 2 to 1e15", ge=2, le=1e15)
]
Length = Annotated[
    float, Field(description="number L of tokens, any real number from 2 to 1e15", ge=2, le=1e15)]
Gamma = Annotated[
    float, Field(description="standard deviation of the informative token, above 0", gt=0)]
Noise = Annotated[
    float, Field(description="standard deviation epsilon of the label noise, at least 0", ge=0)]
StepSize = Annotated[float, Field(description="step size alpha, above 0", gt=0)]


class Task(Inputs):
    """The task without noise."""

    dim: Dim
    length: Length
    gamma: Gamma = 2**-0.5

    def at(self, inverse_temperature: float = 1.0, noise: float = 0.0) -> Setting:
        return theory.check_setting(
            Setting(self.dim, self.length, inverse_temperature, self.gamma, noise))


class Common(Inputs):
    """The setting shared by most calculators."""

    dim: Dim
    length: Length
    inverse_temperature: float = Field(description="inverse temperature lambda, above 0", gt=0)
    gamma: Gamma = 2**-0.5
    noise: Noise = 0.0

    def setting(self) -> Setting:
        return theory.check_setting(
            Setting(self.dim, self.length, self.inverse_temperature, self.gamma, self.noise))


class At(Common):
    """A setting and the five overlaps."""

    kappa: float = Field(description="k . k*")
    nu: float = Field(description="v . v*")
    theta: float = Field(0.0, description="v . k*")
    eta: float = Field(0.0, description="k . v*")
    rho: float = Field(0.0, description="k . v")

    def overlaps(self) -> Overlaps:
        return theory.check_overlaps(Overlaps(self.kappa, self.nu, self.theta, self.eta, self.rho))


class Path(Inputs):
    """How far descent goes, and what is reported of it."""

    step_size: StepSize
    steps: int = Field(description=f"number of steps, 1 to {MOST_STEPS}", ge=1, le=MOST_STEPS)
    record: list[int] = Field(
        description="increasing step numbers to report, 1 = after the first step", min_length=1)
    decay: float = Field(
        0.0, description="lambda_t = lambda/(1 + decay t), t = 0 at the first step; at least 0",
        ge=0)

    def checked(self) -> list[int]:
        rule = f"must hold increasing step numbers from 1 to steps = {self.steps}"
        for earlier, later in zip([0, *self.record], self.record, strict=False):
            require(earlier < later <= self.steps, "record", self.record, rule)
        return self.record


PAPER = {"dim": 400, "length": 10, "inverse_temperature": 0.1}
STATE = {**PAPER, "kappa": 0.3, "nu": 0.5, "theta": -0.1, "eta": 0.2, "rho": 0.1}
ACCURACY = {"accuracy": "estimated error, relative to the largest number"}
OVERLAPS = dict.fromkeys(Overlaps._fields, "overlap after the step")


@calculator(
    "softmax-location.risk",
    outputs={
        "risk": "eps^2 + gamma^2 - 2 E[Y T] + E[T^2]", "gradient": "its partial derivatives",
        **ACCURACY},
    status=QUADRATURE, source=OURS, example=STATE)
def risk(at: At) -> dict[str, Any]:
    """Risk of softmax attention at five overlaps, and its gradient."""
    setting, overlaps = at.setting(), at.overlaps()
    best, other = (theory.risk(overlaps, setting, rule) for rule in (FINEST, FINE))
    slopes, check = (np.array([float(x) for x in value.gradient]) for value in (best, other))
    in_slopes = np.max(np.abs(slopes - check)) / max(np.max(np.abs(slopes)), 1e-300)
    accuracy = max(abs(float(other.risk) / float(best.risk) - 1), float(in_slopes), 4e-16)
    gradient = dict(zip(Overlaps._fields, slopes, strict=True))
    return {"risk": float(best.risk), "gradient": gradient, "accuracy": accuracy}


@calculator(
    "softmax-location.step", outputs={**OVERLAPS, **ACCURACY}, status=QUADRATURE, source=OURS,
    example={**STATE, "step_size": 0.004})
def step(at: At, step_size: StepSize) -> dict[str, Any]:
    """The five overlaps after one exact projected-gradient step on the two spheres."""
    setting, overlaps = at.setting(), at.overlaps()

    def numbers(rule: theory.Rule) -> list[float]:
        return [float(x) for x in dynamics.exact_step(overlaps, setting, step_size, rule=rule)]

    moved, accuracy = theory.with_accuracy(numbers)
    return {**dict(zip(Overlaps._fields, moved, strict=True)), "accuracy": accuracy}


@calculator(
    "softmax-location.trajectory",
    outputs={
        "steps": "recorded step numbers",
        **dict.fromkeys(Overlaps._fields, "overlap after each recorded step"),
        "risk": "risk there, at the lambda of that step", **ACCURACY},
    status="quadrature at every step, or from tables where that is cheaper", source=OURS,
    example={**STATE, "step_size": 0.004, "steps": 1000, "record": [1, 100, 1000]})
def trajectory(at: At, path: Path) -> dict[str, Any]:
    """Exact projected-gradient descent in five overlaps."""
    setting, start, record = at.setting(), at.overlaps(), path.checked()
    rest = {"step_size": path.step_size, "record": record, "decay": path.decay}
    tabulated = points_in_kappa(setting, "softmax") * (LAMBDA_POINTS if path.decay else 1)
    if record[-1] <= 2 * tabulated:
        runs = [dynamics.exact_trajectory(start, setting, **rest, rule=r) for r in (FINEST, FINE)]
    else:
        last = setting.inverse_temperature / (1 + path.decay * (record[-1] - 1))
        tables = [
            dynamics.moment_table(setting, last=last if path.decay else None, finer=finer)
            for finer in (1.25, 1)]
        runs = [dynamics.trajectory(start, setting, **rest, table=table) for table in tables]
    apart = np.max(np.abs(np.stack(runs[0].overlaps) - np.stack(runs[1].overlaps)))
    in_risk = np.max(np.abs(runs[0].risk - runs[1].risk)) / np.max(np.abs(runs[0].risk))
    lists = {"steps": record, **runs[0].overlaps._asdict(), "risk": runs[0].risk}
    return {**lists, "accuracy": max(float(apart), float(in_risk), 4e-16)}


def _with_accuracy(function: Callable[[theory.Rule], float]) -> dict[str, float]:
    value, accuracy = theory.with_accuracy(function)
    return {"risk": value, "accuracy": accuracy}


@calculator(
    "softmax-location.oracle-risk", outputs={"risk": "risk at (k*, v*)", **ACCURACY},
    status=QUADRATURE, source=OURS, example=PAPER)
def oracle_risk(common: Common) -> dict[str, Any]:
    """Risk of softmax attention at the truth, with relative accuracy however small it is."""
    setting = common.setting()
    return _with_accuracy(lambda rule: theory.oracle_risk(setting, rule))


@calculator(
    "softmax-location.argmax-risk",
    outputs={"risk": "eps^2 + (1 + gamma^2) P(another token has the largest score)", **ACCURACY},
    status=QUADRATURE, source=OURS, example={"dim": 40, "length": 10})
def argmax_risk(task: Task, noise: Noise = 0.0) -> dict[str, Any]:
    """Risk of the predictor that reads the token of the largest score, at the truth."""
    setting = task.at(noise=noise)
    return _with_accuracy(lambda rule: theory.argmax_risk(setting, rule))


@calculator(
    "softmax-location.bayes-risk", outputs={"risk": "least risk with k* and v* known", **ACCURACY},
    status=QUADRATURE, source=OURS, example={"dim": 40, "length": 10})
def bayes_risk(
    task: Task, noise: Noise = 0.0,
    sees: Annotated[
        Literal["all", "plane", "scores"],
        Field(
            description="all coordinates; (X k*, X v*) only; or the best predictor sum_l w_l(X k*)"
            " X_l . v*")] = "all",
) -> dict[str, Any]:
    """The least risk, from all coordinates, from two of them, or with weights of the scores."""
    setting = task.at(noise=noise)
    return _with_accuracy(lambda rule: theory.bayes_risk(setting, sees, rule))


@calculator(
    "softmax-location.best-inverse-temperature",
    outputs={
        "inverse_temperature": "lambda of the least oracle risk", "risk": "that risk", **ACCURACY},
    status=QUADRATURE, source=OURS, example={"dim": 40, "length": 10})
def best_inverse_temperature(task: Task) -> dict[str, Any]:
    """The inverse temperature of the least risk at the truth, without noise."""
    task.at()
    best, other = (
        theory.best_inverse_temperature(task.dim, task.length, task.gamma, rule=rule)
        for rule in (FINEST, FINE))
    apart = max(abs(a / b - 1) for a, b in zip(best, other, strict=True))
    return {**best._asdict(), "accuracy": max(apart, 4e-16)}


@calculator(
    "softmax-location.oracle-hessian",
    outputs={
        "theta_theta": "along theta (v turns to k*)", "theta_eta": "mixed",
        "eta_eta": "along eta (k turns to v*)", "kappa": "-R_kappa, turning k out of the plane",
        "nu": "-R_nu, turning v out of the plane", **ACCURACY},
    status=QUADRATURE, source=OURS, example=PAPER)
def oracle_hessian(common: Common) -> dict[str, Any]:
    """Second derivatives of the risk at the truth along the two spheres."""
    setting = common.setting()
    best, accuracy = theory.with_accuracy(lambda rule: theory.oracle_hessian(setting, rule))
    return {name: float(x) for name, x in best._asdict().items()} | {"accuracy": accuracy}


def _root_error(function: Callable[[float, theory.Rule], float], root: float | None) -> float:
    """How far a root moves when the integrals are refined: the change over the slope."""
    if root is None:
        return 0.0
    ends = [function(root * (1 + step), FINE) for step in (1e-4, -1e-4)]
    slope = (ends[0] - ends[1]) / (2e-4 * root)
    change = function(root, FINEST) - function(root, FINE)
    return abs(change / slope) / root if slope else 0.0


@calculator(
    "softmax-location.unstable-window",
    outputs={
        "low": "the truth is no local minimum from here; null if from below 0.01",
        "high": "to here; null if beyond lambda max(1, gamma) = 60; both null: nowhere", **ACCURACY,
    },
    status="quadrature; sought on a grid from 0.01 to 20", source=OURS,
    example={"dim": 10, "length": 100, "gamma": 3.5})
def unstable_window(task: Task) -> dict[str, Any]:
    """The inverse temperatures at which the truth is not a local minimum of the risk."""
    task.at()
    triple = task.dim, task.length, task.gamma
    window = theory.unstable_window(*triple)
    errors = [
        _root_error(lambda lam, rule: theory.instability(lam, triple, rule), end) for end in window]
    return {"low": window.low, "high": window.high, "accuracy": max(*errors, 4e-16)}


@calculator(
    "softmax-location.swapped-window",
    outputs={
        "low": "the tilted swapped state is a stable fixed point from here",
        "high": "to here; null if beyond lambda max(1, gamma) = 40; both null: nowhere", **ACCURACY,
    },
    status="quadrature; the branch is followed numerically", source=OURS,
    example={"dim": 10, "length": 10})
def swapped_window(task: Task) -> dict[str, Any]:
    """The inverse temperatures at which the tilted swapped state is a stable fixed point."""
    task.at()
    triple = task.dim, task.length, task.gamma
    ends = theory.swapped_window(*triple)
    errors = [
        _root_error(
            lambda lam, rule, end=end: theory.stability_at(lam, end.angles, triple, rule),
            end.inverse_temperature)
        for end in ends if end]
    low, high = (end.inverse_temperature if end else None for end in ends)
    return {"low": low, "high": high, "accuracy": max([*errors, 4e-16])}
