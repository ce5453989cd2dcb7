"""Speed of the spatial engines: merged states against single images, our gradients and JAX's."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saccade.descent import descend
from saccade.lab import torch_steps
from saccade.lab.benchmark import Accuracy, Benchmark, Sides, Target
from saccade.studies.spatial.dynamics import descent as dynamics
from saccade.studies.spatial.dynamics.descent import Layer
from saccade.studies.spatial.task import Spatial, interleaved, localised, sample_signals
from saccade.studies.spatial.theory import population as exact
from saccade.studies.spatial.theory.population import Scalars, Setting
from saccade.studies.spatial.theory.states import listed_states


@partial(jax.jit, static_argnames="setting")
def _image_by_image(
    start: Scalars, setting: Setting, rates: Scalars, x: Any, steps: int
) -> Scalars:
    """The same descent with the output summed over every (image, set, patch in set)."""

    def loss(at: Scalars) -> Any:
        own, same, other, _ = exact.attention_weights(setting, at.gamma, at.rho)
        s = jnp.sum(x, axis=2, keepdims=True)
        total = jnp.sum(s, axis=1, keepdims=True)
        z = setting.patches * at.alpha * (own * x + same * (s - x) + other * (total - s))
        F = jnp.sum(z**setting.degree + setting.slope * z, axis=(1, 2))
        return jnp.mean(jnp.logaddexp(0.0, -F))

    def step(at: Scalars, _: Any) -> Scalars:
        return jax.tree.map(
            lambda number, rate, pull: number - rate * pull, at, rates, jax.grad(loss)(at))

    return descend(step, lambda *_: None, start, jnp.asarray([steps]))[0]


def three_scalars(
    patches: int = 64, set_size: int = 4, rate: float = 0.25, images: int = 2000, steps: int = 3000,
    peer_steps: int = 60,
) -> Sides:
    """3000 steps over the states of 2000 images; the peer takes 60 over the images themselves."""
    setting = Setting(patches, set_size, rate)
    labels = interleaved(patches, set_size)
    x, y, signal = sample_signals(jax.random.key(0), jnp.asarray(labels), rate, images)
    order = np.argsort(labels, kind="stable").reshape(-1, set_size)
    sets = np.asarray(x * y[:, None])[:, order]
    outside = np.arange(len(order)) != np.asarray(signal)[:, None]
    random = sets[outside].reshape(images, -1, set_size)
    states = listed_states(random.sum(axis=2), np.abs(random).sum(axis=2), set_size, setting.degree)
    start, rates = Scalars(*jnp.asarray([0.01, 0.0, 0.0])), exact.step_sizes(setting, 1e-3, 30.0)

    def ours(count: int) -> np.ndarray:
        path = dynamics.idealised_descent(start, setting, 1e-3, 30.0, [count], states)
        return np.ravel(path.scalars)

    def peer(count: int) -> np.ndarray:
        return np.asarray(_image_by_image(start, setting, rates, jnp.asarray(sets), count))

    def check() -> Accuracy:
        return Accuracy(float(np.max(np.abs(ours(peer_steps) - peer(peer_steps)))), 1e-9)

    return Sides(lambda: ours(steps), lambda: peer(peer_steps), check)


@partial(jax.jit, static_argnames="layer")
def _by_autodiff(
    X: Any, y: Any, A: Any, v: Any, layer: Layer, eta_v: float, eta_a: float, steps: int
) -> Any:
    free = (1 - jnp.eye(A.shape[0])).astype(A.dtype)

    def step(state: Any, _: Any) -> Any:
        grad_A, grad_v = jax.grad(dynamics.sample_loss, (2, 3))(X, y, *state, layer)
        return state[0] - eta_a * free * grad_A, state[1] - eta_v * grad_v

    return descend(step, lambda *_: None, (A, v), jnp.asarray([steps]))[0]


def realistic(
    side: int = 6, block: int = 2, dim: int = 32, samples: int = 12_000, steps: int = 330,
    checked: int = 10,
) -> Sides:
    """The run R1, 330 full-batch steps on 12,000 images; the peer differentiates the loss."""
    keys = jax.random.split(jax.random.key(0), 3)
    sample = Spatial.create(keys[0], localised(side, block), dim, 0.3).sample(keys[1], samples)
    X, y = sample.X.astype(jnp.float32), sample.y.astype(jnp.float32)
    start = dynamics.random_start(keys[2], side * side, dim, 1.0, 1e-3, jnp.float32)
    layer = Layer(3, 1e-4)

    def ours(count: int) -> Any:
        record = dynamics.realistic_descent(X, y, start, layer, 2e-3, 20.0, count, count)
        return np.asarray(record.A[-1])

    def peer(count: int) -> Any:
        return np.asarray(_by_autodiff(X, y, *start, layer, 2e-3, 20.0, count)[0])

    def check() -> Accuracy:
        return Accuracy(float(np.max(np.abs(ours(checked) - peer(checked)))), 1e-5)

    return Sides(lambda: ours(steps), lambda: peer(steps), check)


THREE_SCALARS = Benchmark(
    "spatial.three-scalars",
    "3,000 steps of population descent at D = 64, C = 4, against 60 steps image by image",
    three_scalars, tiny={"patches": 16, "images": 100, "steps": 20, "peer_steps": 10})
REALISTIC = Benchmark(
    "spatial.realistic",
    "the realistic run R1 (12,000 images of 36 patches, 330 steps), against automatic"
    " differentiation", realistic,
    tiny={"side": 4, "dim": 4, "samples": 60, "steps": 4, "checked": 3})
TORCH = torch_steps.benchmark(
    "spatial.positional-vit-step",
    "the small ViT with positional attention (64 patches, batch 128)", torch_steps.positional_vit,
    Target(">=", 0.85))
