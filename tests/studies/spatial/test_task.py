"""The spatial task: whole signals, orthogonal noise, the law of the signals, partitions of any
kind, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.spatial.task import (
    Spatial,
    all_images,
    gaussian_convolution,
    interleaved,
    label_function,
    localised,
    partition,
    sample_signals,
    scattered,
)

# Samples come from keys of JAX or from generators of NumPy: two draws of one law.
from_both = pytest.mark.parametrize(
    "source", [jax.random.key, np.random.default_rng], ids=["jax", "numpy"])


@from_both
def test_signals_are_whole_and_noise_is_orthogonal_with_the_stated_size(source):
    task = Spatial.create(jax.random.key(0), localised(4, 2), 20, 0.3)
    sample = task.sample(source(1), 500)
    np.testing.assert_allclose(sample.X @ task.feature, sample.signals, atol=1e-12)
    noise = sample.X - sample.signals[..., None] * task.feature
    assert float(jnp.mean(jnp.sum(noise**2, axis=-1))) == pytest.approx(19 / 20, rel=0.02)


@from_both
def test_frequencies_of_signals(source):
    """20,000 images: standard errors of about 0.001, so 0.006 is five of them."""
    labels = interleaved(6, 2)
    x, y, chosen = sample_signals(source(2), labels, 0.4, 20_000)
    inside = labels == np.asarray(chosen)[:, None]
    assert np.all(np.asarray(x)[inside] == np.repeat(np.asarray(y), 2))
    outside = np.asarray(x)[~inside]
    np.testing.assert_allclose(
        [np.mean(outside == value) for value in (-1, 0, 1)], [0.2, 0.6, 0.2], atol=0.006)
    np.testing.assert_allclose(np.bincount(np.asarray(chosen)) / 20_000, 1 / 3, atol=0.017)


@from_both
def test_all_images_have_the_law_of_the_sampled_ones(source):
    labels = (0, 1, 0, 1)
    images = all_images(labels, 0.5)
    assert images.probability.sum() == pytest.approx(1) and len(images.y) == 2 * 2 * 9
    x, y, _ = sample_signals(source(3), np.asarray(labels), 0.5, 40_000)
    mean = images.probability @ (images.y[:, None] * images.signals)
    np.testing.assert_allclose(
        np.mean(np.asarray(y)[:, None] * np.asarray(x), axis=0), mean, atol=0.02)
    assert len(all_images(labels, 0.0).y) == 4


def test_partitions():
    assert localised(4, 2).tolist() == [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]
    assert interleaved(6, 2).tolist() == [0, 1, 2, 0, 1, 2]
    assert sorted(scattered(jax.random.key(0), localised(4, 2))) == sorted(localised(4, 2))
    index, sets, size = partition([7, -1, 7, -1])
    assert index.tolist() == [1, 0, 1, 0] and (sets, size) == (2, 2)


def test_threshold_is_strict_also_where_it_is_whole():
    x, labels = jnp.asarray([[1.0] * 9 + [0.0] + [0.0] * 10]), [0] * 10 + [1] * 10
    assert (
        float(label_function(x, labels, 0.9)[0]) == 0
        and float(label_function(x, labels, 0.8)[0]) == 9)


def test_the_gaussian_counter_example_is_balanced_and_uses_the_sets():
    X, y, taps = gaussian_convolution(jax.random.key(4), localised(4, 2), 3, 4000)
    assert X.shape == (4000, 16, 3) and taps.shape == (4, 3) and abs(float(jnp.mean(y))) < 0.08
    first = jnp.asarray([0, 1, 4, 5])
    responses = jnp.einsum("njd,jd->n", X[:, first], taps)
    assert float(jnp.mean(jnp.sign(responses) == y)) > 0.6


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: partition([0, 0, 1]), "labels.*equal size"),
        (lambda: partition([0.5, 1.0]), "labels"),
        (lambda: localised(5, 2), "block = 2 must divide side = 5"),
        (lambda: interleaved(10, 4), "set_size = 4 must divide patches = 10"),
        (
            lambda: Spatial.create(jax.random.key(0), [0, 0, 1, 1], 3, 1.2),
            r"spurious_rate = 1.2 must lie in \[0, 1\]"),
        (lambda: all_images(localised(6, 2), 0.3), "must be at most 10")])
def test_bad_tasks_are_refused(call, says):
    with pytest.raises(InvalidInput, match=says):
        call()
