"""Exponents and thresholds: right where the answer is known, and intervals that keep their word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from saccade.errors import InvalidInput
from saccade.lab.fits import (
    exponents,
    fit_exponent,
    locate_threshold,
    monotone,
    search_threshold,
    slopes,
)

X = np.array([1.0, 2.0, 4.0, 8.0, 16.0])


def test_a_power_law_is_found_exactly():
    found = fit_exponent(X, 3 * X**-0.7)
    assert np.allclose(found, (-0.7, -0.7, -0.7, 3.0))
    assert np.allclose(exponents(X, [X**2, 5 * X**-1]), [2, -1])
    assert np.allclose(slopes(X, 2 * X + 1), 2)


@pytest.mark.parametrize("replicates", [None, 8])
def test_the_interval_of_an_exponent_misses_as_often_as_it_may(replicates):
    draw, misses, error = np.random.default_rng(0), 0, 0.1
    shape = (X.size,) if replicates is None else (replicates, X.size)
    for _ in range(1000):
        found = fit_exponent(X, X**0.5 * np.exp(0.2 * draw.normal(size=shape)), error)
        misses += not found.low <= 0.5 <= found.high
    assert 60 <= misses <= 140  # 100 expected, four deviations


def chance(x):
    return 1 / (1 + np.exp(-3 * (x - 1.3)))


def test_the_interval_of_a_threshold_keeps_its_promise():
    draw, x = np.random.default_rng(1), np.linspace(0, 3, 13)
    found = [locate_threshold(x, draw.binomial(100, chance(x)), 100) for _ in range(400)]
    assert sum(not one.low <= 1.3 <= one.high for one in found) <= 20  # 5 % of them
    assert abs(np.mean([one.estimate for one in found]) - 1.3) < 0.02
    assert np.mean([one.high - one.low for one in found]) < 1.2


def test_the_intervals_of_all_points_hold_together():
    """A chance of one half everywhere: no point may be said to lie on a side, in 95 % of cases."""
    draw, x = np.random.default_rng(3), np.arange(40.0)
    found = [locate_threshold(x, draw.binomial(200, 0.5, x.size), 200) for _ in range(400)]
    assert sum(np.isfinite([one.low, one.high]).any() for one in found) <= 20


def test_looking_again_and_again_spends_the_error_of_one_point():
    """At a chance of one half the first point takes a side in half of the error at most, over all
    eight looks: 20 of 400, four deviations more."""
    draw, error = np.random.default_rng(4), 0.1
    found = [
        search_threshold(lambda x, n: draw.random(n) < 0.5, 0.0, 1.0, width=0.6, error=error)
        for _ in range(400)]
    assert sum(one.high - one.low < 1 for one in found) <= 37


def test_falling_chances_are_the_mirror_image():
    x, counts = np.arange(6.0), np.array([0, 1, 20, 80, 99, 100])
    rising = locate_threshold(x, counts, 100)
    assert rising == (2.5, 2.0, 3.0)
    falling = locate_threshold(x, counts[::-1], 100, falling=True)
    assert falling == (2.5, 2.0, 3.0)


def test_a_side_that_is_not_seen_is_said_to_be_open():
    found = locate_threshold([0.0, 1.0], [0, 3], 100)
    assert np.isnan(found.estimate) and found.low == 1.0 and found.high == np.inf


def test_neighbours_that_fall_are_averaged():
    assert np.allclose(monotone([0, 3, 1, 2, 5]), [0, 2, 2, 2, 5])
    assert locate_threshold([0.0, 1.0, 2.0, 3.0], [0, 50, 50, 100], 100).estimate == 1.5


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9))
def test_the_monotone_curve_is_the_nearest_in_least_squares(values):
    assert np.allclose(monotone(values), isotonic_regression(values).x)


@pytest.mark.parametrize("falling", [False, True])
def test_a_search_finds_the_threshold_and_is_honest_where_it_cannot_tell(falling):
    draw, asked = np.random.default_rng(2), []

    def measure(x, n):
        asked.append(n)
        p = chance(x)
        return draw.random(n) < (1 - p if falling else p)

    found = search_threshold(measure, 0.0, 3.0, falling=falling, width=0.05)
    assert found.low <= 1.3 <= found.high and found.high - found.low < 0.4
    assert sum(asked) < 20_000


def test_what_cannot_be_fitted_is_refused():
    for refused in (
        lambda: fit_exponent(X, -X), lambda: fit_exponent(X[:2], X[:2]),
        lambda: fit_exponent(X, X[:3]), lambda: fit_exponent(X, X, error=0),
        lambda: fit_exponent(X, X[None]), lambda: slopes([1, 1], [1, 2]),
        lambda: locate_threshold([1.0, 0.0], [1, 2], 3), lambda: locate_threshold([0.0], [4], 3),
        lambda: locate_threshold([0.0], [1], 3, level=1), lambda: fit_exponent(["a", "b"], X),
        lambda: fit_exponent(X, [[1.0], [1.0, 2.0]]),
        lambda: fit_exponent(X, [1.0, np.nan, 1.0, 1.0, 1.0]), lambda: fit_exponent(X, None),
        lambda: locate_threshold([0.0], [1], 0), lambda: locate_threshold([0.0], [1], 2.5),
        lambda: locate_threshold([0.0, np.inf], [1, 1], 3), lambda: locate_threshold("ab", [1], 3),
        lambda: search_threshold(lambda x, n: [True] * n, 1.0, 0.0),
        *(
            lambda wrong=wrong: search_threshold(lambda x, n: [x > 0.3] * n, 0.0, 1.0, **wrong)
            for wrong in (  # the first three would never end
                {"width": 0.0}, {"width": -1.0}, {"trials": 0}, {"trials": 10, "most": 5},
                {"level": 1.0}, )),
    ):
        with pytest.raises(InvalidInput):
            refused()
