"""Convolutions by shifts against the library's; the networks' shapes and numbers of parameters."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.networks.convolution import cnn_a, cnn_b, init_convolution, resnet_18, small, vgg_19
from saccade.networks.convolution.large import RESNET_18, VGG_19

pytestmark = pytest.mark.slow

KEY = jax.random.key(0)


def size(model):
    return sum(leaf.size for leaf in jax.tree.leaves(model))


@pytest.mark.parametrize("stride", [1, 2])
def test_nine_shifts_are_a_convolution(stride):
    images = jax.random.normal(KEY, (2, 8, 6, 3))
    kernel = jax.random.normal(jax.random.key(1), (27, 5))
    theirs = jax.lax.conv_general_dilated(
        images, kernel.reshape(3, 3, 3, 5), (stride, stride), ((1, 1), (1, 1)),
        dimension_numbers=("NHWC", "HWIO", "NHWC"))
    np.testing.assert_allclose(small.convolve(images, kernel, stride), theirs, atol=1e-12)


def test_kernels_begin_with_a_variance_of_gain_over_fan_in():
    kernel = np.asarray(small.init_kernel(KEY, 8, 300, gain=2.0))
    assert kernel.shape == (72, 300)
    assert np.mean(kernel**2) == pytest.approx(2 / 72, rel=0.05)


def test_pools():
    images = jnp.arange(16.0).reshape(1, 4, 4, 1)
    assert small.mean_pool(images)[0, 0, 0, 0] == 2.5
    assert small.max_pool(images)[0, 1, 1, 0] == 15
    assert small.space_to_depth(images)[0, 0, 1].tolist() == [2, 3, 6, 7]


@pytest.mark.parametrize(("config", "parameters"), [(cnn_a(), 24_346), (cnn_b(), 230_026)])
def test_small_networks(config, parameters):
    model = init_convolution(KEY, config)
    assert size(model) == parameters
    images = jax.random.normal(KEY, (2, 32, 32, 3), jnp.float32)
    assert model(images).shape == (2, 10)
    assert model(images).dtype == jnp.float32
    shifted = model(jnp.roll(images, 1, axis=0))
    np.testing.assert_allclose(
        shifted, model(images)[::-1], atol=1e-6)  # images do not see each other


def test_counts_of_the_large_networks_by_hand():
    """Weights 9 in out (+ biases in VGG), two numbers a channel of every normalisation, 1 x 1 short
    cuts where the size changes."""
    into, vgg = 3, 0
    for width in (item for item in VGG_19 if isinstance(item, int)):
        vgg, into = vgg + 9 * into * width + 3 * width, width
    assert size(jax.eval_shape(vgg_19, KEY)) == vgg + 512 * 10 + 10 == 20_040_522
    into, resnet = 64, 9 * 3 * 64 + 128
    for width, stride in RESNET_18:
        resnet += 9 * into * width + 9 * width * width + 4 * width
        resnet += into * width + 2 * width if stride != 1 or into != width else 0
        into = width
    assert size(jax.eval_shape(resnet_18, KEY)) == resnet + 512 * 10 + 10 == 11_173_962


@pytest.mark.parametrize("make", [vgg_19, resnet_18])
def test_shapes_of_the_large_networks(make):
    images = jax.ShapeDtypeStruct((4, 32, 32, 3), jnp.float32)
    outputs = jax.eval_shape(lambda key, images: make(key, outputs=100)(images), KEY, images)
    assert outputs.shape == (4, 100)


def test_statistics_of_the_same_batch_change_nothing():
    from saccade.networks.convolution.large import Batchwise

    images = 3 + 2 * jax.random.normal(KEY, (5, 4, 4, 2))
    norm, statistics = Batchwise(jnp.ones(2), jnp.zeros(2)), []
    normalised = norm(images, statistics, None)
    np.testing.assert_allclose(normalised.mean(axis=(0, 1, 2)), 0, atol=1e-6)
    np.testing.assert_allclose(normalised.std(axis=(0, 1, 2)), 1, atol=1e-4)
    np.testing.assert_allclose(norm(images, [], statistics), normalised)
    assert not np.allclose(norm(images[:2], [], statistics), norm(images[:2], [], None))


def test_what_does_not_fit():
    with pytest.raises(InvalidInput, match="widths = \\(\\) must hold"):
        small.ConvolutionConfig(widths=())
    with pytest.raises(InvalidInput, match="shape of images"):
        init_convolution(KEY, cnn_a())(jnp.zeros((2, 32, 32, 1)))
