"""The promise of the ledger measured: synthetic claims, light- and heavy-tailed, through the whole
sequential procedure.

Three ways to see the false refutations of true claims whose truth sits at the edge of the
resolution (the worst case): exact sums where the chance does not depend on the distribution,
importance sampling for means at the real errors of 1e-5 and below, and plain simulation, at the
real errors and at errors a thousand times larger, where rates can be counted.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from saccade.lab import verdict as v
from saccade.lab.intervals import MIN_REPLICATES, SKEW_RESERVE, intervals
from saccade.lab.kinds import ABOVE, BELOW, ESTIMATE, ORDERING

pytestmark = pytest.mark.slow

FIRST, LOOKS = (
    32, 4)  # replicates at the first look, and how often they are doubled: 32, 64, 128, 256
BUDGET = FIRST * 2 ** (LOOKS - 1)
INFLATION = 1000


@dataclass(frozen=True)
class Synthetic:
    """Replicates whose `statistic` is 0 in truth, and the resolution that N of them can afford, as
    `verdict` states it."""

    draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
    statistic: str
    affordable: Callable[[int], float]


def mean_of(law) -> Synthetic:
    return Synthetic(
        lambda rng, shape: law.rvs(shape, random_state=rng) - law.mean(), "mean",
        lambda n: 9 * law.std() / np.sqrt(n))


def quantile_of(law, q: float) -> Synthetic:
    truth = law.ppf(q)

    def affordable(n: int) -> float:
        mass = 9 * np.sqrt(q * (1 - q) / n)
        return max(law.ppf(q + mass) - truth, truth - law.ppf(q - mass))

    return Synthetic(
        lambda rng, shape: law.rvs(shape, random_state=rng) - truth, f"quantile:{q}", affordable)


def negative(synthetic: Synthetic) -> Synthetic:
    return replace(synthetic, draw=lambda rng, shape: -synthetic.draw(rng, shape))


BLOCK_MEANS = mean_of(
    stats.gamma(4, scale=1 / 4))  # means of four exponentials: skewness 1, the documented limit
LOGNORMAL = stats.lognorm(2)
SYNTHETIC = {
    "normal, mean": mean_of(stats.norm()), "uniform, mean": mean_of(stats.uniform()),
    "exponential block means, mean": BLOCK_MEANS,
    "negative exponential block means, mean": negative(BLOCK_MEANS),
    "Cauchy, median": quantile_of(stats.cauchy(), 0.5),
    "Student 2, median": quantile_of(stats.t(2), 0.5),
    "lognormal 2, median": quantile_of(LOGNORMAL, 0.5),
    "lognormal 2, 0.9-quantile": quantile_of(LOGNORMAL, 0.9)}
FREQUENCIES = (0.02, 0.5, 0.9)


def verdicts(
    samples, statistic, kind, prediction, resolution, inflation=1.0, first=FIRST
) -> np.ndarray:
    """The whole procedure on many claims, one in each row: look, double, until decided or at the
    end of the row."""
    found = np.full(len(samples), v.UNDECIDED)
    n, look = first, 0
    while n <= samples.shape[1]:
        left = np.flatnonzero(found == v.UNDECIDED)
        measured = intervals(samples[left, :n], statistic, inflation * v.look_error(look))
        found[left] = v.decisions(kind, measured, prediction, resolution)
        n, look = 2 * n, look + 1
    return found


def refuted_at_the_edges(
    samples, statistic: str, r: float, inflation: float, truth=0.0
) -> np.ndarray:
    """Which claims are refuted, for every kind with the truth exactly at an edge of the resolution;
    one row per kind."""
    edges = [
        (ESTIMATE, truth - r), (ESTIMATE, truth + r), (BELOW, truth - r), (ABOVE, truth + r),
        (ORDERING, truth - r)]
    return np.array([
        verdicts(samples, statistic, kind, prediction, r, inflation) == v.REFUTED
        for kind, prediction in edges])


def surely_at_most(count: int, trials: int, promised: float) -> bool:
    """Even the upper end of a 99.9 % interval of the measured rate keeps the promise."""
    return stats.binomtest(count, trials).proportion_ci(0.999).high <= promised


# False refutations, plain simulation


@pytest.mark.parametrize("name", SYNTHETIC)
def test_true_claims_at_the_edge_are_refuted_no_more_than_promised(name):
    synthetic, claims = SYNTHETIC[name], 3000
    resolution = synthetic.affordable(1024)
    samples = synthetic.draw(np.random.default_rng(7), (claims, BUDGET))
    promised = INFLATION * v.LEDGER_ERROR / v.LEDGER_CAPACITY
    for refuted in refuted_at_the_edges(samples, synthetic.statistic, resolution, INFLATION):
        assert surely_at_most(refuted.sum(), claims, promised), (name, refuted.mean(), promised)
    assert not refuted_at_the_edges(samples, synthetic.statistic, resolution, inflation=1).any()


@pytest.mark.parametrize("frequency", FREQUENCIES)
def test_true_frequencies_at_the_edge_are_refuted_no_more_than_promised(frequency):
    claims = 3000
    samples = (np.random.default_rng(8).random((claims, BUDGET)) < frequency).astype(float)
    promised = INFLATION * v.LEDGER_ERROR / v.LEDGER_CAPACITY
    for refuted in refuted_at_the_edges(samples, "fraction", 0.02, INFLATION, truth=frequency):
        assert surely_at_most(refuted.sum(), claims, promised), (
            frequency, refuted.mean(), promised)


def test_whole_ledgers_of_true_claims_at_the_real_errors():
    """Fifty ledgers of 512 claims of all sorts at the edge; at the promised 1 % more than four
    refuting ones have chance 2e-4."""
    rng, ledgers = np.random.default_rng(9), 50
    each = v.LEDGER_CAPACITY // len(SYNTHETIC)
    refuted = np.zeros(ledgers, bool)
    for synthetic in SYNTHETIC.values():
        samples = synthetic.draw(rng, (ledgers * each, BUDGET))
        r = synthetic.affordable(1024)
        found = verdicts(samples, synthetic.statistic, ESTIMATE, -r, r) == v.REFUTED
        refuted |= found.reshape(ledgers, each).any(axis=1)
    assert refuted.sum() <= 4


def test_the_simulation_sees_a_broken_promise():
    """The mean of a lognormal with sigma 2, which the design forbids: large cases are rare, so the
    mean comes out low and narrow."""
    samples = mean_of(LOGNORMAL).draw(np.random.default_rng(10), (2000, BUDGET))
    refuted = verdicts(samples, "mean", ABOVE, 0.0, 0.0, INFLATION) == v.REFUTED
    promised = INFLATION * v.LEDGER_ERROR / v.LEDGER_CAPACITY
    assert refuted.mean() > 3 * promised


# False refutations at the real errors: exact sums


def chance_of_refutation(
    probability: float, verdict_of_count: Callable[[int, int], np.ndarray], first: int = FIRST
) -> float:
    """Exact chance of `refuted` when the verdict at a look depends only on how many of n replicates
    fell on one side."""
    refuted, undecided, before = 0.0, np.ones(1), 0
    for look in range(LOOKS):
        n = first * 2**look
        reached = np.convolve(
            undecided, stats.binom.pmf(np.arange(n - before + 1), n - before, probability))
        found = verdict_of_count(n, look)
        refuted += reached[found == v.REFUTED].sum()
        undecided, before = np.where(found == v.UNDECIDED, reached, 0.0), n
    return refuted


def ledger_chance(claim_chance: float) -> float:
    return -np.expm1(v.LEDGER_CAPACITY * np.log1p(-claim_chance))


def two_valued_rows(n: int) -> np.ndarray:
    """Row k holds k ones, then zeros, for k = 0 .. n."""
    return (np.arange(n) < np.arange(n + 1)[:, None]).astype(float)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("kind", [BELOW, ABOVE])
def test_quantiles_of_any_continuous_law_keep_the_ledgers_promise_exactly(q, kind):
    """Replicates enter only by how many lie above the true quantile: -1 below, +1 above, the truth
    0 exactly at the bound."""

    def verdict_of_count(n: int, look: int) -> np.ndarray:
        measured = intervals(2 * two_valued_rows(n) - 1, f"quantile:{q}", v.look_error(look))
        return v.decisions(kind, measured, 0.0, 0.0)

    chance = ledger_chance(chance_of_refutation(1 - q, verdict_of_count))
    assert chance <= v.LEDGER_ERROR / 2
    assert q != 0.5 or chance > v.LEDGER_ERROR / 20  # and the errors are not given away either


@pytest.mark.parametrize("frequency", [0.0005, 0.01, 0.3, 0.5, 0.8, 0.999])
@pytest.mark.parametrize("kind", [BELOW, ABOVE])
def test_frequencies_keep_the_ledgers_promise_exactly(frequency, kind):
    def verdict_of_count(n: int, look: int) -> np.ndarray:
        measured = intervals(two_valued_rows(n), "fraction", v.look_error(look))
        return v.decisions(kind, measured, frequency, 0.0)

    assert ledger_chance(chance_of_refutation(frequency, verdict_of_count)) <= v.LEDGER_ERROR / 2


@pytest.mark.parametrize("frequency", [0.42, 0.45, 0.48, 0.5, 0.55, 0.58])
def test_means_of_two_lumps_keep_the_claims_promise_from_the_fewest_replicates_on(frequency):
    """Two narrow lumps, skewness up to 0.3: with too few replicates all but a few may fall into the
    same one."""

    def verdict_of_count(n: int, look: int) -> np.ndarray:
        lumps = two_valued_rows(n) + 1e-6 * np.sin(np.arange(n))
        measured = intervals(lumps, "mean", v.look_error(look))
        return v.decisions(BELOW, measured, frequency, 1e-6)

    chance = chance_of_refutation(frequency, verdict_of_count, first=MIN_REPLICATES)
    assert chance <= v.LEDGER_ERROR / v.LEDGER_CAPACITY


# False refutations at the real errors: importance sampling for means


def beta_of_moments(mean: float, variance: float):
    strength = mean * (1 - mean) / variance - 1
    return stats.beta(mean * strength, (1 - mean) * strength)


def gamma_of_moments(mean: float, variance: float):
    return stats.gamma(mean**2 / variance, scale=variance / mean)


LAWS = {
    "uniform": (stats.uniform(), beta_of_moments, 2),
    "gamma of skewness 1": (stats.gamma(4), gamma_of_moments, LOOKS)}


def chance_that_the_mean_is_missed_above(
    law, proposal_of_moments, n: int, error: float, seed: int = 0
) -> float:
    """P(high end < truth), by importance sampling; the proposal is moved towards the event by the
    cross-entropy method."""
    rng = np.random.default_rng(seed)
    proposal = proposal_of_moments(law.mean(), law.var())

    def draw(size: int):
        rows = proposal.rvs((size, n), random_state=rng)
        score = (law.mean() - rows.mean(1)) / rows.std(1)  # large where Student's interval lies low
        return rows, score, np.exp((law.logpdf(rows) - proposal.logpdf(rows)).sum(1))

    for _ in range(14):
        rows, score, weight = draw(1000)
        missed = intervals(rows, "mean", error).high < law.mean()
        chosen = missed if missed.mean() > 0.2 else score >= np.quantile(score, 0.8)
        mean = np.average(rows[chosen].mean(1), weights=weight[chosen])
        variance = np.average(((rows[chosen] - mean) ** 2).mean(1), weights=weight[chosen])
        proposal = proposal_of_moments(mean, variance)
    rows, _, weight = draw(6000)
    contributions = weight * (intervals(rows, "mean", error).high < law.mean())
    assert (
        contributions.std() / np.sqrt(len(rows)) < 0.1 * contributions.mean()
    )  # the estimate itself is good to 10 %
    return contributions.mean()


@pytest.mark.parametrize("name", LAWS)
def test_means_keep_the_claims_promise_at_the_real_errors(name):
    """A union bound over the looks: some measured, the later ones (larger n only helps) counted
    with their whole error."""
    law, proposal, measured = LAWS[name]
    looks = [
        chance_that_the_mean_is_missed_above(law, proposal, FIRST * 2**look, v.look_error(look))
        for look in range(measured)]
    assert sum(looks) + v.look_error(measured - 1) <= v.LEDGER_ERROR / v.LEDGER_CAPACITY


@pytest.mark.parametrize("name", LAWS)
def test_students_interval_without_the_reserve_breaks_the_promise(name):
    error = v.look_error(0)
    assert (
        chance_that_the_mean_is_missed_above(*LAWS[name][:2], FIRST, error * SKEW_RESERVE)
        > 1.1 * error)


# Coverage


@pytest.mark.parametrize("error", [1e-2, 1e-3])
@pytest.mark.parametrize("name", SYNTHETIC)
def test_intervals_cover_the_truth(name, error):
    synthetic, rows, n = SYNTHETIC[name], 20_000, 48
    measured = intervals(
        synthetic.draw(np.random.default_rng(11), (rows, n)), synthetic.statistic, error)
    missed = int(((measured.low > 0) | (measured.high < 0)).sum())
    assert stats.binomtest(missed, rows, error, alternative="greater").pvalue > 1e-4, missed / rows


# Power


@pytest.mark.parametrize("direction", [-2, 2])
@pytest.mark.parametrize("name", SYNTHETIC)
def test_a_shift_of_twice_the_resolution_is_refuted(name, direction):
    """At the resolution that the budget affords, as `verdict` states it."""
    synthetic, claims, budget = SYNTHETIC[name], 600, 1024
    resolution = synthetic.affordable(budget)
    samples = synthetic.draw(np.random.default_rng(12), (claims, budget)) + direction * resolution
    for kind in (ESTIMATE, BELOW if direction > 0 else ABOVE):
        found = verdicts(samples, synthetic.statistic, kind, 0.0, resolution)
        assert (found == v.REFUTED).mean() > 0.99, kind
    found = verdicts(-np.sign(direction) * samples, synthetic.statistic, ORDERING, 0.0, resolution)
    assert (found == v.REFUTED).mean() > 0.99


@pytest.mark.parametrize("frequency", [0.1, 0.5, 0.9])
def test_a_shift_of_a_frequency_by_twice_the_resolution_is_refuted(frequency):
    claims, budget = 600, 4096
    resolution = 9 * np.sqrt(frequency * (1 - frequency) / budget)
    samples = (np.random.default_rng(13).random((claims, budget)) < frequency).astype(float)
    for prediction in (frequency - 2 * resolution, frequency + 2 * resolution):
        assert (
            verdicts(samples, "fraction", ESTIMATE, prediction, resolution) == v.REFUTED
        ).mean() > 0.99


@pytest.mark.parametrize("name", SYNTHETIC)
def test_a_claim_that_is_right_holds_within_the_budget(name):
    """Not promised, but a ledger that only ever says undecided would be of no use: twice as wide a
    resolution suffices."""
    synthetic, budget = SYNTHETIC[name], 1024
    samples = synthetic.draw(np.random.default_rng(14), (300, budget))
    found = verdicts(samples, synthetic.statistic, ESTIMATE, 0.0, 2 * synthetic.affordable(budget))
    assert (found == v.HOLDS).mean() > 0.95
