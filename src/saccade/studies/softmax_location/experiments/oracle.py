"""The layer at the truth at its best inverse temperature, over dimensions and lengths: descent on
lambda alone to its end (`dynamics`), beside which claims and figures put their laws."""

from typing import Any, Literal

import numpy as np
import xarray
from scipy import optimize

from saccade.lab.experiment import experiment
from saccade.studies.softmax_location import dynamics

Kind = Literal["softmax", "erf"]


@experiment("softmax-location.best-oracle")
def best_oracle(
    key: Any, *, dims: tuple[float, ...] = (40.0, 160.0, 400.0),
    lengths: tuple[float, ...] = (10.0,), gamma: float = 2**-0.5, kind: Kind = "softmax",
    kept: float | None = None,
) -> xarray.Dataset:
    """Best lambda and least risk at the truth, over (dim, length); or with lambda `kept`."""

    def train(dim: float, length: float) -> tuple[float, float]:
        if kept is not None:
            return kept, dynamics.oracle_risk_at(dim, length, kept, gamma)
        return dynamics.trained_temperature(dim, length, gamma, kind)

    best = [[train(dim, length) for length in lengths] for dim in dims]
    axes = ("dim", "length")
    return xarray.Dataset(
        {
            "inverse_temperature": (axes, np.array([[x[0] for x in row] for row in best])),
            "risk": (axes, np.array([[x[1] for x in row] for row in best]))},
        {"dim": list(dims), "length": list(lengths)})


@experiment("softmax-location.duel")
def duel(
    key: Any, *,
    cases: tuple[tuple[float, float], ...] = (
        (4.0, 10.0), (16.0, 10.0), (18.0, 1e4), (20.0, 1e4), (32.0, 1e4)),
    gamma: float = 0.1**0.5, free_length: bool = False,
) -> xarray.Dataset:
    """Least risks of softmax and erf at the truth, each at its own best lambda. With `free_length`
    the length of v is fitted too, which takes from erf what it owes to |v| = 1."""
    rows = [
        [
            (dynamics.trained_length if free_length else dynamics.trained_temperature)(
                dim, length, gamma, kind)[1]
            for kind in ("softmax", "erf")]
        for dim, length in cases]
    return xarray.Dataset(
        {
            "risk": (("case", "kind"), np.array(rows)),
            "setting": (("case", "number"), np.array(cases))},
        {"kind": ["softmax", "erf"]})


@experiment("softmax-location.crossings")
def crossings(
    key: Any, *, gammas: tuple[float, ...] = (0.1**0.5, 0.06**0.5),
    lengths: tuple[float, ...] = (1e3, 1e4, 1e5),
) -> xarray.Dataset:
    """The dimension, as a real number, at which the least risk of softmax at the truth falls below
    that of predicting zero, and below the least of erf."""

    def crossing(length: float, gamma: float, rival: str) -> float:
        def lead(dim: float) -> float:
            least = dynamics.trained_temperature(dim, length, gamma)[1]
            erf = dynamics.trained_temperature(dim, length, gamma, "erf")[1]
            return least - (gamma**2 if rival == "null" else erf)

        return float(optimize.brentq(lead, 12.0, 40.0, xtol=1e-6))  # type: ignore[arg-type]

    rows = [
        [[crossing(length, gamma, rival) for length in lengths] for rival in ("null", "erf")]
        for gamma in gammas]
    return xarray.Dataset(
        {"dim": (("gamma", "rival", "length"), np.array(rows))},
        {"gamma": list(gammas), "rival": ["null", "erf"], "length": list(lengths)})


@experiment("softmax-location.divergence")
def divergence(
    key: Any, *, dim: int = 6, gammas: tuple[float, ...] = (0.5, 0.8, 1.0, 1.4), mean: float = 1.0,
    points: int = 4001,
) -> xarray.Dataset:
    """E log p(X)/q(X) over d, by sums over a grid, coordinate by coordinate: p is N(sqrt(d/2) k*,
    gamma^2 I), with `mean` times its mean, and q is N(0, I)."""
    totals = []
    for gamma in gammas:
        total = 0.0
        for shift in [mean * np.sqrt(dim / 2), *[0.0] * (dim - 1)]:
            x, step = np.linspace(shift - 10 * gamma, shift + 10 * gamma, points, retstep=True)
            log_p = -(((x - shift) / gamma) ** 2) / 2 - np.log(gamma)
            total += step * np.exp(log_p) @ (log_p + x**2 / 2) / np.sqrt(2 * np.pi)
        totals.append(total / dim)
    return xarray.Dataset({"divergence": ("gamma", np.array(totals))}, {"gamma": list(gammas)})


@experiment("softmax-location.capacity", scales={"standard": {"dims": (40.0, 80.0, 160.0, 320.0)}})
def capacity(
    key: Any, *, dims: tuple[float, ...] = (40.0, 80.0, 160.0),
    rates: tuple[float, ...] = (0.2, 0.25, 0.3), gamma: float = 2**-0.5, grow: bool = True,
) -> xarray.Dataset:
    """Risk of the oracle softmax at L = exp(rate d), at lambda = sqrt(d/2) and at the best; if L
    does not `grow` it stays that of the first dimension."""
    fixed, best = np.zeros((2, len(rates), len(dims)))
    for i, rate in enumerate(rates):
        for j, dim in enumerate(dims):
            length = float(np.exp(rate * (dim if grow else dims[0])))
            fixed[i, j] = dynamics.oracle_risk_at(dim, length, (dim / 2) ** 0.5, gamma)
            best[i, j] = dynamics.trained_temperature(dim, length, gamma)[1]
    axes = ("rate", "dim")
    return xarray.Dataset(
        {"fixed": (axes, fixed), "best": (axes, best)}, {"rate": list(rates), "dim": list(dims)})
