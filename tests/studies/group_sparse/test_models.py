"""The merged-QK layer against loops, automatic differentiation and finite differences; encodings;
variants; screening."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.group_sparse import models
from saccade.studies.group_sparse.models import (
    Architecture,
    Parameters,
    Transformer,
    at_zero,
    encoding,
    mean_square,
    screen,
    tokens,
    xavier,
)
from saccade.studies.group_sparse.task import group_sparse_task

GROUPS, DIM, SAMPLES = 4, 3, 6
evaluate = jax.jit(models.evaluate)


@pytest.fixture(scope="module")
def case():
    """A tiny layer with random parameters, data, their tokens, and the parameters again."""
    task = group_sparse_task(GROUPS, DIM, relevant=1, direction=[1.0, 2.0, -1.0])
    batch = task.sample(jax.random.key(0), SAMPLES)
    model = xavier(jax.random.key(1), DIM, encoding("sine", GROUPS))
    return model, batch, tokens(batch.X, model.matrix), model.parameters


def layer_by_loops(Z, W, v):
    """f and S for one sample, straight from the definition."""
    groups = len(Z)
    S = np.zeros((groups, groups))
    for j in range(groups):
        scores = [Z[i] @ W @ Z[j] for i in range(groups)]
        weights = [math.exp(s) for s in scores]
        S[:, j] = np.array(weights) / sum(weights)
    return sum(S[:, j] @ Z @ v for j in range(groups)), S


def test_layer_is_its_definition(case):
    model, batch, Z, parameters = case
    W, v = parameters.attention[0], parameters.value
    answer = evaluate(Z, batch.y, W, v)
    for sample in range(SAMPLES):
        total, S = layer_by_loops(np.asarray(Z[sample]), np.asarray(W), np.asarray(v))
        np.testing.assert_allclose(answer.attention[sample], S, atol=1e-13)
        np.testing.assert_allclose(answer.output[sample], total, rtol=1e-12)
    np.testing.assert_allclose(model(batch.X), answer.output, rtol=1e-12)
    losses = [math.log1p(math.exp(-y * f)) for y, f in zip(batch.y, answer.output)]
    assert float(answer.loss) == pytest.approx(sum(losses) / SAMPLES, rel=1e-12)


def test_written_out_gradients_are_the_automatic_ones(case):
    model, batch, Z, parameters = case
    automatic = jax.grad(lambda moved: model.at(moved).loss(batch.X, batch.y))(parameters)
    written = evaluate(Z, batch.y, parameters.attention[0], parameters.value)
    np.testing.assert_allclose(written.grad_attention_weights, automatic.attention[0], atol=1e-14)
    np.testing.assert_allclose(written.grad_value, automatic.value, atol=1e-14)


def test_written_out_gradient_is_the_finite_difference(case):
    _, batch, Z, parameters = case
    W, v = parameters.attention[0], parameters.value
    direction = jax.random.normal(jax.random.key(5), W.shape)
    h = 1e-5
    ahead, behind = (evaluate(Z, batch.y, W + s * h * direction, v).loss for s in (1, -1))
    slope = jnp.sum(evaluate(Z, batch.y, W, v).grad_attention_weights * direction)
    assert float((ahead - behind) / (2 * h)) == pytest.approx(float(slope), rel=1e-7)


def defect(matrix) -> float:
    """How far P^T P is from c I: the largest entry of |P^T P - c I| / c."""
    c = mean_square(matrix)
    return float(jnp.abs(matrix.T @ matrix / c - jnp.eye(matrix.shape[1])).max())


def test_sine_encoding_is_orthogonal_and_symmetric():
    for groups in (2, 5, 16):
        sine = encoding("sine", groups)
        assert float(mean_square(sine)) == pytest.approx((groups + 1) / 2, rel=1e-13)
        assert defect(sine) < 1e-13
        np.testing.assert_allclose(sine, sine.T, atol=1e-14)
    assert float(encoding("sine", 3)[0, 1]) == pytest.approx(math.sin(math.pi * 2 / 4))


def test_only_the_gram_of_an_encoding_matters(case):
    """One-hot of the same norm is the sine encoding in a rotated basis, so W22 = Q^T W22' Q gives
    the same output."""
    model, batch, _, parameters = case
    sine, hot = encoding("sine", GROUPS), encoding("one-hot", GROUPS)
    rotation = jnp.eye(DIM + GROUPS).at[DIM:, DIM:].set(sine @ jnp.linalg.inv(hot))
    turned = Parameters(
        rotation.T @ parameters.attention @ rotation, rotation.T @ parameters.value,
        parameters.hidden)
    np.testing.assert_allclose(Transformer(turned, hot)(batch.X), model(batch.X), rtol=1e-11)


def test_other_encodings_break_orthogonality_as_promised():
    assert encoding("none", 5).shape == (0, 5)
    assert defect(encoding("equal", 5)) == pytest.approx(1.0)
    random = encoding("random", 6, dim=4, key=jax.random.key(0))
    assert random.shape == (4, 6) and defect(random) > 0.1
    assert float(mean_square(encoding("one-hot", 5, norm_squared=1.0))) == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match=r"did you mean 'sine'"):
        encoding("sin", 5)
    with pytest.raises(InvalidInput, match=r"^key"):
        encoding("random", 5)


def variant_by_loops(Z, parameters, architecture):
    """The one definition of the variants, one sample, in NumPy."""
    H = Z.copy()
    for W in np.asarray(parameters.attention):
        N = H
        if architecture.layer_norm:
            centred = H - H.mean(axis=1, keepdims=True)
            N = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
        scores = np.exp(N @ W @ N.T)
        H = (H if architecture.residual else 0) + (scores / scores.sum(axis=0)).T @ N
    v, U = np.asarray(parameters.value), np.asarray(parameters.hidden)
    return (np.maximum(H @ U.T, 0) @ v).sum() if architecture.hidden else (H @ v).sum()


@pytest.mark.parametrize(
    "architecture",
    [
        Architecture(residual=True), Architecture(layer_norm=True), Architecture(hidden=5),
        Architecture(layers=2), Architecture(layers=2, residual=True, layer_norm=True, hidden=3)])
def test_variants_are_options_of_one_definition(case, architecture):
    _, batch, Z, _ = case
    model = xavier(jax.random.key(2), DIM, encoding("sine", GROUPS), architecture)
    expected = [
        variant_by_loops(np.asarray(sample), model.parameters, architecture) for sample in Z]
    np.testing.assert_allclose(model(batch.X), expected, rtol=1e-10)
    maps = model.maps(batch.X)
    assert maps.shape == (architecture.layers, SAMPLES, GROUPS, GROUPS)
    np.testing.assert_allclose(maps.sum(axis=2), 1.0, atol=1e-13)


def test_without_positions_the_layer_sees_a_set(case):
    _, batch, _, _ = case
    model = xavier(jax.random.key(3), DIM, encoding("none", GROUPS))
    shuffled = batch.X[:, jnp.array([2, 0, 3, 1])]
    np.testing.assert_allclose(model(batch.X), model(shuffled), rtol=1e-11)


def test_zero_start_is_zero_except_for_the_mlp():
    start, matrix = at_zero(2, encoding("sine", 3)).parameters, encoding("sine", 3)
    assert not jnp.any(start.attention) and not jnp.any(start.value)
    assert jnp.any(at_zero(2, matrix, Architecture(hidden=2)).parameters.value)


def test_screening_scores_and_the_empty_lasso(case):
    _, batch, _, _ = case
    answer = screen(batch.X, batch.y)
    x, y = np.asarray(batch.X), np.asarray(batch.y)
    scores = [np.linalg.norm(x[:, g].T @ y) for g in range(GROUPS)]
    np.testing.assert_allclose(answer.scores, scores, rtol=1e-12)
    assert int(answer.best) == int(np.argmax(scores))
    # lambda_max is the largest group norm of the gradient of the mean logistic loss at w = 0.
    slope = jax.grad(
        lambda w: jnp.mean(jax.nn.softplus(-batch.y * jnp.einsum("ngd,gd->n", batch.X, w)))
    )(jnp.zeros((GROUPS, DIM)))
    assert float(answer.lambda_max) == pytest.approx(
        float(jnp.linalg.norm(slope, axis=1).max()), rel=1e-12)
