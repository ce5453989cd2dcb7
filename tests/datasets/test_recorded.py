"""Real data as tasks: drawn without repetition, and cut as they say."""

import jax
import numpy as np
import pytest

from saccade.datasets.recorded import Recorded
from saccade.errors import InvalidInput
from saccade.studies.attention_atlas.charts import images
from saccade.studies.bag_estimators.charts import ragged

RANDOM = np.random.default_rng(0)


def test_samples_are_drawn_once_and_looked_up():
    X, positive = RANDOM.standard_normal((30, 4, 2)), np.arange(30) % 3 == 0
    task = Recorded.of_one_length("mine", X, positive)
    sample = task.sample(jax.random.key(1), 30)
    assert len({x.tobytes() for x in sample.X}) == 30 and (task.length, task.dim) == (4, 2)
    assert np.array_equal(task.best(sample.X), sample.y) and set(sample.y) == {-1.0, 1.0}
    assert not np.array_equal(sample.y, task.y)
    assert task.best(np.zeros((1, 4, 2)))[0] == 0
    with pytest.raises(InvalidInput, match="n = 31 must lie from 1 to 30"):
        task.sample(jax.random.key(1), 31)


def test_patches_hold_the_means_of_their_blocks():
    pixels = RANDOM.integers(0, 256, (2, 32, 32, 3)).astype(float)
    cut = images.patches(pixels)
    assert cut.shape == (2, 16, 48)
    block = pixels[1, 8 + 2 : 8 + 4, 16 + 6 : 16 + 8]  # patch (1, 2), block (1, 3)
    assert np.allclose(cut[1, 4 + 2].reshape(4, 4, 3)[1, 3], block.mean(axis=(0, 1)))


def test_digits_in_bags_are_made_coarse_block_by_block():
    pixels = RANDOM.random((3, 784))
    found = ragged.coarse(pixels)
    assert found.shape == (3, 49)
    assert found[2, 7 + 4] == pytest.approx(pixels[2].reshape(28, 28)[4:8, 16:20].mean())


def test_bags_are_padded_behind_their_tokens(monkeypatch):
    class Found:
        tokens = RANDOM.standard_normal((6, 2))
        lengths = np.array([1, 3, 2])
        labels = np.array([0, 1, 1])
        where = np.array([False, True, False, True, False, False])

        def __len__(self):
            return 3

    monkeypatch.setattr(ragged, "load_bags", lambda name: Found())
    task = ragged.read.__wrapped__("some")
    assert task.X.shape == (3, 3, 2) and task.mask.sum(axis=1).tolist() == [1, 3, 2]
    assert (task.X[~task.mask] == 0).all() and task.y.tolist() == [-1, 1, 1]
    standard = (Found.tokens - Found.tokens.mean(axis=0)) / Found.tokens.std(axis=0)
    assert np.allclose(task.X[1], standard[1:4])
    assert task.where[1].tolist() == [True, False, True] and not task.where[0].any()
