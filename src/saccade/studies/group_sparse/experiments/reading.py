"""Reading learning curves: samples needed, power laws in the sizes, and how much of the variation
they explain."""

import numpy as np

from saccade.lab.experiment import Run

LEVEL = 0.1
"""The test error that counts as learned."""


def samples_needed(errors: np.ndarray, counts: np.ndarray, level: float = LEVEL) -> np.ndarray:
    """First n at which the error is at most `level`, by interpolation in log n; NaN where it is
    never reached. Last axis: n."""
    below = errors <= level
    first = below.argmax(axis=-1)
    before = np.maximum(first - 1, 0)
    high, low = (
        np.take_along_axis(errors, place[..., None], -1)[..., 0] for place in (before, first))
    share = np.where(high > low, (high - level) / np.where(high > low, high - low, 1.0), 1.0)
    logs = np.log(counts)
    crossing = np.exp(logs[before] + np.clip(share, 0, 1) * (logs[first] - logs[before]))
    return np.where(below.any(-1), crossing, np.nan)


def exponents(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Slope of log value against log size for each draw; `values` is [pair][draw]."""
    x = np.log(sizes.astype(float))
    x = x - x.mean()
    return (x[:, None] * np.log(values)).sum(0) / (x**2).sum()


def shares_explained(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """R^2 of a power law in `sizes`, for each draw; `values` is [pair][draw]."""
    x, y = np.log(sizes.astype(float)), np.log(values)
    centred = y - y.mean(axis=0)
    left = centred - np.outer(x - x.mean(), exponents(values, sizes))
    return 1 - (left**2).sum(axis=0) / (centred**2).sum(axis=0)


def online_errors(run: Run, learner: str) -> np.ndarray:
    """The average online error over the whole stream, what Theorem 4.2 bounds; [pair][draw]. Its
    least positive value is one mistake."""
    last = run.data.error.sel(learner=learner, measure="online").isel(samples=-1).values
    return np.maximum(last, 1 / run.parameters.samples)


def needed(run: Run, learner: str) -> np.ndarray:
    """Samples for 10 % test error by an online learner; [pair][draw]."""
    errors = run.data.error.sel(learner=learner, measure="test")
    return samples_needed(errors.values, run.data.samples.values)


def batch_needed(run: Run, reader: str) -> np.ndarray:
    """Samples for 10 % test error by batch fits of what a reader gives; [pair][draw]."""
    return samples_needed(run.data.error.sel(reader=reader).values, run.data.samples.values)


def sizes(run: Run) -> dict[str, np.ndarray]:
    """d + D and d D of every pair."""
    d, D = run.data.group_dim.values, run.data.groups.values
    return {"d+D": d + D, "dD": d * D}


def joint_exponents(values: np.ndarray, run: Run) -> np.ndarray:
    """Exponents of d and of D in a joint fit, for each draw: [2][draw]."""
    d, D = run.data.group_dim.values, run.data.groups.values
    design = np.stack([np.ones(len(d)), np.log(d), np.log(D)], 1)
    return (np.linalg.pinv(design) @ np.log(values))[1:]
