"""Errors with heavy tails as four numbers: mean, median, 90 % quantile, and the share of problems
that diverged."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class Tails(NamedTuple):
    """`diverged` counts errors above twice the sparsity (twice what predicting zero costs on
    average) and those that are not finite."""

    mean: Float[np.ndarray, "..."]
    median: Float[np.ndarray, "..."]
    p90: Float[np.ndarray, "..."]
    diverged: Float[np.ndarray, "..."]


def squared_errors(b: np.ndarray, beta: np.ndarray) -> Float[np.ndarray, "... sample"]:
    """|b - beta|^2; not a number counts as infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        errors = ((np.asarray(b, float) - np.asarray(beta, float)) ** 2).sum(-1)
    return np.where(np.isnan(errors), np.inf, errors)


def tails(errors: Float[np.ndarray, "... sample"], sparsity: int) -> Tails:
    """The four numbers along the last axis."""
    with np.errstate(over="ignore", invalid="ignore"):
        return Tails(
            errors.mean(-1), np.median(errors, -1), np.quantile(errors, 0.9, -1),
            (errors > 2 * sparsity).mean(-1))
