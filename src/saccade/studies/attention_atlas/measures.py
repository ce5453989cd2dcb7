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


def looking(weights: np.ndarray, where: np.ndarray, mask: np.ndarray | None = None) -> Looking:
    """Over samples with tokens that matter and tokens that do not; not a number without any. Where
    `mask` says that there is no token, nothing is looked at and nothing compared."""
    others = ~where if mask is None else mask & ~where
    mixed = where.any(axis=1) & others.any(axis=1)
    weights, where, others = weights[mixed], where[mixed], others[mixed]
    if not len(where):
        return Looking(np.nan, np.nan)
    gap = weights[:, :, None] - weights[:, None, :]
    above = np.where(np.abs(gap) <= EVEN, 0.5, gap > 0)
    pairs = where[:, :, None] & others[:, None, :]
    weights = np.where(where | others, weights, -np.inf)
    heaviest = weights >= weights.max(axis=1, keepdims=True) - EVEN
    hits = (heaviest & where).sum(axis=1) / heaviest.sum(axis=1)
    by_sample = (above * pairs).sum(axis=(1, 2)) / pairs.sum(axis=(1, 2))
    return Looking(float(by_sample.mean()), float(hits.mean()))
