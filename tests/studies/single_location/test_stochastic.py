"""The engine that works in law against the one that draws every token: same start, same schedule,
two-sample tests.

The steps are large, so that the second-order terms (the Wishart matrix) weigh as much as the rest:
with its correlation dropped or its sign flipped the smallest p-value falls below 1e-7, and a wrong
degree of freedom shows where there are few.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from saccade.errors import InvalidInput
from saccade.studies.single_location.dynamics import (
    overlaps_of,
    stochastic_trajectory_brute,
    stochastic_trajectory_in_law,
)
from saccade.studies.single_location.dynamics.stochastic import frame
from saccade.studies.single_location.task import orthonormal_pair
from saccade.studies.single_location.theory import Overlaps, Setting, risk

pytestmark = pytest.mark.slow

CHAINS = 4_000
SUSPICIOUS = 1e-4


def one_start(dim, seed=0):
    """One generic pair (k, v) with overlaps of order one, repeated for all chains."""
    rng = np.random.default_rng(seed)
    k_star, v_star = orthonormal_pair(jax.random.key(seed), dim)
    k, v = rng.normal(size=(2, dim)) / np.sqrt(dim)
    k, v = k + 0.5 * np.asarray(k_star), v + 0.4 * np.asarray(v_star) + 0.2 * k
    repeated = [jnp.tile(x / np.linalg.norm(x), (CHAINS, 1)) for x in (k, v)]
    return (*repeated, k_star, v_star), overlaps_of(*repeated, k_star, v_star)


@pytest.mark.parametrize(
    ("setting", "batch"),
    [
        (Setting(4, 3, 0.8, gamma=0.9, noise=0.3), 2),
        (Setting(5, 3, 0.8, gamma=0.9, noise=0.3), 2), (Setting(12, 4, 1.0, noise=0.2), 3)])
def test_in_law_is_brute_force(setting, batch):
    vectors, overlaps = one_start(setting.dim)
    arguments = dict(step_size=0.3, steps=5, batch=batch, record=[1, 5], decay=0.1)
    brute = stochastic_trajectory_brute(jax.random.key(1), *vectors, setting, **arguments)
    in_law = stochastic_trajectory_in_law(jax.random.key(2), overlaps, setting, **arguments)
    for place in (0, 1):
        a, b = ([np.asarray(x[:, place]) for x in t.overlaps] for t in (in_law, brute))
        assert min(np.std(x) for x in b) > 1e-3
        # Marginals, and products that see the correlations between the five.
        products = [(0, 1), (2, 3), (0, 4), (1, 4), (2, 4)]
        pairs = [*zip(a, b)]
        pairs += [
            tuple((x[i] - b[i].mean()) * (x[j] - b[j].mean()) for x in (a, b)) for i, j in products]
        assert min(stats.ks_2samp(x, y).pvalue for x, y in pairs) > SUSPICIOUS


def test_frame_reproduces_the_overlaps():
    (k, v, k_star, v_star), overlaps = one_start(12)
    at = frame(overlaps)
    inner = jnp.einsum("aic,bic->abc", jnp.stack(at), jnp.stack(at))[..., 0]
    vectors = np.stack([k[0], v[0], k_star, v_star])
    np.testing.assert_allclose(inner, vectors @ vectors.T, atol=1e-14)
    at_the_oracle = frame(Overlaps(*(jnp.array([x]) for x in (1.0, 1.0, 0.0, 0.0, 0.0))))
    assert all(bool(jnp.isfinite(x).all()) for x in at_the_oracle)


def test_recorded_risk_is_the_population_risk_and_keys_decide():
    setting = Setting(80, 10, 2.0, noise=0.1)
    start = Overlaps(*(jnp.full(4, x) for x in (0.1, 0.1, 0.0, 0.05, 0.0)))
    arguments = dict(step_size=1e-3, steps=20, batch=5, decay=0.1)
    one = stochastic_trajectory_in_law(
        jax.random.key(3), start, setting, record=[0, 10, 20], **arguments)
    used = setting._replace(inverse_temperature=2.0 / (1 + 0.1 * 19))
    np.testing.assert_allclose(one.risk[:, -1], risk(one.final, used), rtol=1e-12)
    again = stochastic_trajectory_in_law(jax.random.key(3), start, setting, record=5, **arguments)
    np.testing.assert_array_equal(one.final.kappa, again.final.kappa)
    assert len(np.unique(one.final.kappa)) == 4
    other = stochastic_trajectory_in_law(jax.random.key(4), start, setting, record=5, **arguments)
    assert np.all(other.final.kappa != one.final.kappa)


def test_refusals():
    start = Overlaps(0.1, 0.1)
    with pytest.raises(InvalidInput, match="dim = 3"):
        stochastic_trajectory_in_law(jax.random.key(0), start, Setting(3, 4, 1.0), 1e-3, 5, batch=2)
    with pytest.raises(InvalidInput, match="batch = 0"):
        stochastic_trajectory_in_law(jax.random.key(0), start, Setting(8, 4, 1.0), 1e-3, 5, batch=0)
