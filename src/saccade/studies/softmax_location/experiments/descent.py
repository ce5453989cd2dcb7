"""Exact descent in five overlaps from random starts, for softmax and for erf: what recovers, what
swaps, and what a schedule does. The map is the gradient of the exact risk (`dynamics`)."""

from typing import Any, Literal

import numpy as np
import xarray

from saccade.lab.coded import coded
from saccade.lab.experiment import experiment
from saccade.studies.softmax_location import dynamics
from saccade.studies.softmax_location.dynamics import FATES, Overlaps, Setting

Kind = Literal["softmax", "erf"]
NAMES = list(Overlaps._fields)
# The runs of Marion et al. (their Table 2), d = 400, L = 10.
SMALL = {"inverse_temperature": 0.1, "step_size": 4e-3, "record": (10_000,)}
LARGE = {
    "inverse_temperature": 0.9, "step_size": 1e-3, "record": (60_000, 120_000), "repetitions": 32}
SCHEDULE = {
    "inverse_temperature": 1.0, "decay": 1e-4, "step_size": 4e-3, "record": (3000, 10_000, 30_000),
    "repetitions": 32}
WHOLE_SCHEDULE = SCHEDULE | {"record": (3000, 10_000, 30_000, 120_000), "repetitions": 200}


def _last(at: Overlaps) -> Overlaps:
    return Overlaps(*(x[..., -1] for x in at))


@experiment("softmax-location.descent")
def descent(
    key: Any, *, dim: int = 400, length: float = 10.0, inverse_temperature: float = 0.1,
    decay: float = 0.0, gamma: float = 2**-0.5, step_size: float = 4e-3,
    record: tuple[int, ...] = (10_000,), repetitions: int = 200, kind: Kind = "softmax",
) -> xarray.Dataset:
    """Exact descent from uniform starts on the two spheres, and which way each run has gone."""
    start = dynamics.sphere_overlaps(dynamics.generator(key), dim, repetitions)
    setting = Setting(float(dim), length, inverse_temperature, gamma)
    run = dynamics.trajectory(start, setting, step_size, record, decay, kind)
    axes = ("repetition", "step")
    data = {name: (axes, x) for name, x in run.overlaps._asdict().items()}
    fate = dynamics.fate(_last(run.overlaps), kind == "softmax")
    first = {f"first_{name}": ("repetition", x) for name, x in start._asdict().items()}
    return xarray.Dataset(
        data | first | {"risk": (axes, run.risk), "fate": coded("repetition", fate, FATES)},
        {"step": run.steps})


@experiment(
    "softmax-location.fractions",
    scales={"standard": {
        "inverse_temperatures": (0.05, 0.1, 0.2, 0.4, 0.6), "repetitions": 1000,
        "steps": 20_000}})
def fractions(
    key: Any, *, dim: int = 400, length: float = 10.0,
    inverse_temperatures: tuple[float, ...] = (0.1, 0.4), step_size: float = 2.5e-3,
    steps: int = 8000, repetitions: int = 200, gamma: float = 2**-0.5,
    kinds: tuple[Kind, ...] = ("softmax", "erf"),
) -> xarray.Dataset:
    """Which way softmax and erf go from the same starts, by inverse temperature."""
    start = dynamics.sphere_overlaps(dynamics.generator(key), dim, repetitions)
    codes = [
        [
            dynamics.fate(
                _last(dynamics.trajectory(
                    start, Setting(float(dim), length, lam, gamma), step_size, (steps,),
                    kind=kind).overlaps),
                kind == "softmax")
            for lam in inverse_temperatures]
        for kind in kinds]
    return xarray.Dataset(
        {"fate": coded(("number", "inverse_temperature", "repetition"), codes, FATES)},
        {"inverse_temperature": list(inverse_temperatures)})


@experiment("softmax-location.schedule", scales={"standard": {"repetitions": 400}})
def schedule(
    key: Any, *, dim: int = 400, length: float = 10.0, decay: float = 1e-4, steps: int = 10_000,
    repetitions: int = 64, kinds: tuple[Kind, ...] = ("erf", "softmax"), low: float = 0.1,
    step_size: float = 4e-3,
) -> xarray.Dataset:
    """The schedule lambda = 1/(1 + decay t), against constant lambdas: `low` and 1. From the same
    starts: fates and risks over (kind, run)."""
    start = dynamics.sphere_overlaps(dynamics.generator(key), dim, repetitions)
    runs = ((1.0, decay, step_size), (low, 0.0, step_size), (1.0, 0.0, step_size / 4))
    fates, risks = [], []
    for kind in kinds:
        ends = [
            dynamics.trajectory(start, Setting(float(dim), length, lam), size, (steps,), fall, kind)
            for lam, fall, size in runs]
        fates.append([dynamics.fate(_last(end.overlaps), kind == "softmax") for end in ends])
        risks.append([end.risk[:, -1] for end in ends])
    axes = ("kind", "run", "repetition")
    return xarray.Dataset(
        {"fate": coded(axes, fates, FATES), "risk": (axes, np.array(risks))},
        {"kind": list(kinds), "run": ["schedule", "low", "high"]})


@experiment("softmax-location.starts")
def starts(key: Any, *, dim: int = 4, count: int = 40_000, lengths: bool = True) -> xarray.Dataset:
    """The overlaps of uniform starts; without `lengths` those of normal vectors divided by sqrt(d)
    and not by their own lengths."""
    random = dynamics.generator(key)
    drawn = dynamics.sphere_overlaps(random, dim, count)
    if not lengths:
        k, v = random.standard_normal((2, count, dim)) / dim**0.5
        drawn = Overlaps(k[:, 0], v[:, 1], v[:, 0], k[:, 1], np.sum(k * v, axis=1))
    return xarray.Dataset({name: ("start", x) for name, x in drawn._asdict().items()})


LENGTHS = ((20, 10.0), (20, 100.0), (100, 10.0), (100, 100.0))


@experiment(
    "softmax-location.more-tokens",
    scales={"standard": {
        "cases": (*LENGTHS, (20, 30.0), (20, 300.0), (100, 30.0), (100, 300.0), (400, 100.0)),
        "repetitions": 1000, "steps": 16_000}})
def more_tokens(
    key: Any, *, cases: tuple[tuple[int, float], ...] = LENGTHS, inverse_temperature: float = 1.0,
    gamma: float = 2**-0.5, scaled_step: float = 1.0, steps: int = 6000, repetitions: int = 200,
    kind: Kind = "softmax",
) -> xarray.Dataset:
    """Which way softmax goes at the step size scaled_step/d, as tokens are added (above a hundred,
    with steps in proportion); or erf."""
    codes = []
    for number, (dim, length) in enumerate(cases):
        random = dynamics.generator(key)
        random.bit_generator.advance(10**9 * number)  # type: ignore[union-attr]
        start = dynamics.sphere_overlaps(random, dim, repetitions)
        setting = Setting(float(dim), length, inverse_temperature, gamma)
        patience = int(steps * max(1.0, length / 100))  # forces are of order 1/L
        run = dynamics.trajectory(start, setting, scaled_step / dim, (patience,), kind=kind)
        codes.append(dynamics.fate(_last(run.overlaps), kind == "softmax"))
    return xarray.Dataset({
        "fate": coded(("case", "repetition"), codes, FATES),
        "setting": (("case", "number"), np.array(cases))})


@experiment("softmax-location.manifold-descent")
def manifold_descent(
    key: Any, *,
    cases: tuple[tuple[float, float, float], ...] = ((400.0, 10.0, 0.1), (20.0, 10.0, 1.0)),
    step_size: float = 0.1, steps: int = 12_000, repetitions: int = 100, gamma: float = 2**-0.5,
    first_kappa: float | None = None, kind: Kind = "softmax",
) -> xarray.Dataset:
    """Descent from starts on the invariant manifold, uniform in the square of (kappa, nu)."""
    random, rows = dynamics.generator(key), []
    for dim, length, lam in cases:
        kappa, nu = random.uniform(-0.95, 0.95, (2, repetitions))
        kappa = kappa if first_kappa is None else np.full(repetitions, first_kappa)
        zero = np.zeros(repetitions)
        setting = Setting(dim, length, lam, gamma)
        run = dynamics.trajectory(
            Overlaps(kappa, nu, zero, zero, zero), setting, step_size, (steps,), kind=kind)
        rows.append(np.stack(_last(run.overlaps), -1))
    return xarray.Dataset(
        {"overlap": (("case", "repetition", "name"), np.array(rows))}, {"name": NAMES})


CREEPING = ((900.0, 4.0, 0.5, 0.6, 1.0), (400.0, 10.0, 0.9, 0.8, 0.5), (300.0, 6.0, 0.8, 0.7, 0.3))


@experiment("softmax-location.creeping")
def creeping(
    key: Any, *, cases: tuple[tuple[float, ...], ...] = CREEPING, doublings: int = 9,
    kappa: float = 0.45,
) -> xarray.Dataset:
    """Descent on the manifold with v = v* from one kappa, for (d, L, lambda, gamma, step size):
    kappa after 16, 32, 64, ... steps. With v in place the steps may be long."""
    record, zero = tuple(16 * 2**i for i in range(doublings + 1)), np.zeros(1)
    start = Overlaps(np.full(1, kappa), np.ones(1), zero, zero, zero)
    rows = [
        dynamics.trajectory(start, Setting(*case[:4]), case[4], record).overlaps.kappa[0]
        for case in cases]
    settings = np.array(cases)
    return xarray.Dataset(
        {
            "kappa": (("case", "step"), np.array(rows)),
            "setting": (("case", "number"), settings[:, :4]), "step_size": ("case", settings[:, 4]),
        },
        {"step": list(record)})


@experiment(
    "softmax-location.free-temperature", scales={"standard": {"repetitions": 64, "steps": 20_000}})
def free_temperature(
    key: Any, *, dim: int = 100, length: float = 10.0, inverse_temperature: float = 0.3,
    gamma: float = 2**-0.5, step_size: float = 0.01, steps: int = 3000, repetitions: int = 8,
    rate: float = 1.0, bounds: tuple[float, float] = (0.1, 2.0),
) -> xarray.Dataset:
    """Descent of the key's length too (`rate` = 0 keeps it), from uniform starts."""
    start = dynamics.sphere_overlaps(dynamics.generator(key), dim, repetitions)
    setting = Setting(float(dim), length, inverse_temperature, gamma)
    record = (steps // 8, steps // 4, steps // 2, steps)
    run = dynamics.free_trajectory(start, setting, step_size, record, bounds, rate)
    axes = ("repetition", "step")
    data = {name: (axes, x) for name, x in run.overlaps._asdict().items()}
    return xarray.Dataset(
        data
        | {
            "risk": (axes, run.risk), "inverse_temperature": (axes, run.inverse_temperature),
            "fate": coded("repetition", dynamics.fate(_last(run.overlaps)), FATES)},
        {"step": run.steps})
