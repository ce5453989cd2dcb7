"""Images in one patch: which images are taken, how they are pooled, and where they are put."""

import jax
import numpy as np
import pytest
from sklearn.datasets import load_digits

from saccade.errors import InvalidInput
from saccade.studies.group_sparse.experiments.images import images, patched, two_classes


def test_all_digits_of_a_pair_are_taken():
    pixels, labels = two_classes("digits", None, (3, 8), each=0, pool=1)
    theirs = load_digits()
    chosen = np.isin(theirs.target, (3, 8))
    assert pixels.shape == (chosen.sum(), 64)
    assert np.array_equal(
        np.sort(pixels.sum(axis=1)), np.sort(15 * theirs.data[chosen].sum(axis=1)))
    assert np.sum(labels == 1) == np.sum(theirs.target == 8)


def test_pooling_takes_means_and_each_limits():
    fine, labels = two_classes("digits", None, (0, 1), each=7, pool=1)
    coarse, _ = two_classes("digits", None, (0, 1), each=7, pool=4)
    assert sorted(labels) == [-1.0] * 7 + [1.0] * 7
    assert np.allclose(coarse[:, 0], fine.reshape(14, 8, 8)[:, :4, :4].mean(axis=(1, 2)))
    with pytest.raises(InvalidInput, match="cell = 3 must divide"):
        two_classes("digits", None, (0, 1), each=7, pool=3)


def test_the_picture_is_in_its_patch_and_noise_elsewhere():
    pixels = np.arange(60.0).reshape(10, 6)
    batch = patched(pixels, np.ones(10), groups=4, relevant=2, key=jax.random.key(0))
    X = np.asarray(batch.X)
    assert X.shape == (10, 4, 6)
    np.testing.assert_allclose(X[:, 2], (pixels - pixels.mean()) / pixels.std())
    others = np.delete(X, 2, axis=1)
    np.testing.assert_array_equal(batch.where[0], [False, False, True, False])
    assert abs(others.mean()) < 5 / 180**0.5
    assert abs(others.std() - 1) < 5 / 360**0.5


def test_some_images_are_left_for_the_test():
    with pytest.raises(InvalidInput, match="samples = 14 must leave some of the 14 images"):
        images.function(jax.random.key(0), each=7, samples=14)
