"""The one-layer family against plain Python loops, against each other, and against its
symmetries."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saccade.errors import InvalidInput
from saccade.studies.single_location.models import (
    ArgmaxAttention,
    ErfAttention,
    SingleHeadAttention,
    SoftmaxAttention,
)

KINDS = ("erf", "softmax", "argmax")


def model(k, v, inverse_temperature=1.0, kind="softmax"):
    k, v = jnp.asarray(k), jnp.asarray(v)
    if kind == "argmax":
        return ArgmaxAttention(k, v)
    return {"erf": ErfAttention, "softmax": SoftmaxAttention}[kind](k, v, inverse_temperature)


def predict(X, k, v, inverse_temperature=1.0, kind="softmax"):
    return model(k, v, inverse_temperature, kind)(jnp.asarray(X))


def small_case(seed, samples=4, length=5, dim=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(samples, length, dim)) * 2, rng.normal(size=dim), rng.normal(size=dim)


def dot(a, b):
    return sum(float(x) * float(y) for x, y in zip(a, b))


def brute(X, k, v, inverse_temperature, kind):
    """One sequence, one token, one product at a time."""
    out = []
    for tokens in X:
        scores = [inverse_temperature * dot(token, k) for token in tokens]
        if kind == "erf":
            weights = [math.erf(score) for score in scores]
        elif kind == "softmax":
            total = sum(math.exp(score) for score in scores)
            weights = [math.exp(score) / total for score in scores]
        else:
            weights = [float(i == scores.index(max(scores))) for i in range(len(scores))]
        out.append(sum(weight * dot(token, v) for weight, token in zip(weights, tokens)))
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_predictors_are_their_loops(kind):
    X, k, v = small_case(0)
    np.testing.assert_allclose(predict(X, k, v, 0.7, kind), brute(X, k, v, 0.7, kind), rtol=1e-13)


def test_attention_read_at_cls_is_the_softmax_predictor():
    X, k, v = map(jnp.asarray, small_case(2, samples=50, length=8, dim=6))
    cls_token, query = jnp.asarray(np.random.default_rng(3).normal(size=(2, 6)))
    head = SingleHeadAttention.from_directions(k, v, query, cls_token, inverse_temperature=0.4)
    softmax = SoftmaxAttention(k, v, 0.4 * float(cls_token @ query))
    # Rounding of sums of a dozen products of order ten: 1e-14 of the largest prediction.
    np.testing.assert_allclose(
        head(X), softmax(X), rtol=0, atol=1e-14 * float(jnp.abs(X @ v).max()))
    np.testing.assert_allclose(head.attention(X), softmax.attention(X), atol=1e-14)


def test_wide_head_is_its_matrix_formula():
    rng = np.random.default_rng(4)
    X, cls_token = rng.normal(size=(7, 5)), rng.normal(size=5)
    Q, K, V, O = (rng.normal(size=shape) for shape in ((5, 3), (5, 3), (5, 3), (2, 3)))  # noqa: E741 (the paper's letters)
    scores = np.exp(0.2 * cls_token @ Q @ K.T @ X.T)
    expected = scores / scores.sum() @ X @ V @ O.T
    head = SingleHeadAttention(*map(jnp.asarray, (Q, K, V, O, cls_token)), inverse_temperature=0.2)
    np.testing.assert_allclose(head.output(jnp.asarray(X)), expected, rtol=1e-12)
    np.testing.assert_allclose(head(jnp.asarray(X)), expected[0], rtol=1e-12)


def test_weights_say_where_it_looks():
    X, k, v = map(jnp.asarray, small_case(5))
    weights = {kind: model(k, v, 0.9, kind).attention(X) for kind in KINDS}
    for kind in KINDS:
        assert weights[kind].shape == X.shape[:-1]
        np.testing.assert_allclose(
            jnp.sum(weights[kind] * (X @ v), axis=-1), predict(X, k, v, 0.9, kind), rtol=1e-13)
    np.testing.assert_allclose(weights["softmax"].sum(axis=-1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(weights["argmax"].argmax(-1), (X @ k).argmax(-1))


def test_softmax_becomes_argmax_and_does_not_overflow():
    X, k, v = small_case(6)
    np.testing.assert_allclose(
        predict(X, k, v, 1e6, "softmax"), predict(X, k, v, kind="argmax"), rtol=1e-12)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10_000), inverse_temperature=st.floats(0.01, 5.0))
def test_both_signs_flip_together_only_for_erf(seed, inverse_temperature):
    X, k, v = small_case(seed)
    same = predict(X, k, v, inverse_temperature, "erf")
    np.testing.assert_allclose(predict(X, -k, -v, inverse_temperature, "erf"), same, rtol=1e-14)
    softmax = predict(X, k, v, inverse_temperature, "softmax")
    assert not np.allclose(predict(X, -k, -v, inverse_temperature, "softmax"), softmax)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(KINDS))
def test_order_of_tokens_does_not_matter(seed, kind):
    X, k, v = small_case(seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    np.testing.assert_allclose(
        predict(X[:, order], k, v, 0.5, kind), predict(X, k, v, 0.5, kind), rtol=1e-11, atol=1e-12)


def test_refusals():
    _, k, v = small_case(7)
    with pytest.raises(InvalidInput, match="shapes of k and v"):
        model(k[:2], v)
    square, wide = jnp.ones((3, 2)), jnp.ones((1, 3))
    with pytest.raises(InvalidInput, match="shape of O"):
        SingleHeadAttention(square, square, square, wide, jnp.ones(3))
    assert jax.config.jax_enable_x64  # pyright: ignore[reportAttributeAccessIssue]
