"""Many networks in one program: shapes, networks that differ, and the same numbers again."""

import jax
import numpy as np
import pytest

from saccade.studies.spatial.experiments import small_networks

pytestmark = pytest.mark.slow

TINY = {"width": 4, "epochs": 1, "seeds": 3}


@pytest.fixture(scope="module")
def digits():
    return small_networks.digit_networks.function(jax.random.key(0), **TINY)


def test_digits_are_answered_by_every_network(digits):
    assert digits.accuracy.dims == ("kind", "seed") and digits.accuracy.shape == (2, 3)
    assert np.all((digits.accuracy.values >= 0) & (digits.accuracy.values <= 1))
    assert len(np.unique(digits.accuracy.values)) > 2, "networks differ"


def test_the_same_key_gives_the_same_networks(digits):
    again = small_networks.digit_networks.function(jax.random.key(0), **TINY)
    np.testing.assert_array_equal(again.accuracy.values, digits.accuracy.values)


def test_gaussian_networks_start_at_chance_and_differ():
    made = small_networks.gaussian_images.function(
        jax.random.key(1), steps=9, seeds=3, samples=200, test=400, width=4)
    start = made.wrong.mean("image").sel(time="start").values
    assert made.loss.shape == (3, 9) and np.all(abs(start - 0.5) < 0.15)
    assert len(np.unique(made.similarity.values[:, 0, 1])) == 3
    assert float(made.chance) == pytest.approx(3 / 15)
