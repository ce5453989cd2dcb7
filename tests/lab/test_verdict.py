"""Intervals against scipy and brute force, their invariances, and the verdicts drawn from them."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from saccade.errors import InvalidInput
from saccade.lab import verdict as v
from saccade.lab.intervals import (
    MIN_REPLICATES,
    SKEW_RESERVE,
    Interval,
    exact_interval,
    fraction_interval,
    interval,
    intervals,
    mean_interval,
    median_interval,
    quantile_interval,
    wilson_ends,
)
from saccade.lab.kinds import ABOVE, BELOW, ESTIMATE, IDENTITY, KINDS, ORDERING, SLOPE, kind_named

INF, NAN = np.inf, np.nan
MODERATE = st.floats(-100, 100)
ROWS = arrays(float, st.integers(32, 80), elements=MODERATE)
ERRORS = st.sampled_from([0.05, 1e-2, 1e-3, 1e-5, 1e-8])
STATISTICS = st.sampled_from(["mean", "median", "quantile:0.2", "quantile:0.9"])


def normal_row(n: int = 50, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(3, 2, n)


# The split of the error


def test_errors_of_all_looks_parts_and_claims_add_up_to_the_ledger_error():
    total = sum(v.look_error(look, parts=3) for look in range(60)) * 3 * v.LEDGER_CAPACITY
    assert total == pytest.approx(v.LEDGER_ERROR, rel=1e-12)
    assert v.look_error(0) == 0.01 / 512 / 2
    assert v.look_error(3, parts=4) == v.look_error(0) / 8 / 4


def test_the_numbers_of_the_promise_are_those_that_were_measured():
    """`mean_intervals` gives the chances of a miss at these two; other ones need new measurements
    (`test_verdict_simulation.py`)."""
    assert (MIN_REPLICATES, SKEW_RESERVE, v.LEDGER_ERROR, v.LEDGER_CAPACITY) == (32, 32, 0.01, 512)


# Intervals against independent computations


@pytest.mark.parametrize("error", [0.05, 1e-3, 1e-5, 1e-9])
def test_mean_interval_is_students_at_the_reserved_level(error):
    row = normal_row()
    wanted = stats.t.interval(1 - error / SKEW_RESERVE, len(row) - 1, row.mean(), stats.sem(row))
    found = mean_interval(row, error)
    assert found.estimate == pytest.approx(row.mean())
    assert found[1:] == pytest.approx(
        wanted, rel=1e-6)  # scipy's own level 1 - 1e-11 has few digits


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("error", [0.05, 1e-3, 1e-5])
@pytest.mark.parametrize("n", [20, 61, 200])
def test_quantile_ranks_are_the_tightest_that_binomial_tails_allow(q, error, n):
    count = stats.binom(n, q)
    low, high = quantile_interval(np.arange(1, n + 1), q, error)[
        1:]  # the replicates are their own ranks
    ranks = range(1, n + 1)
    lows = [rank for rank in ranks if count.cdf(rank - 1) <= error / 2]
    highs = [rank for rank in ranks if count.sf(rank - 1) <= error / 2]
    assert low == max(lows, default=-INF)
    assert high == min(highs, default=INF)


def test_median_estimate_is_the_usual_one_and_the_interval_the_half_quantile():
    for n in (31, 32):
        row = normal_row(n)
        assert median_interval(row, 1e-3).estimate == np.median(row)
        assert median_interval(row, 1e-3) == quantile_interval(row, 0.5, 1e-3)
    assert quantile_interval(np.arange(1, 11), 0.7, 0.5).estimate == 7.5


def test_quantile_ends_are_infinite_until_there_are_enough_replicates():
    error = v.look_error(0)
    enough = {
        q: next(n for n in range(1, 200) if quantile_interval(np.arange(n), q, error).high < INF)
        for q in (0.5, 0.9)}
    assert enough == {0.5: 18, 0.9: 117}
    assert median_interval(np.arange(17), error)[1:] == (-INF, INF)


@pytest.mark.parametrize("error", [0.05, 1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize(("successes", "n"), [(0, 32), (1, 32), (13, 40), (40, 40), (500, 1000)])
def test_fraction_interval_is_the_union_of_wilson_and_clopper_pearson(successes, n, error):
    test = stats.binomtest(successes, n)
    both = [test.proportion_ci(1 - error, method) for method in ("wilson", "exact")]
    found = fraction_interval((successes, n), error)
    assert found.estimate == successes / n
    assert found.low == pytest.approx(min(ends.low for ends in both), rel=1e-5, abs=1e-12)
    assert found.high == pytest.approx(max(ends.high for ends in both), rel=1e-5)


def test_fraction_counts_samples_and_refuses_others():
    row = [0, 1, 1, 0, 1]
    assert fraction_interval(row, 0.01) == fraction_interval((3, 5), 0.01)
    assert interval(np.array(row, bool), "fraction", 0.01) == fraction_interval((3, 5), 0.01)
    with pytest.raises(InvalidInput, match="must be 0 or 1"):
        fraction_interval([0, 0.5], 0.01)
    with pytest.raises(InvalidInput, match="between 0 and 5"):
        fraction_interval((6, 5), 0.01)


def worst_miss(low: np.ndarray, high: np.ndarray, n: int) -> tuple[float, float]:
    """Largest chance over p, by exact binomial sums, of missing p at all and on one side; it peaks
    just outside an end."""
    p = np.concatenate([low * (1 - 1e-9), high + (1 - high) * 1e-9])
    p = p[(p > 1e-9) & (p < 1 - 1e-9)]
    chance = stats.binom.pmf(np.arange(n + 1), n, p[:, None])
    over, under = (chance * (low > p[:, None])).sum(1), (chance * (high < p[:, None])).sum(1)
    return float((over + under).max()), float(max(over.max(), under.max()))


@pytest.mark.parametrize("error", [1e-2, 1e-3, v.look_error(0), v.look_error(5)])
@pytest.mark.parametrize("n", [64, 300])
def test_fractions_keep_their_promise_where_wilson_alone_breaks_it(n, error):
    successes = np.arange(n + 1.0)
    rows = (np.arange(n) < successes[:, None]).astype(float)
    at_all, one_side = worst_miss(*intervals(rows, "fraction", error)[1:], n)
    assert at_all <= error * (1 + 1e-6)
    assert one_side <= error / 2 * (1 + 1e-6)
    assert worst_miss(*wilson_ends(successes, n, error), n)[0] > 10 * error


# Replicates that are not finite, too few, or all equal


def test_mean_says_nothing_from_too_few_or_equal_or_partly_infinite_replicates():
    assert mean_interval(normal_row(MIN_REPLICATES - 1), 0.01)[1:] == (-INF, INF)
    assert mean_interval(normal_row(MIN_REPLICATES), 0.01).low > -INF
    assert mean_interval(np.full(50, 0.1), 0.01)[1:] == (-INF, INF)
    for bad in (NAN, INF, -INF):
        found = mean_interval([bad, *normal_row()], 0.01)
        assert np.isnan(found.estimate) and found[1:] == (-INF, INF)
        assert np.isnan(mean_interval([bad] * 40, 0.01)).all()


def test_medians_take_infinities_as_values_and_nan_as_plus_infinity():
    row = normal_row(41)
    row[:5] = NAN
    as_infinite = np.where(np.isnan(row), INF, row)
    assert median_interval(row, 1e-3) == median_interval(as_infinite, 1e-3)
    assert np.isfinite(median_interval(row, 1e-3)).all()
    assert median_interval([-INF] * 20 + [NAN] * 21, 1e-3) == (INF, -INF, INF)
    assert median_interval([NAN] * 30, 1e-3) == (INF, INF, INF)


def test_exact_is_degenerate_for_one_value_a_range_for_several_and_nan_if_any_is():
    assert exact_interval(2.5) == (2.5, 2.5, 2.5) == interval([2.5, 2.5], "exact", 0.01)
    assert interval([1, 2], "exact", 0.01) == (1.5, 1, 2)
    assert np.isnan(interval([1, NAN], "exact", 0.01)).all()


@pytest.mark.parametrize("statistic", ["meen", "quantile", ""])
def test_unknown_statistics_are_named(statistic):
    with pytest.raises(InvalidInput, match="no statistic named"):
        interval([1.0], statistic, 0.01)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mean_interval([], 0.01), lambda: mean_interval([1.0], 0.0),
        lambda: quantile_interval([1.0], 1.0, 0.01), lambda: v.look_error(-1),
        lambda: v.look_error(0, parts=0),
        lambda: v.judge(ESTIMATE, np.zeros((4, 2)), [0, 0, 0], 1, "mean", 0),
        lambda: v.judge(ESTIMATE, np.zeros((4, 2)), [0, 0], -1, "mean", 0),
        lambda: v.judge(ESTIMATE, np.zeros((0, 2)), [0, 0], 1, "mean", 0)])
def test_bad_input_is_refused(call):
    with pytest.raises(InvalidInput):
        call()


# Invariances


@given(ROWS, STATISTICS, ERRORS, MODERATE, st.floats(0.01, 100))
def test_intervals_follow_shifts_and_scales(row, statistic, error, shift, scale):
    assume(np.ptp(row) > 1e-3)
    moved = np.array(interval(shift + scale * row, statistic, error))
    np.testing.assert_allclose(
        moved, shift + scale * np.array(interval(row, statistic, error)), rtol=1e-7, atol=1e-7)


@given(ROWS, ERRORS)
def test_intervals_mirror_with_the_sign(row, error):
    for statistic, mirrored in (
        ("mean", "mean"), ("median", "median"), ("quantile:0.2", "quantile:0.8"),
    ):
        estimate, low, high = interval(row, statistic, error)
        expected = (-estimate, -high, -low)
        np.testing.assert_allclose(interval(-row, mirrored, error), expected, rtol=1e-9, atol=1e-9)


@given(ROWS, STATISTICS, ERRORS, ERRORS)
def test_less_error_gives_a_wider_interval_around_the_same_estimate(row, statistic, one, other):
    small, large = sorted((one, other))
    wide, narrow = interval(row, statistic, small), interval(row, statistic, large)
    assert wide.estimate == narrow.estimate
    assert wide.low <= narrow.low <= narrow.estimate <= narrow.high <= wide.high


@given(
    st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), ERRORS, ERRORS)
def test_fractions_mirror_and_widen(counts, one, other):
    (successes, n), (small, large) = counts, sorted((one, other))
    wide, narrow = fraction_interval(counts, small), fraction_interval(counts, large)
    assert 0 <= wide.low <= narrow.low <= narrow.estimate <= narrow.high <= wide.high <= 1
    mirrored = fraction_interval((n - successes, n), small)
    assert mirrored[1:] == pytest.approx((1 - wide.high, 1 - wide.low), abs=1e-12)


@given(arrays(float, (3, 4, 40), elements=MODERATE), STATISTICS, ERRORS)
def test_many_rows_at_once_give_what_each_gives_alone(rows, statistic, error):
    together = intervals(rows, statistic, error)
    np.testing.assert_allclose(
        [end[1, 2] for end in together], interval(rows[1, 2], statistic, error), rtol=1e-12)


# Verdicts


def ends(low: float, high: float) -> Interval:
    return Interval((low + high) / 2, low, high)


CASES = [
    (ESTIMATE, ends(4.5, 5.5), v.HOLDS), (ESTIMATE, ends(4, 6), v.HOLDS),
    (ESTIMATE, ends(5.5, 6.5), v.UNDECIDED), (ESTIMATE, ends(3, 7), v.UNDECIDED),
    (ESTIMATE, ends(6.1, 7), v.REFUTED), (ESTIMATE, ends(2, 3.9), v.REFUTED),
    (ESTIMATE, ends(6, 7), v.UNDECIDED), (SLOPE, ends(4.5, 5.5), v.HOLDS),
    (SLOPE, ends(6.1, INF), v.REFUTED), (BELOW, ends(-INF, 6), v.HOLDS),
    (BELOW, ends(5, 6.1), v.UNDECIDED), (BELOW, ends(6, 7), v.UNDECIDED),
    (BELOW, ends(6.1, 7), v.REFUTED), (ABOVE, ends(4, INF), v.HOLDS),
    (ABOVE, ends(3.9, 5), v.UNDECIDED), (ABOVE, ends(3, 4), v.UNDECIDED),
    (ABOVE, ends(3, 3.9), v.REFUTED), (ORDERING, ends(5.1, 5.5), v.HOLDS),
    (ORDERING, ends(5, 9), v.UNDECIDED), (ORDERING, ends(4.5, 5.9), v.REFUTED),
    (ORDERING, ends(4.5, 6), v.UNDECIDED), (IDENTITY, ends(6, 6), v.HOLDS),
    (IDENTITY, ends(4, 4), v.HOLDS), (IDENTITY, ends(6.01, 6.01), v.REFUTED),
    (IDENTITY, ends(5, 6.01), v.REFUTED)]


@pytest.mark.parametrize(("kind", "measured", "wanted"), CASES)
def test_decide_prediction_five_resolution_one(kind, measured, wanted):
    assert v.decide(kind, measured, 5, 1) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_nan_is_refuted_and_ignorance_undecided(kind):
    assert v.decide(kind, Interval(NAN, NAN, NAN), 0, 1) == v.REFUTED
    assert v.decide(kind, ends(0, 0), NAN, 1) == v.REFUTED
    if kind is not IDENTITY:
        assert v.decide(kind, Interval(NAN, -INF, INF), 0, 1) == v.UNDECIDED


@pytest.mark.parametrize("kind", KINDS)
@given(low=MODERATE, width=st.floats(0, 50), slack=st.floats(0, 20))
def test_region_and_rule_of_a_kind_agree(kind, low, width, slack):
    """An interval that holds lies in the region that is drawn; one that is refuted does not."""
    allowed = kind.region(slack)
    verdict = v.decide(kind, ends(low, low + width), 0, slack)
    inside = allowed[0] <= low and low + width <= allowed[1]
    assert verdict != v.HOLDS or inside
    assert verdict != v.REFUTED or not inside or kind is ORDERING


def test_the_kind_of_a_row_is_found_by_its_words():
    assert [kind_named(kind.name, kind.side) for kind in KINDS] == list(KINDS)
    with pytest.raises(InvalidInput, match="did you mean 'estimate'"):
        kind_named("estimat")
    with pytest.raises(InvalidInput, match="must be 'below' or 'above'"):
        kind_named("bound")


@given(st.lists(st.sampled_from([v.HOLDS, v.REFUTED, v.UNDECIDED]), min_size=1))
def test_combine_takes_the_worst(verdicts):
    order = [v.REFUTED, v.UNDECIDED, v.HOLDS]
    assert v.combine(iter(verdicts)) == min(verdicts, key=order.index)


def test_judge_gives_every_part_its_interval_at_its_share_of_the_error():
    samples = np.random.default_rng(1).normal([0, 1, 2], 1, (400, 3))
    judgement = v.judge(ESTIMATE, samples, [0, 1, 0], [0.5, 0.05, 0.5], "mean", look=2)
    assert judgement.verdicts == [v.HOLDS, v.UNDECIDED, v.REFUTED]
    assert (judgement.verdict, judgement.looks, judgement.replicates) == (v.REFUTED, 3, 400)
    np.testing.assert_allclose(
        judgement.intervals[1], mean_interval(samples[:, 1], v.look_error(2, parts=3)))


def test_judge_takes_one_column_and_judges_identities_exactly():
    assert v.judge(IDENTITY, [1.0], 1.0, 0.0, "mean", 0).verdict == v.HOLDS
    assert (
        v.judge(IDENTITY, [[1.0, 2.0 + 1e-9]], [1.0, 2.0], [0, 1e-10], "exact", 0).verdict
        == v.REFUTED)
    assert v.judge(ESTIMATE, np.full((40, 1), NAN), 0.0, 1.0, "mean", 0).verdict == v.REFUTED
    assert v.judge(BELOW, np.full(40, NAN), 0.0, 1.0, "median", 0).verdict == v.REFUTED


@pytest.mark.parametrize(
    ("kind", "low", "high", "excess"),
    [
        (ESTIMATE, -0.5, 0.1, 0.5), (ESTIMATE, -0.1, 0.5, 0.5), (SLOPE, -0.5, 0.1, 0.5),
        (IDENTITY, -0.1, 0.5, 0.5), (BELOW, -2, 0.3, 0.3), (ABOVE, -0.3, 2, 0.3),
        (ORDERING, 0.2, 5, -0.2)])
def test_how_near_an_interval_is_to_failing_is_told_by_its_worse_end(kind, low, high, excess):
    assert kind.excess(low, high) == pytest.approx(excess)


@pytest.mark.parametrize(
    ("kind", "statistic"),
    [(ESTIMATE, "mean"), (IDENTITY, "mean"), (BELOW, "exact"), (BELOW, "fraction")])
def test_only_a_claim_that_spends_has_an_interval_that_depends_on_its_error(kind, statistic):
    samples = np.random.default_rng(0).random((64, 1)).round(int(statistic != "fraction"))
    first, second = (v.judge(kind, samples, 0.5, 0.1, statistic, look).intervals for look in (0, 1))
    assert (first != second) is v.spends(kind, statistic)
