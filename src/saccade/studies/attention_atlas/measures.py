"""What is measured of a fitted model: its error, and whether it looks where the truth lies."""

from typing import NamedTuple

import numpy as np

from saccade.contracts import Kind

EVEN = 1e-12
"""Weights closer than this are a tie."""


class Looking(NamedTuple):
    """`auroc`: chance that a token that matters weighs more than another of its sample; `top1`:
    how often the heaviest token matters. Ties count by halves, or by their share."""

    auroc: float
    top1: float


def error(F: np.ndarray, y: np.ndarray, kind: Kind) -> float:
    """Mean squared error, or the share of wrong labels (a margin of 0 is half wrong)."""
    F, y = np.asarray(F, float), np.asarray(y, float)
    if kind == "regression":
        return float(np.mean(np.square(F - y)))
    return float(np.mean(np.where(F == 0, 0.5, y * F < 0)))


def null_error(y: np.ndarray, kind: Kind) -> float:
    """Of the best constant on these samples."""
    if kind == "regression":
        return float(np.var(y))
    return float(min(np.mean(y > 0), np.mean(y < 0)))


def looking(weights: np.ndarray, where: np.ndarray) -> Looking:
    """Over samples with tokens that matter and tokens that do not; not a number without any."""
    mixed = where.any(axis=1) & ~where.all(axis=1)
    weights, where = weights[mixed], where[mixed]
    if not len(where):
        return Looking(np.nan, np.nan)
    gap = weights[:, :, None] - weights[:, None, :]
    above = np.where(np.abs(gap) <= EVEN, 0.5, gap > 0)
    pairs = where[:, :, None] & ~where[:, None, :]
    heaviest = weights >= weights.max(axis=1, keepdims=True) - EVEN
    hits = (heaviest & where).sum(axis=1) / heaviest.sum(axis=1)
    by_sample = (above * pairs).sum(axis=(1, 2)) / pairs.sum(axis=(1, 2))
    return Looking(float(by_sample.mean()), float(hits.mean()))
