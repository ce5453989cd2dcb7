"""The experiments on images at tiny sizes: shapes, the same numbers again, what is refused, and the
exact permutation."""

import jax
import numpy as np
import pytest

from saccade.datasets.images.pipeline import view
from saccade.errors import InvalidInput
from saccade.studies.spatial.dynamics.images import Recipe, optimiser, smoothed_loss
from saccade.studies.spatial.experiments import images, images_checks

pytestmark = pytest.mark.slow

TINY = {"images": 64, "epochs": 1, "batch": 32, "width": 8, "hidden": 8, "layers": 1, "heads": 2}


@pytest.fixture(scope="module")
def made():
    return images.vision.function(jax.random.key(0), **TINY)


def test_shapes_and_places(made):
    assert made.right.shape == (2, 1, 2, 360)
    assert made.loss.shape == (2, 1, 2, 2)
    assert made.encodings.shape == (2, 1, 2, 16, 8)
    assert made.origin[0, 0].values.tolist() == list(
        range(16))  # a cell as large as the image leaves it whole
    assert sorted(made.origin[0, 1].values.tolist()) == list(range(16))
    np.testing.assert_array_equal(made.right[:, :, 0], made.right_whole[:, :, 0])
    np.testing.assert_array_equal(
        made.initial_encodings[0], made.initial_encodings[1])  # paired starts


def test_the_order_of_units_is_the_shuffle():
    seen = view(8, 4, np.array([2, 0, 3, 1]))
    small = images.in_units(seen, 2)
    pixels = np.random.default_rng(0).random((2, 8, 8, 3))
    from saccade.datasets.images.pipeline import shuffled

    assert np.array_equal(shuffled(pixels, seen), shuffled(pixels, small))
    assert images.common_unit((32, 8, 4), 4) == 4
    assert images.common_unit((32, 2), 4) == 2
    assert images.common_unit((32, 8), None) == 8
    assert np.all(images.origin_of_patches(view(8, 1), 2) == -1)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"kinds": ("vanila",)}, "did you mean 'vanilla'"),
        ({"cells": (3,)}, "cell = 3 must divide"), ({"patch": 5}, "cell = 5 must divide"),
        ({"batch": 100}, "batch = 100 must be at most the number of training images, 64"),
        ({"data": "cifar11"}, "did you mean 'cifar10'"),
        ({"images": 10**6}, "images = 1000000 must lie between"),
        ({"seeds": 0}, "seeds = 0 must be at least 1")])
def test_what_is_refused(changes, says):
    with pytest.raises(InvalidInput) as refused:
        images.vision.function(jax.random.key(0), **{**TINY, **changes})
    assert says in str(refused.value)


def test_only_matrices_decay_and_encodings_move_faster():
    """One step with zero gradients moves what decays, and nothing else; with constant gradients
    encodings move five times as far."""
    import jax.numpy as jnp

    from saccade.networks.transformer import init_transformer, vision_transformer

    model = init_transformer(
        jax.random.key(0), vision_transformer(4, 16, 10, "positions", width=8, hidden=8, layers=1))
    model = jax.tree.map(lambda leaf: jnp.ones_like(leaf), model)
    rule = optimiser(Recipe(warmup=0.0, clip=1e9), 100)
    still, _ = rule.update(jax.tree.map(jnp.zeros_like, model), rule.init(model), model)
    assert float(still.layers.qkv.max()) == pytest.approx(-2e-3 * 0.05)
    for leaf in (
        still.positions, still.read_in_bias, still.layers.qkv_bias, still.last_norm.scale,
        still.read_out_bias,
    ):
        assert float(abs(leaf).max()) == 0
    moved, _ = rule.update(model, rule.init(model), model)
    assert float(moved.positions.max()) == pytest.approx(
        5 * float(moved.read_in_bias.max()), rel=1e-5)


def test_smoothed_loss_by_hand():
    import jax.numpy as jnp

    scores = jnp.array([[2.0, 0.0, -1.0]])
    logs = np.log(np.exp([2.0, 0.0, -1.0]) / np.exp([2.0, 0.0, -1.0]).sum())
    target = np.array([0.1 / 3, 0.9 + 0.1 / 3, 0.1 / 3])
    found = smoothed_loss(0.1)(lambda x: scores, (None, jnp.array([1])))
    assert float(found) == pytest.approx(-(target * logs).sum())


def test_permutation_is_exact_and_the_sabotage_is_not():
    small = {"images": 20, "width": 8, "layers": 1, "steps": 5}
    made = images_checks.permuted_training.function(jax.random.key(0), **small)
    assert float(abs(made.loss[:, 0] - made.loss[:, 1]).max()) < 1e-13
    broken = images_checks.permuted_training.function(
        jax.random.key(0), **small, move_encodings=False)
    assert float(abs(broken.loss[:, 0] - broken.loss[:, 1]).max()) > 1e-8
