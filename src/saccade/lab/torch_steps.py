"""Training steps of the deep transformer against the same steps in PyTorch (eager).

The peer is written as one would in PyTorch: its fused attention, LayerNorm, gelu and Adam. Both
start from the same weights and see the same batches; it counts only if their losses agree.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from saccade.lab.benchmark import Accuracy, Benchmark, Sides, Target
from saccade.networks import transformer
from saccade.networks.saving import named_leaves
from saccade.networks.training import Problem, train
from saccade.networks.transformer import Transformer, TransformerConfig

RATE = 1e-3
# relative; eight float32 steps of Adam from the same weights stay far closer
LOSSES_APART = 1e-3


def _torch_layer(config: TransformerConfig, w: dict[str, Any], number: int, h: Any) -> Any:
    """One layer on (batch, T, D)."""
    import torch.nn.functional as F

    def of(name: str) -> Any:
        return w[f"layers.{name}"][number] if f"layers.{name}" in w else None

    def norm(x: Any, name: str) -> Any:
        scale = of(f"{name}.scale")
        return (
            x if scale is None else F.layer_norm(x, x.shape[-1:], scale, of(f"{name}.shift"), 1e-5))

    batch, length, _ = h.shape
    inner = config.heads * config.per_head
    bias = of("qkv_bias")
    if config.looks_by == "positions":
        places = F.linear(
            norm(w["positions"], "position_norm"), of("qkv")[:, : 2 * inner].T, bias[: 2 * inner])
        q, k = places.view(1, length, 2, config.heads, -1).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2) * config.per_head**-0.5).softmax(-1)
        v = F.linear(norm(h, "attention_norm"), of("qkv")[:, 2 * inner :].T, bias[2 * inner :])
        mixed = weights @ v.view(batch, length, config.heads, -1).transpose(1, 2)
    else:
        projected = F.linear(norm(h, "attention_norm"), of("qkv").T, bias)
        q, k, v = projected.view(batch, length, 3, config.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = _torch_attention(config, q, k, v)
    mixed = mixed.transpose(1, 2)
    update = (
        mixed.sum(2) if of("projection") is None
        else F.linear(mixed.reshape(batch, length, -1), of("projection").T, of("projection_bias")))
    h = h + update
    hidden = F.linear(norm(h, "mlp_norm"), of("first").T, of("first_bias"))
    hidden = F.relu(hidden) if config.activation == "relu" else F.gelu(hidden, approximate="tanh")
    return h + F.linear(hidden, of("second").T, of("second_bias"))


def _torch_attention(config: TransformerConfig, q: Any, k: Any, v: Any) -> Any:
    import torch
    import torch.nn.functional as F

    if config.attention == "softmax":
        return F.scaled_dot_product_attention(q, k, v, is_causal=config.causal)
    length = q.shape[2]
    counts = torch.arange(1, length + 1)[:, None]
    return (F.relu(q @ k.transpose(-1, -2)).tril() / counts) @ v


def _torch_forward(config: TransformerConfig, w: dict[str, Any], tokens: Any) -> Any:
    import torch.nn.functional as F

    h = F.linear(tokens, w["read_in"].T, w["read_in_bias"]) if "read_in" in w else tokens
    h = h + w["positions"] if "positions" in w and config.looks_by == "tokens" else h
    for number in range(config.layers):
        h = _torch_layer(config, w, number, h)
    if "last_norm.scale" in w:
        h = F.layer_norm(h, h.shape[-1:], w["last_norm.scale"], w["last_norm.shift"], 1e-5)
    h = h.mean(1) if config.pool == "mean" else h
    return F.linear(h, w["read_out"].T, w["read_out_bias"])


def _peer(model: Transformer, tokens: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Losses of as many Adam steps as there are batches."""
    import torch

    w = {
        name: torch.tensor(np.array(leaf), requires_grad=True)
        for name, leaf in named_leaves(model).items()}
    optimiser = torch.optim.Adam(w.values(), RATE, fused=True)
    losses = []
    for batch, target in zip(torch.tensor(tokens), torch.tensor(targets), strict=True):
        optimiser.zero_grad()
        loss = ((_torch_forward(model.config, w, batch) - target) ** 2).mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return np.array(losses)


def steps_against_torch(
    config: TransformerConfig, length: int, batch: int = 64, steps: int = 8
) -> Sides:
    """`steps` steps of Adam on squared error with random batches."""
    import torch

    torch.set_num_threads(1)
    model = transformer.init_transformer(jax.random.key(0), config)
    random = np.random.default_rng(0)
    tokens = random.standard_normal((steps, batch, length, config.features), np.float32)
    outputs = (config.outputs,) if config.pool == "mean" else (length, config.outputs)
    targets = random.standard_normal((steps, batch, *outputs), np.float32)
    problem = Problem(
        loss=lambda model, drawn: jnp.mean((model(drawn[0]) - drawn[1]) ** 2),
        batch=lambda key, step, data: (data[0][step], data[1][step]), optimiser=optax.adam(RATE),
        data=(jnp.asarray(tokens), jnp.asarray(targets)))

    def ours() -> np.ndarray:
        return train(problem, model, jax.random.key(1), steps, chunk=steps).losses

    def peer() -> np.ndarray:
        return _peer(model, tokens, targets)

    return Sides(
        ours, peer, lambda: Accuracy(float(np.max(np.abs(ours() / peer() - 1))), LOSSES_APART))


def vanilla_vit(batch: int = 128, steps: int = 8) -> Sides:
    return steps_against_torch(transformer.vision_transformer(), 64, batch, steps)


def positional_vit(batch: int = 128, steps: int = 8) -> Sides:
    return steps_against_torch(
        transformer.vision_transformer(looks_by="positions"), 64, batch, steps)


def paper_decoder(batch: int = 64, steps: int = 8) -> Sides:
    return steps_against_torch(transformer.small_decoder(), 21, batch, steps)


TINY = {"batch": 4, "steps": 2}


def benchmark(id: str, about: str, prepare: Any, target: Target | None = None) -> Benchmark:
    """The benchmark against PyTorch, one thread each."""
    words = f"8 training steps of {about}: ours against PyTorch eager, one thread each"
    return Benchmark(id, words, prepare, target, tiny=TINY, needs="torch")
