"""The deep transformer against a plain loop, finite differences, symmetries, parameter counts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.networks import transformer
from saccade.networks.transformer import gpt2_decoder, init_transformer, pair_decoder, small_decoder

pytestmark = pytest.mark.slow

CONFIGS = {
    "small decoder": small_decoder(dim=3, layers=2, heads=2, residual_init=0.5),
    "gpt2": gpt2_decoder(dim=3, positions=9, width=8, layers=2, heads=2, hidden=12),
    "pairs, softmax": pair_decoder(dim=3, layers=2, width=8, heads=2, hidden=12, read_out_init=1.0),
    "pairs, relu": pair_decoder(
        dim=3, layers=2, attention="relu", width=8, heads=2, hidden=12, read_out_init=1.0),
    "vit": transformer.vision_transformer(5, 6, 3, width=8, heads=2, hidden=10, position_init=0.5),
    "vit, positional": transformer.vision_transformer(
        5, 6, 3, "positions", width=8, heads=2, hidden=10, position_init=0.5),
    "relu, not causal": transformer.TransformerConfig(
        4, 8, 2, 2, 6, 3, attention="relu", norm="scale", read_out="quadratic"),
    "many layers": pair_decoder(dim=3, layers=9, width=8, heads=2, hidden=12, read_out_init=1.0)}


call = eqx.filter_jit(lambda model, tokens: model(tokens))
trace_of = eqx.filter_jit(lambda model, tokens: model.trace(tokens))


def build(name, seed=0):
    """A float64 model with biases and norms away from their first values, and tokens for it."""
    config = CONFIGS[name]
    model = init_transformer(jax.random.key(seed), config, jnp.float64)
    noise = np.random.default_rng(seed)
    model = jax.tree.map(
        lambda leaf: jnp.asarray(np.asarray(leaf) + 0.1 * noise.standard_normal(leaf.shape)), model)
    length = config.positions if config.looks_by == "positions" else 5
    return model, jnp.asarray(noise.standard_normal((3, length, config.features)))


def loop_norm(x, norm):
    if norm is None:
        return x
    scaled = (x - x.mean()) / np.sqrt(x.var() + 1e-5) * np.asarray(norm.scale)
    return scaled if norm.shift is None else scaled + np.asarray(norm.shift)


def loop_attention(config, layer, state, positions):
    """Token by token, head by head: the update of each state."""
    d, inner = config.per_head, config.per_head * config.heads
    qkv, bias = np.asarray(layer.qkv), 0 if layer.qkv_bias is None else np.asarray(layer.qkv_bias)
    tokens = [loop_norm(h, layer.attention_norm) @ qkv + bias for h in state]
    places = tokens
    if config.looks_by == "positions":
        places = [loop_norm(p, layer.position_norm) @ qkv + bias for p in positions]
    updates = []
    for i in range(len(state)):
        seen = range(i + 1) if config.causal else range(len(state))
        heads = []
        for m in range(config.heads):
            part = slice(m * d, (m + 1) * d)
            scores = np.array(
                [places[i][:inner][part] @ places[j][inner : 2 * inner][part] for j in seen])
            scores = scores / np.sqrt(d) if config.scaled else scores
            weights = np.maximum(scores, 0) / len(seen)
            if config.attention == "softmax":
                weights = np.exp(scores) / np.exp(scores).sum()
            heads.append(sum(w * tokens[j][2 * inner :][part] for w, j in zip(weights, seen)))
        if config.projection:
            out = np.concatenate(heads) @ np.asarray(layer.projection)
            updates.append(
                out if layer.projection_bias is None else out + np.asarray(layer.projection_bias))
        else:
            updates.append(sum(heads))
    return np.array(updates)


def loop_forward(model, tokens):
    """One example by plain NumPy."""
    config = model.config
    model = jax.tree.map(np.asarray, model)
    state = (
        tokens if model.read_in is None
        else tokens @ np.asarray(model.read_in) + np.asarray(model.read_in_bias))
    positions = None if model.positions is None else np.asarray(model.positions)
    if positions is not None and config.looks_by == "tokens":
        state = state + positions[: len(state)]
    for number in range(config.layers):
        layer = model.layers.at(number)
        state = state + loop_attention(config, layer, state, positions)
        inner = (
            np.array([loop_norm(h, layer.mlp_norm) for h in state]) @ np.asarray(layer.first)
            + layer.first_bias)
        bend = np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3))
        inner = np.maximum(inner, 0) if config.activation == "relu" else inner * (1 + bend) / 2
        state = state + np.asarray(inner) @ np.asarray(layer.second) + layer.second_bias
    state = np.array([loop_norm(np.asarray(h), model.last_norm) for h in state])
    state = state.mean(0) if config.pool == "mean" else state
    if config.read_out == "quadratic":
        return np.einsum("ti,ij,tj->t", state, np.asarray(model.read_out), state)[:, None]
    out = state @ np.asarray(model.read_out)
    return out if model.read_out_bias is None else out + np.asarray(model.read_out_bias)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_forward_pass_is_the_plain_loop(name):
    model, tokens = build(name)
    expected = np.stack([loop_forward(model, np.asarray(example)) for example in tokens])
    np.testing.assert_allclose(np.asarray(call(model, tokens)), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_trace_ends_where_the_call_ends_and_shows_the_weights_that_were_used(name):
    model, tokens = build(name)
    trace = trace_of(model, tokens)
    config = model.config
    np.testing.assert_allclose(trace.outputs, call(model, tokens), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.read(trace.states[-1]), trace.outputs, rtol=1e-12)
    shared = config.looks_by == "positions"
    length = tokens.shape[1]
    assert trace.states.shape == (config.layers + 1, 3, length, config.width)
    assert trace.attention.shape == (
        config.layers, 1 if shared else 3, config.heads, length, length)
    if config.causal:
        assert not np.triu(np.asarray(trace.attention), 1).any()
    if config.attention == "softmax":
        np.testing.assert_allclose(trace.attention.sum(-1), 1, rtol=1e-12)


@pytest.mark.parametrize("name", CONFIGS)
def test_derivatives_meet_finite_differences(name):
    """Along three random directions; central differences at 1e-7 err by about 1e-8, and a kink
    of ReLU is rarely that near."""
    model, tokens = build(name)
    noise = np.random.default_rng(1)
    target = noise.standard_normal(call(model, tokens).shape)
    loss = jax.jit(lambda model: jnp.mean((model(tokens) - target) ** 2))
    slope = jax.jit(jax.grad(loss))(model)
    for _ in range(3):
        direction = jax.tree.map(lambda leaf: noise.standard_normal(leaf.shape), model)
        ahead = jax.tree.map(lambda a, b: a + 1e-7 * b, model, direction)
        behind = jax.tree.map(lambda a, b: a - 1e-7 * b, model, direction)
        numeric = (loss(ahead) - loss(behind)) / 2e-7
        exact = sum(
            np.sum(np.asarray(a) * b)
            for a, b in zip(jax.tree.leaves(slope), jax.tree.leaves(direction)))
        assert float(exact) == pytest.approx(float(numeric), rel=2e-6, abs=1e-7)


def test_a_causal_decoder_does_not_see_later_tokens():
    model, tokens = build("pairs, softmax")
    changed = tokens.at[:, 3:].add(1.0)
    before, after = call(model, tokens), call(model, changed)
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert not np.allclose(before[:, 3:], after[:, 3:])


@pytest.mark.parametrize(
    ("config", "count"),
    [
        (small_decoder(), 425_923), (gpt2_decoder(), 9_493_761),
        (transformer.vision_transformer(looks_by="positions"), 75_210),
        (
            transformer.vision_transformer(), 75_210 - 256,
        ),  # without the norms of positions, which vanilla attention would not use
        (pair_decoder(), 133_568)])
def test_parameters_are_counted(config, count):
    shapes = eqx.filter_eval_shape(init_transformer, jax.random.key(0), config)
    assert sum(np.prod(leaf.shape) for leaf in jax.tree.leaves(shapes)) == count


def test_arrays_are_float32_unless_asked():
    model = init_transformer(jax.random.key(0), pair_decoder(dim=2, layers=1))
    assert {leaf.dtype for leaf in jax.tree.leaves(model)} == {jnp.dtype("float32")}
    assert model(jnp.zeros((1, 2, 3))).dtype == jnp.float32
    assert transformer.number_of_parameters(model) > 0


@pytest.mark.parametrize("looks_by", ["tokens", "positions"])
def test_permuted_patches_with_permuted_positions_give_the_same_outputs(looks_by):
    model, _ = build("vit" if looks_by == "tokens" else "vit, positional")
    tokens = jax.random.normal(jax.random.key(3), (3, 6, 5))
    order = np.array([3, 0, 5, 1, 4, 2])
    permuted = eqx.tree_at(lambda m: m.positions, model, model.positions[order])
    np.testing.assert_allclose(
        call(permuted, tokens[:, order]), call(model, tokens), rtol=1e-10, atol=1e-12)
    assert not np.allclose(call(model, tokens[:, order]), call(model, tokens))


def test_positional_attention_does_not_depend_on_the_input():
    model, tokens = build("vit, positional")
    np.testing.assert_array_equal(
        trace_of(model, tokens).attention, trace_of(model, 2 * tokens).attention)
    vanilla, tokens = build("vit")
    assert not np.allclose(
        trace_of(vanilla, tokens).attention, trace_of(vanilla, 2 * tokens).attention)


def test_heads_written_as_matrices_on_columns_enter_transposed():
    Q, K, V = (np.random.default_rng(seed).standard_normal((2, 3, 4, 5)) for seed in range(3))
    h = np.random.default_rng(5).standard_normal(5)
    packed = np.asarray(h @ transformer.side_by_side(Q, K, V)[1])
    expected = np.concatenate([(part[1] @ h).ravel() for part in (Q, K, V)])
    np.testing.assert_allclose(packed, expected)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"heads": 3}, "heads = 3 must divide the width 8"),
        ({"width": 0}, "width = 0 must be at least 1"),
        ({"attention": "softmx"}, "did you mean 'softmax'"),
        ({"looks_by": "positions"}, "positions = 0 must be at least 1"),
        ({"read_in": False}, "features = 4 must be the width 8"),
        ({"projection": False}, "head_width = 4 must be the width 8"),
        ({"residual_init": float("nan")}, "residual_init = nan must be finite")])
def test_impossible_settings_are_refused_in_one_sentence(changes, says):
    with pytest.raises(InvalidInput, match=says):
        transformer.TransformerConfig(
            **{"features": 4, "width": 8, "layers": 1, "heads": 2, "hidden": 8, **changes})


def test_tokens_of_another_shape_are_refused():
    model, _ = build("gpt2")
    with pytest.raises(InvalidInput, match=r"shape of tokens = \(2, 4\) must be \(batch, T, 3\)"):
        model(jnp.zeros((2, 4)))
    with pytest.raises(InvalidInput, match="number of tokens = 10 must be at most 9"):
        model(jnp.zeros((1, 10, 3)))


@pytest.mark.parametrize("name", ["vanilla_vit", "positional_vit", "paper_decoder"])
def test_losses_of_two_adam_steps_are_those_of_pytorch(name):
    pytest.importorskip("torch")
    from saccade.lab import torch_steps

    assert getattr(torch_steps, name)(**torch_steps.TINY).check().difference < 1e-5
