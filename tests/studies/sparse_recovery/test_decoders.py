"""Decoders of sparse recovery: their prompts, their losses, estimates by prefix, and a last layer
used again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.networks.transformer import init_transformer, number_of_parameters
from saccade.studies.sparse_recovery.dynamics.decoders import (
    ARCHITECTURES,
    DecoderRecipe,
    decoder_config,
    decoder_problem,
    estimates,
    estimation_loss,
    label_loss,
    layer_estimates,
    train_decoder,
    with_repeated_last_layer,
)
from saccade.studies.sparse_recovery.models.constructed import (
    pair_tokens,
    paper_tokens,
    zero_padded_tokens,
)
from saccade.studies.sparse_recovery.task import SparseRecovery

pytestmark = pytest.mark.slow

TASK = SparseRecovery.create(3, 4, 1)


def model_for(architecture, layers=2):
    return init_transformer(
        jax.random.key(0), decoder_config(TASK, DecoderRecipe(architecture, layers)))


def test_prompts_hold_what_they_should():
    X, y = jnp.arange(18.0).reshape(1, 3, 6), jnp.array([[10.0, 20.0]])
    assert pair_tokens(X[:, :2], y)[0, 1].tolist() == [6, 7, 8, 9, 10, 11, 20]
    padded = np.asarray(zero_padded_tokens(X, y)[0])
    np.testing.assert_array_equal(padded[::2], X[0])
    assert padded[1::2].tolist() == [[10, 0, 0, 0, 0, 0], [20, 0, 0, 0, 0, 0]]
    paper = np.asarray(paper_tokens(X, y)[0])
    assert paper.shape == (5, 14)
    np.testing.assert_array_equal(paper[::2, :6], X[0])
    np.testing.assert_array_equal(paper[1::2, :6], X[0, :2])
    assert paper[:, 6].tolist() == [0, 10, 0, 20, 0]
    assert paper[:, 13].tolist() == [1, 0, 1, 0, 1]
    assert not paper[:, 7:13].any()


def test_a_model_that_says_nothing_loses_what_predicting_zero_loses():
    """Zero read-outs: the estimation loss is the mean of |beta|^2, the label loss that of y^2, on
    the same sample."""
    sample = TASK.sample(jax.random.key(1), 50, dtype=jnp.float32)
    silent = {name: jax.tree.map(jnp.zeros_like, model_for(name)) for name in ARCHITECTURES}
    squares = float(jnp.mean(jnp.sum(sample.beta**2, -1)))
    assert float(estimation_loss(silent["softmax"], sample)) == pytest.approx(squares, rel=1e-5)
    labels = np.concatenate([sample.y, sample.query_y[:, None]], axis=1)
    for name in ("small", "gpt2"):
        assert float(label_loss(silent[name], sample)) == pytest.approx(
            float((labels**2).mean()), rel=1e-5)


@pytest.mark.parametrize("architecture", ["softmax", "relu"])
def test_estimates_of_a_prefix_do_not_depend_on_later_rows(architecture):
    model = model_for(architecture)
    sample = TASK.sample(jax.random.key(1), 5)
    whole = estimates(model, sample.X, sample.y)
    np.testing.assert_allclose(
        estimates(model, sample.X[:, :2], sample.y[:, :2]), whole[:, :2], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        layer_estimates(model, sample.X, sample.y)[-1], whole[:, -1], rtol=1e-4, atol=1e-6)


def test_the_last_layer_used_again_is_the_layer_applied_to_its_own_output():
    model = model_for("softmax")
    longer = with_repeated_last_layer(model, 1)
    tokens = jax.random.normal(jax.random.key(2), (2, 4, 4), jnp.float32)
    states = longer.trace(tokens).states
    assert longer.config.layers == 3
    np.testing.assert_array_equal(states[:3], model.trace(tokens).states)
    only = with_repeated_last_layer(model, 0)
    np.testing.assert_array_equal(only(tokens), model(tokens))
    last = jax.tree.map(lambda leaf: leaf[-1:], longer.layers)
    assert number_of_parameters(longer) - number_of_parameters(model) == sum(
        a.size for a in jax.tree.leaves(last))


def test_the_same_recipe_is_the_same_problem_so_that_programs_are_shared():
    recipe = DecoderRecipe("softmax", 1, 10, 8)
    assert decoder_problem(TASK, recipe) is decoder_problem(
        TASK, DecoderRecipe("softmax", 1, 10, 8))


def test_batches_that_are_accumulated_are_averaged():
    """A step over two accumulated batches starts with the mean of their losses."""
    recipe = DecoderRecipe("softmax", 1, 2, 8, accumulate=2)
    trained = train_decoder(TASK, recipe, jax.random.key(3), "toy")
    start, keys = jax.random.split(jax.random.key(3))
    model = init_transformer(start, decoder_config(TASK, recipe))
    halves = jax.random.split(jax.random.fold_in(keys, 0), 2)
    expected = np.mean(
        [estimation_loss(model, TASK.sample(half, 8, dtype=jnp.float32)) for half in halves])
    assert trained.losses[0] == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        (DecoderRecipe("softmx"), "did you mean 'softmax'"),
        (DecoderRecipe(batch=0), "batch = 0 must be at least 1"),
        (DecoderRecipe(learning_rate=-1.0), "learning_rate = -1.0 must be above 0"),
        (DecoderRecipe(steps=0), "steps = 0 must be at least 1")])
def test_impossible_recipes_are_refused(recipe, says):
    with pytest.raises(InvalidInput, match=says):
        train_decoder(TASK, recipe, jax.random.key(0), "toy")
