"""The laws of the start, and of the random numbers behind them, against SciPy and against vectors
drawn in full."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from saccade.errors import InvalidInput
from saccade.studies.single_location.dynamics import (
    manifold_overlaps,
    manifold_vectors,
    overlaps_of,
    sphere_overlaps,
    sphere_vectors,
)
from saccade.studies.single_location.dynamics.chance import chi_square, square_root, wishart
from saccade.studies.single_location.task import orthonormal_pair
from saccade.studies.single_location.theory import check_overlaps

DRAWS = 20_000
# a p-value below it is taken for a wrong law; keys are fixed, so a passing test keeps passing
SUSPICIOUS = 1e-4


@pytest.mark.parametrize("dim", [2, 3, 4, 15])
def test_sphere_overlaps_have_the_law_of_vectors(dim):
    k_star, v_star = orthonormal_pair(jax.random.key(0), dim)
    drawn = sphere_overlaps(jax.random.key(1), dim, DRAWS)
    full = overlaps_of(*sphere_vectors(jax.random.key(2), dim, DRAWS), k_star, v_star)
    check_overlaps(drawn)
    pairs = [
        *zip(drawn, full), *((a * drawn.rho, b * full.rho) for a, b in zip(drawn[:4], full[:4]))]
    pairs.append((
        drawn.kappa * drawn.theta + drawn.eta * drawn.nu,
        full.kappa * full.theta + full.eta * full.nu))
    assert min(stats.ks_2samp(np.asarray(a), np.asarray(b)).pvalue for a, b in pairs) > SUSPICIOUS


@pytest.mark.parametrize("dim", [3, 4, 15])
def test_manifold_overlaps_have_the_law_of_vectors(dim):
    k_star, v_star = orthonormal_pair(jax.random.key(3), dim)
    drawn = manifold_overlaps(jax.random.key(4), dim, DRAWS)
    full = overlaps_of(*manifold_vectors(jax.random.key(5), k_star, v_star, DRAWS), k_star, v_star)
    for a, b in zip(drawn[:2], full[:2]):
        # In three dimensions nu is plus or minus one: without rounding the test would compare
        # roundings.
        assert stats.ks_2samp(np.round(a, 12), np.round(b, 12)).pvalue > SUSPICIOUS
    for a, b in zip(drawn[2:], full[2:]):
        np.testing.assert_array_equal(a, 0.0)
        np.testing.assert_allclose(b, 0.0, atol=1e-13)


def test_moments_in_any_dimension():
    for dim in (10, 10**9):
        for overlap in sphere_overlaps(jax.random.key(6), dim, DRAWS):
            scaled = np.asarray(overlap) ** 2 * dim  # mean 1 exactly
            assert abs(scaled.mean() - 1) < 5 * scaled.std() / np.sqrt(DRAWS)


@pytest.mark.parametrize("degrees", [1.0, 1.5, 2.0, 3.7, 76.0])
def test_chi_square_is_chi_square(degrees):
    drawn = chi_square(jax.random.key(7), degrees, (DRAWS,))
    assert stats.kstest(np.asarray(drawn), stats.chi2(degrees).cdf).pvalue > SUSPICIOUS


def test_chi_square_without_degrees_is_zero_and_large_ones_concentrate():
    np.testing.assert_array_equal(chi_square(jax.random.key(8), jnp.array([0.0, -1.0]), (2,)), 0.0)
    large = np.asarray(chi_square(jax.random.key(9), 1e9, (DRAWS,)))
    assert stats.kstest((large - 1e9) / np.sqrt(2e9), stats.norm.cdf).pvalue > SUSPICIOUS


@pytest.mark.parametrize("degrees", [0, 1, 2, 6])
def test_wishart_is_a_gram_matrix_of_normals(degrees):
    scale = np.array([[2.0, -0.7], [-0.7, 0.5]])
    root = square_root(*(jnp.full(DRAWS, x) for x in (2.0, 0.5, -0.7)))
    normal = jax.random.normal(jax.random.key(10), (DRAWS,))
    drawn = wishart(jax.random.key(11), root, normal, jnp.asarray(float(degrees)))
    rows = np.random.default_rng(12).multivariate_normal(np.zeros(2), scale, size=(DRAWS, degrees))
    x, y = rows[..., 0], rows[..., 1]
    expected = [(x * x).sum(1), (y * y).sum(1), (x * y).sum(1)]
    if degrees == 0:
        assert all(float(jnp.abs(w).max()) == 0 for w in drawn)
        return
    for ours, theirs in zip([*drawn, drawn[0] * drawn[1] - drawn[2] ** 2 * 0.9], [*expected, None]):
        theirs = expected[0] * expected[1] - expected[2] ** 2 * 0.9 if theirs is None else theirs
        assert stats.ks_2samp(np.asarray(ours), theirs).pvalue > SUSPICIOUS


def test_refusals():
    with pytest.raises(InvalidInput, match="dim = 1"):
        sphere_overlaps(jax.random.key(0), 1, 3)
    with pytest.raises(InvalidInput, match="repetitions = 0"):
        manifold_overlaps(jax.random.key(0), 5, 0)
