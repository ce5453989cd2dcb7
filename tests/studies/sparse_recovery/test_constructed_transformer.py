"""The constructed transformer: tokens, attention by a plain loop, equality with LISTA-VM, life as
an ordinary transformer."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.networks.transformer import load_transformer, save_transformer
from saccade.studies.sparse_recovery.models import constructed as built
from saccade.studies.sparse_recovery.models.unrolled import lista_vm_prefixes

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(1)
DIM, ROWS, K = 5, 6, 4
X, Y = RNG.normal(size=(ROWS + 1, DIM)), RNG.normal(size=ROWS)
M, THETA = 0.2 * RNG.normal(size=(K, DIM, DIM)), 0.05 * RNG.random((K, DIM))


def test_the_prompt_entry_by_entry():
    H = np.asarray(built.embed_prompt(jnp.asarray(X), jnp.asarray(Y)))
    assert H.shape == (2 * ROWS + 1, 2 * DIM + 2)
    for i in range(ROWS):
        np.testing.assert_array_equal(H[2 * i], [*X[i], 0, *np.zeros(DIM), 1])
        np.testing.assert_array_equal(H[2 * i + 1], [*X[i], Y[i], *np.zeros(DIM), 0])
    np.testing.assert_array_equal(H[-1], [*X[-1], 0, *np.zeros(DIM), 1])


def test_relu_attention_by_a_loop():
    H = RNG.normal(size=(5, 3))
    Q, K_, V = (
        RNG.normal(size=(3, 2, 2, 3))[:2].reshape(2, 2, 2, 3)[0], RNG.normal(size=(2, 2, 3)),
        RNG.normal(size=(2, 3, 3)))
    expected = H.copy()
    for i in range(5):
        for m in range(2):
            for j in range(i + 1):
                score = max((Q[m] @ H[i]) @ (K_[m] @ H[j]), 0)
                expected[i] += score / (i + 1) * V[m] @ H[j]
    np.testing.assert_allclose(built.relu_attention(jnp.asarray(H), Q, K_, V), expected, atol=1e-12)


def test_layers_are_steps_for_all_prefixes_and_read_outs_read_them():
    H = built.embed_prompt(jnp.asarray(X), jnp.asarray(Y))
    states = built.run_layers(H, built.construct(jnp.asarray(M), jnp.asarray(THETA)))
    expected = np.asarray(lista_vm_prefixes(X[:-1], Y, M, THETA))
    size = 1 + np.abs(expected).max()
    np.testing.assert_allclose(built.estimates(states), expected, atol=1e-12 * size)
    np.testing.assert_allclose(
        built.quadratic_readout(states[-1]), (X * expected[-1]).sum(1), atol=1e-11 * size)
    linear = (X * np.cumsum(expected[-1], 0)).sum(1) / (2 * np.arange(ROWS + 1) + 1)
    np.testing.assert_allclose(built.linear_readout(states[-1]), linear, atol=1e-11 * size)
    beta = slice(DIM + 1, 2 * DIM + 1)
    np.testing.assert_array_equal(states.at[:, ::2, beta].set(0), np.broadcast_to(H, states.shape))


def test_a_narrow_gate_leaks():
    H = built.embed_prompt(jnp.asarray(X), jnp.asarray(Y))
    expected = np.asarray(lista_vm_prefixes(X[:-1], Y, M, THETA))
    leaky = built.run_layers(H, built.construct(jnp.asarray(M), jnp.asarray(THETA), 0.01))
    assert np.abs(built.estimates(leaky) - expected).max() > 1e-4


def test_it_is_an_ordinary_transformer(tmp_path):
    """The same numbers to 1e-10 for all prefixes and layers; it can be saved, loaded, and
    differentiated."""
    model = built.as_transformer(M, THETA)
    tokens = built.embed_prompt(jnp.asarray(X), jnp.asarray(Y))[None]
    seen = model.trace(tokens)
    expected = np.asarray(lista_vm_prefixes(X[:-1], Y, M, THETA))
    size = 1 + np.abs(expected).max()
    np.testing.assert_allclose(
        seen.states[1:, 0, ::2, DIM + 1 : 2 * DIM + 1], expected, atol=1e-10 * size)
    np.testing.assert_allclose(
        seen.outputs[0, ::2, 0], (X * expected[-1]).sum(1), atol=1e-10 * size)
    again = load_transformer(save_transformer(tmp_path / "built", model))
    np.testing.assert_array_equal(again(tokens), model(tokens))
    slope = eqx.filter_grad(lambda m: (m(tokens)[0, -1, 0] - 1.0) ** 2)(model)
    sizes = [float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(slope)]
    assert np.isfinite(sizes).all() and max(sizes) > 0


def test_without_pairs_nothing_is_known():
    H = built.embed_prompt(jnp.asarray(X[-1:]), jnp.zeros(0))
    states = built.run_layers(H, built.construct(jnp.asarray(M), jnp.asarray(THETA)))
    assert (np.asarray(built.estimates(states)) == 0).all()


@pytest.mark.parametrize("u", [0.3, -0.3, 0.05, 0.0, 1e3])
def test_the_perceptron_is_the_soft_threshold(u):
    layer = built.construct_layer(jnp.eye(1), jnp.array([0.1]))
    H = jnp.zeros((1, 4)).at[0, 2].set(u)
    value = built.perceptron(H, layer.W1, layer.b1, layer.W2, layer.b2)[0, 2]
    assert abs(value - np.sign(u) * max(abs(u) - 0.1, 0)) <= 1e-12 * (1 + abs(u))
