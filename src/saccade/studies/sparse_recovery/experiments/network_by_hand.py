"""The deep transformer beside NumPy: decoders of pairs that see what came before, by softmax or by
ReLU attention, and one that looks by places alone; what they say, and how that changes along a
direction of all parameters."""

from typing import Any

import equinox as eqx
import jax
import numpy as np
import optax
import xarray

from saccade.lab.experiment import experiment
from saccade.networks.training import Problem, train
from saccade.networks.transformer import init_transformer, pair_decoder, vision_transformer

SIZES: dict[str, Any] = {"width": 6, "heads": 2, "hidden": 7, "layers": 1}
CONFIGS = {
    "pairs": pair_decoder(dim=3, read_out_init=1.0, **SIZES),
    "relu": pair_decoder(dim=3, attention="relu", read_out_init=1.0, **SIZES),
    "places": vision_transformer(4, 5, 3, "positions", position_init=0.5, **SIZES)}
BATCH, TOKENS, DIFFERENCE = 2, 5, 1e-5


def _normed(x: np.ndarray, norm: Any) -> np.ndarray:
    """LayerNorm of every row, if there is one."""
    if norm is None:
        return x
    away = x - x.mean(axis=1, keepdims=True)
    rows = away / np.sqrt((away**2).mean(axis=1, keepdims=True) + 1e-5) * norm.scale
    return rows if norm.shift is None else rows + norm.shift


def _linear(x: np.ndarray, matrix: Any, bias: Any) -> np.ndarray:
    return x @ matrix + (0.0 if bias is None else bias)


def _mixed(config: Any, layer: Any, state: np.ndarray, places: Any, power: float) -> np.ndarray:
    """What attention adds: head by head and token by token, scores over d_h^power."""
    d, inner = config.per_head, config.heads * config.per_head
    seen = _linear(_normed(state, layer.attention_norm), layer.qkv, layer.qkv_bias)
    looks = seen
    if config.looks_by == "positions":
        looks = _linear(_normed(places, layer.position_norm), layer.qkv, layer.qkv_bias)
    made = np.zeros((len(state), inner))
    for head in range(config.heads):
        own = slice(head * d, (head + 1) * d)
        q, k, v = looks[:, :inner][:, own], looks[:, inner:][:, own], seen[:, 2 * inner :][:, own]
        for i in range(len(state)):
            last = i + 1 if config.causal else len(state)
            scores = k[:last] @ q[i] / d**power
            relu = config.attention == "relu"
            weights = np.maximum(scores, 0) if relu else np.exp(scores)
            made[i, own] = weights @ v[:last] / (last if relu else weights.sum())
    return _linear(made, layer.projection, layer.projection_bias)


def _says(model: Any, tokens: np.ndarray, power: float) -> np.ndarray:
    """The outputs for one sample."""
    config, state = model.config, _linear(tokens, model.read_in, model.read_in_bias)
    if model.positions is not None and config.looks_by == "tokens":
        state = state + model.positions[: len(state)]
    for number in range(config.layers):
        layer = jax.tree.map(lambda leaf, number=number: leaf[number], model.layers)
        state = state + _mixed(config, layer, state, model.positions, power)
        h = _linear(_normed(state, layer.mlp_norm), layer.first, layer.first_bias)
        share = 1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3))
        bent = np.maximum(h, 0) if config.activation == "relu" else h / 2 * share
        state = state + _linear(bent, layer.second, layer.second_bias)
    state = _normed(state, model.last_norm)
    state = state.mean(axis=0, keepdims=True) if config.pool == "mean" else state
    return _linear(state, model.read_out, model.read_out_bias)


def _number(outputs: Any) -> Any:
    """One number for all outputs: every place has a weight of its own."""
    return outputs.reshape(-1) @ np.sqrt(np.arange(1.0, outputs.size + 1))


@eqx.filter_jit
def _said_and_slope(model: Any, direction: Any, tokens: Any) -> tuple[Any, Any]:
    said, slopes = eqx.filter_value_and_grad(lambda model: _number(model(tokens)))(model)
    pairs = zip(jax.tree.leaves(slopes), jax.tree.leaves(direction), strict=True)
    return said, sum((one * other).sum() for one, other in pairs)


def _accumulated(key: Any, batches: int) -> tuple[float, float]:
    """Where two steps of gradient descent on three batches each lead, and where the mean gradients
    of so many of them do: the loss is |w - x|^2/2, x a normal number."""
    problem = Problem(
        lambda model, x: ((model["w"] - x) ** 2).sum() / 2,
        lambda key, step, data: jax.random.normal(key, (1,), np.float64), optax.sgd(0.3),
        accumulate=3)
    end = train(problem, {"w": np.full(1, 0.7)}, key, 2).model["w"]
    w = 0.7
    for step in range(2):
        keys = jax.random.split(jax.random.fold_in(key, step), 3)
        drawn = [float(jax.random.normal(one, (1,), np.float64)[0]) for one in keys]
        w -= 0.3 * (w - sum(drawn[:batches]) / batches)
    return float(end[0]), float(w)


@experiment("sparse-recovery.network-by-hand")
def network_by_hand(key: Any, *, power: float = 0.5, batches: int = 3) -> xarray.Dataset:
    """Of the networks, all parameters away from their first values, one number for what they say
    and its slope along a random direction, by the study (automatic differentiation) and by hand
    (central differences), where scores are divided by d_h^`power`; and two steps of training, each
    on the mean gradient of three batches, of which the hand sees `batches`."""
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
            return float(_number(np.stack([_says(moved, one, power) for one in tokens])))

        made += [float(one) for one in _said_and_slope(model, direction, tokens)]
        ends = by_hand(DIFFERENCE), by_hand(-DIFFERENCE)
        plain += [by_hand(0.0), (ends[0] - ends[1]) / (2 * DIFFERENCE)]
    ends = _accumulated(key, batches)
    return xarray.Dataset(
        {"made": ("what", [*made, ends[0]]), "plain": ("what", [*plain, ends[1]])})
