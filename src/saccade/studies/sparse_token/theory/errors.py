"""Test and training error of a fitted classifier, with the Gaussian integrated exactly and never by
counting."""

import numpy as np
from scipy.special import ndtr

from saccade.studies.sparse_token.theory.law import FeatureLaw
from saccade.studies.sparse_token.theory.saddle import Overlaps


def _smooth_margin(law: FeatureLaw, point: Overlaps):
    """Mean and standard deviation of omega given the node, the common shift of the tokens
    included."""
    mean = point.query * law.along + point.across * law.across + point.intercept
    deviation = np.sqrt(
        (law.spread * point.orthogonal_norm) ** 2 + point.query**2 * law.shift_variance)
    return mean, deviation


def test_error(law: FeatureLaw, point: Overlaps) -> float:
    """P(y omega < 0) on a fresh sample: E Phi(-y mean / deviation)."""
    mean, deviation = _smooth_margin(law, point)
    return float(law.weight @ ndtr(-law.label * mean / np.maximum(deviation, 1e-300)))


def train_error(law: FeatureLaw, point: Overlaps, sign_offset: float) -> float:
    """P(y eta < 0) on the training samples; y eta > 0 iff y omega + o tau^2 V > 0 with o =
    |l'(0)|."""
    mean, deviation = _smooth_margin(law, point)
    margin = law.label * mean + sign_offset * law.spread**2 * point.variance
    return float(law.weight @ ndtr(-margin / np.maximum(deviation, 1e-300)))


test_error.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]  its name is not a request to pytest
