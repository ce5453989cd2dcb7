"""The deep transformer beside NumPy: decoders of pairs that see what came before, by softmax or by
ReLU attention, one that looks by places alone, and the paper's, made to see all tokens; what they
say, where they look, and how that changes along a direction of all parameters."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import equinox as eqx
import jax
import numpy as np
import optax
import xarray

from saccade.lab.experiment import experiment
from saccade.networks.training import Problem, train
from saccade.networks.transformer import (
    gpt2_decoder,
    init_transformer,
    number_of_parameters,
    pair_decoder,
    small_decoder,
    vision_transformer,
)
from saccade.studies.sparse_recovery.dynamics.decoders import side_by_side

UNROLLED = 7  # layers; more are scanned
SIZES: dict[str, Any] = {"width": 6, "heads": 2, "hidden": 7, "layers": 1}
CONFIGS = {
    "pairs": pair_decoder(dim=3, read_out_init=1.0, positions=6, attention_bias=True, **SIZES),
    "relu": pair_decoder(dim=3, attention="relu", read_out_init=1.0, **SIZES),
    "places": vision_transformer(
        4, 5, 3, "positions", position_init=0.5, **SIZES | {"layers": UNROLLED + 1}),
    "all tokens": small_decoder(
        2, 1, 2, hidden=7, causal=False, scaled=True, residual_init=1.0, read_out="quadratic")}
BATCH, TOKENS, DIFFERENCE = 2, 5, 1e-5


def _normed(x: np.ndarray, norm: Any) -> np.ndarray:
    """LayerNorm of every row, if there is one."""
    if norm is None:
        return x
    away = x - x.mean(axis=1, keepdims=True)
    rows = away / np.sqrt((away**2).mean(axis=1, keepdims=True) + 1e-5) * norm.scale
    return rows if norm.shift is None else rows + norm.shift


def _linear(x: np.ndarray, matrix: Any, bias: Any) -> np.ndarray:
    return x if matrix is None else x @ matrix + (0.0 if bias is None else bias)


def _mixed(
    config: Any, layer: Any, state: np.ndarray, places: Any, power: float
) -> tuple[np.ndarray, np.ndarray]:
    """What attention adds, and where it looks: head by head and token by token, scores over
    d_h^power."""
    d, inner, length = config.per_head, config.heads * config.per_head, len(state)
    seen = _linear(_normed(state, layer.attention_norm), layer.qkv, layer.qkv_bias)
    looks = seen
    if config.looks_by == "positions":
        looks = _linear(_normed(places, layer.position_norm), layer.qkv, layer.qkv_bias)
    made, where = np.zeros((length, config.heads, d)), np.zeros((config.heads, length, length))
    for head in range(config.heads):
        own = slice(head * d, (head + 1) * d)
        q, k, v = looks[:, :inner][:, own], looks[:, inner:][:, own], seen[:, 2 * inner :][:, own]
        for i in range(length):
            last = i + 1 if config.causal else length
            scores = k[:last] @ q[i] / d**power
            relu = config.attention == "relu"
            weights = np.maximum(scores, 0) if relu else np.exp(scores)
            where[head, i, :last] = weights / (last if relu else weights.sum())
            made[i, head] = where[head, i] @ v
    flat = made.sum(axis=1) if layer.projection is None else made.reshape(length, -1)
    return _linear(flat, layer.projection, layer.projection_bias), where


def _says(model: Any, tokens: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray]:
    """The outputs for one sample, and where the last layer looks."""
    config, state = model.config, _linear(tokens, model.read_in, model.read_in_bias)
    where = np.zeros(0)
    if model.positions is not None and config.looks_by == "tokens":
        state = state + model.positions[: len(state)]
    for number in range(config.layers):
        layer = jax.tree.map(lambda leaf, number=number: leaf[number], model.layers)
        added, where = _mixed(config, layer, state, model.positions, power)
        state = state + added
        h = _linear(_normed(state, layer.mlp_norm), layer.first, layer.first_bias)
        share = 1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3))
        bent = np.maximum(h, 0) if config.activation == "relu" else h / 2 * share
        state = state + _linear(bent, layer.second, layer.second_bias)
    state = _normed(state, model.last_norm)
    state = state.mean(axis=0, keepdims=True) if config.pool == "mean" else state
    if config.read_out == "quadratic":
        return np.array([h @ model.read_out @ h for h in state]), where
    return _linear(state, model.read_out, model.read_out_bias), where


def _number(outputs: Any) -> Any:
    """One number for all outputs: every place has a weight of its own."""
    return outputs.reshape(-1) @ np.sqrt(np.arange(1.0, outputs.size + 1))


@eqx.filter_jit
def _said_slope_and_look(model: Any, direction: Any, tokens: Any) -> tuple[Any, Any, Any]:
    """The number, its slope, and one for where the last layer looks at the last sample."""
    said, slopes = eqx.filter_value_and_grad(lambda model: _number(model(tokens)))(model)
    pairs = zip(jax.tree.leaves(slopes), jax.tree.leaves(direction), strict=True)
    looked = model.trace(tokens).attention[-1, -1]
    return said, sum((one * other).sum() for one, other in pairs), _number(looked)


STARTS = np.array([[0.7, 0.1], [-2.0, 0.4]])


def _accumulated(key: Any, batches: int) -> tuple[list[float], list[float]]:
    """Where two steps of gradient descent on three batches each lead, and where the mean gradients
    of so many of them do: the loss is |w - x|^2/2 in the plane, x normal around (0.2, 0.2). One
    point alone, and two side by side, each with batches of its own; gradients are clipped at 0.4.
    """
    problem = Problem(
        lambda model, x: ((model["w"] - x) ** 2).sum() / 2,
        lambda key, step, data: data + jax.random.normal(key, (2,), np.float64),
        optax.chain(optax.clip_by_global_norm(0.4), optax.sgd(0.3)), np.full(2, 0.2), accumulate=3)
    pair = side_by_side(problem, 2)
    ends = [
        train(problem, {"w": STARTS[0]}, key, 2).model["w"],
        *train(pair, {"w": STARTS}, key, 2).model["w"]]
    alone = _descended(key, batches, STARTS[0], lambda one: one)
    paired = [
        _descended(key, batches, first, lambda one, place=place: jax.random.split(one)[place])
        for place, first in enumerate(STARTS)]
    return [float(_number(end)) for end in ends], [float(_number(w)) for w in (alone, *paired)]


def _descended(key: Any, batches: int, w: np.ndarray, own: Callable[[Any], Any]) -> np.ndarray:
    """Two steps from w on the mean gradient of so many batches, drawn from its `own` keys."""
    for step in range(2):
        keys = jax.random.split(jax.random.fold_in(key, step), 3)
        drawn = [0.2 + np.asarray(jax.random.normal(own(one), (2,), np.float64)) for one in keys]
        slope = w - sum(drawn[:batches]) / batches
        w = w - 0.3 * slope * min(1.0, 0.4 / float(np.linalg.norm(slope)))
    return w


@experiment("sparse-recovery.network-by-hand")
def network_by_hand(key: Any, *, power: float = 0.5, batches: int = 3) -> xarray.Dataset:
    """Of the networks, all parameters away from their first values, one number for what they say,
    its slope along a random direction, and one for where they look, by the study (automatic
    differentiation) and by hand (central differences), where scores are divided by d_h^`power`;
    and two steps of training, each on the mean gradient of three batches, of which the hand sees
    `batches`, of one number and of two side by side."""
    random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    made, plain = [], []
    for config in CONFIGS.values():
        first = init_transformer(key, config, np.float64)
        model, direction = (
            jax.tree.map(
                lambda leaf, size=size: (
                    size * np.asarray(leaf) + 0.4 * random.normal(size=leaf.shape)),
                first)
            for size in (1, 0))
        tokens = random.normal(size=(BATCH, TOKENS, config.features))

        def by_hand(step: float, model=model, direction=direction, tokens=tokens) -> float:
            moved = jax.tree.map(lambda leaf, way: leaf + step * way, model, direction)
            return float(_number(np.stack([_says(moved, one, power)[0] for one in tokens])))

        made += [float(one) for one in _said_slope_and_look(model, direction, tokens)]
        ends = by_hand(DIFFERENCE), by_hand(-DIFFERENCE)
        looked = float(_number(_says(model, tokens[-1], power)[1]))
        plain += [by_hand(0.0), (ends[0] - ends[1]) / (2 * DIFFERENCE), looked]
    trained, alone = _accumulated(key, batches)
    return xarray.Dataset({"made": ("what", made + trained), "plain": ("what", plain + alone)})


FIRST = {
    "pairs": pair_decoder(8, 3), "pairs, relu": pair_decoder(8, 3, "relu"),
    "small": small_decoder(11, 2), "gpt2": gpt2_decoder(20, 41, width=64, heads=4, hidden=128)}
WEIGHTS = ("positions", "inside", "values", "projection", "second", "read-out")
NETS = 12


@experiment("sparse-recovery.first-weights")
def first_weights(key: Any, *, added: float = 0.0, fewer: int = 0) -> xarray.Dataset:
    """The root mean square of the first weights of every preset of decoders, over several networks,
    times the root of how many numbers each sums (a position: as it is; 0 where there is none), and
    how many numbers that is known from; the largest correlation of two of a network's matrices, in
    standard errors; what biases are from zero and scales from one at most; and how many numbers the
    paper's decoders have, with `fewer` layers less. To every array the same normal numbers of size
    `added` are added."""
    seed = np.asarray(jax.random.key_data(key))

    def drawn(one: Any, config: Any) -> Any:
        return jax.tree.map(
            lambda leaf: leaf + added * np.random.default_rng(seed).normal(size=leaf.shape),
            jax.tree.map(np.asarray, init_transformer(one, config)))

    sizes, counts, off, alike = [], [], [], []
    for place, config in enumerate(FIRST.values()):
        keys = jax.random.split(jax.random.fold_in(key, place), NETS)
        nets = [drawn(one, config) for one in keys]
        sizes.append([_size([_weights(net)[name] for net in nets]) for name in WEIGHTS])
        counts.append([NETS * np.size(_weights(nets[0])[name]) for name in WEIGHTS])
        off.append(max(_off(net) for net in nets))
        alike.append(max(_alike(net) for net in nets))
    numbers = [
        number_of_parameters(init_transformer(key, replace(config, layers=config.layers - fewer)))
        for config in (small_decoder(), gpt2_decoder())]
    return xarray.Dataset(
        {
            "size": (("decoder", "weight"), sizes), "count": (("decoder", "weight"), counts),
            "off": ("decoder", off), "alike": ("decoder", alike), "numbers": ("paper", numbers)},
        {"decoder": list(FIRST), "weight": list(WEIGHTS)})


def _alike(net: Any) -> float:
    """The largest correlation of the beginnings of two arrays, times the root of their length."""
    layers = net.layers
    named = (
        net.read_in, net.positions, layers.qkv, layers.projection, layers.first, layers.second,
        net.read_out)
    flat = [np.ravel(matrix) for matrix in named if matrix is not None]
    found = []
    for one, other in combinations(flat, 2):
        both = min(one.size, other.size)
        found.append(np.corrcoef(one[:both], other[:both])[0, 1] * both**0.5)
    return float(np.abs(found).max())


def _weights(net: Any) -> dict[str, np.ndarray]:
    """The matrices of a network by name, times the root of their rows; those of the read-in, of
    queries and keys and the first of the MLP together."""
    inner, layers = 2 * net.config.heads * net.config.per_head, net.layers
    inside = [net.read_in, layers.qkv[..., :inner], layers.first]
    return {
        "positions": np.zeros(0) if net.positions is None else net.positions,
        "inside": np.concatenate([_by_rows(matrix) for matrix in inside]),
        "values": _by_rows(layers.qkv[..., inner:]), "projection": _by_rows(layers.projection),
        "second": _by_rows(layers.second), "read-out": _by_rows(net.read_out)}


def _by_rows(matrix: Any) -> np.ndarray:
    return np.zeros(0) if matrix is None else np.ravel(matrix) * np.shape(matrix)[-2] ** 0.5


def _size(parts: list[np.ndarray]) -> float:
    return float(np.sqrt(np.mean(np.square(parts)))) if parts[0].size else 0.0


def _off(net: Any) -> float:
    """How far a bias is from zero, or a scale from one."""
    layers = net.layers
    norms = [layers.attention_norm, layers.mlp_norm, net.last_norm]
    zero = [
        net.read_in_bias, layers.qkv_bias, layers.projection_bias, layers.first_bias,
        layers.second_bias, net.read_out_bias, *(norm and norm.shift for norm in norms)]
    apart = [bias for bias in zero if bias is not None] + [norm.scale - 1 for norm in norms if norm]
    return max(float(np.abs(part).max()) for part in apart)
