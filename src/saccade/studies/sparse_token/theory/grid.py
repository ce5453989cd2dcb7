"""A check of the solver over its whole declared domain: a random subsample of the grid, fixed by
its seed, run and summed up."""

import time
from typing import NamedTuple

import numpy as np

from saccade.studies.sparse_token.task import SparseTokenSetting
from saccade.studies.sparse_token.theory.fitted import FINE, Resolution, fit

DOMAIN = {
    "samples_per_dim": (0.1, 100.0), "ridge": (1e-6, 10.0), "signal": (0.0, 10.0),
    "alignment": (-1.0, 1.0), "sharpness": (0.0, 10.0), "positive_rate": (0.02, 0.98)}
LENGTHS = (2, 10, 100)


class GridReport(NamedTuple):
    """How many of `cases` converged, which did not, and the slowest with its processor seconds."""

    cases: int
    converged: int
    failures: list[dict]
    slowest: dict
    slowest_seconds: float
    median_seconds: float
    worst_residual: float


def grid_cases(count: int, seed: int = 0) -> list[dict]:
    """Log-uniform samples and ridges, uniform elsewhere; one value in five of each sits on an end
    of its range, where solvers break."""
    rng = np.random.default_rng(seed)
    return [_grid_case(rng) for _ in range(count)]


def _grid_case(rng: np.random.Generator) -> dict:
    case: dict = {}
    for name, (low, high) in DOMAIN.items():
        logarithmic = name in ("samples_per_dim", "ridge")
        inside = (
            np.exp(rng.uniform(np.log(low), np.log(high))) if logarithmic
            else rng.uniform(low, high))
        case[name] = float(rng.choice([low, high]) if rng.random() < 0.2 else inside)
    case["length"] = int(rng.choice(LENGTHS))
    case["informative"] = int(rng.choice([1, max(1, case["length"] // 3), case["length"]]))
    return case


def check_grid(
    count: int = 50, seed: int = 0, model: str = "attention", loss: str = "logistic",
    fine: Resolution = FINE,
) -> GridReport:
    """Solve every case of the subsample and report; the target is that all converge."""
    cases, fits, seconds = grid_cases(count, seed), [], []
    for case in cases:
        begin = time.process_time()
        fits.append(_solve(case, model, loss, fine))
        seconds.append(time.process_time() - begin)
    failures = [
        case | {"residual": f.residual} for case, f in zip(cases, fits, strict=True)
        if f.status != "converged"]
    slow = int(np.argmax(seconds))
    worst = max(f.residual for f in fits)
    return GridReport(
        count, count - len(failures), failures, cases[slow], seconds[slow],
        float(np.median(seconds)), worst)


def _solve(case: dict, model: str, loss: str, fine: Resolution):
    setting = SparseTokenSetting(
        case["length"], case["informative"], case["positive_rate"], case["signal"])
    query = (
        {"alignment": case["alignment"], "sharpness": case["sharpness"]} if model == "attention"
        else {})
    return fit(setting, model, case["samples_per_dim"], case["ridge"], loss, fine=fine, **query)
