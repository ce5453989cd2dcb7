"""How the networks of the real images start, which of their numbers decay, and the loop that trains
them, beside plain versions."""

import tempfile
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray

from saccade.arrays import generator
from saccade.lab.experiment import experiment
from saccade.networks.convolution.large import resnet_18, vgg_19
from saccade.networks.convolution.small import ConvolutionConfig, init_convolution
from saccade.networks.training import Problem, train
from saccade.networks.transformer import init_transformer, vision_transformer
from saccade.studies.spatial.dynamics import images as dynamics
from saccade.studies.spatial.dynamics.images import Recipe
from saccade.studies.spatial.experiments.networks_by_hand import small_large

VISION_PARTS = (
    "read-in", "encodings", "queries and keys", "values", "projection", "first", "second",
    "read-out")
CONVOLUTION_PARTS = (
    "small, first", "small, second", "small, read-out", "ResNet", "short cut", "stem",
    "ResNet, second", "ResNet, read-out", "VGG", "VGG, read-out")
EVEN = {"vanilla": "tokens", "positional": "positions"}


def _some_of_large(key: Any) -> tuple[Any, ...]:
    resnet, vgg = resnet_18(key, 12, 20), vgg_19(key, 3, 20)
    block = resnet.blocks[2]
    return (
        block.first, block.short, resnet.stem, block.second, resnet.read_out, vgg.kernels[2],
        vgg.read_out)


def _plain_numbers(model: Any) -> dict[str, Any]:
    """Biases and the numbers of norms, by their place."""
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(model, eqx.is_array))
    words = ("bias", "scale", "shift")
    named = [(jax.tree_util.keystr(path), leaf) for path, leaf in leaves]
    return {name: leaf for name, leaf in named if any(word in name for word in words)}


@experiment("spatial.even-starts")
def even_starts(key: Any, *, scale: float = 1.0, moved: float = 0.0) -> xarray.Dataset:
    """How far the scales of norms are from `scale` and biases and shifts from `moved`, where
    networks start: vision transformers of both kinds, small convolutional, ResNet-18, VGG-19."""
    makers = [
        *(
            lambda key, kind=kind: init_transformer(key, vision_transformer(looks_by=kind))
            for kind in EVEN.values()),
        lambda key: init_convolution(key, ConvolutionConfig()), resnet_18, vgg_19]
    started = jax.jit(lambda key: [_plain_numbers(make(key)) for make in makers])(key)
    gaps = [
        [
            max(
                float(np.abs(np.asarray(leaf) - (scale if is_scale else moved)).max())
                for name, leaf in numbers.items() if ("scale" in name) == is_scale)
            for is_scale in (True, False)]
        for numbers in started]
    return xarray.Dataset({"gap": (("network", "what"), gaps)})


@experiment("spatial.network-starts")
def network_starts(
    key: Any, *, blocks: int = 64, fan: str = "in", encodings: float = 0.3
) -> xarray.Dataset:
    """Mean squares of the initial matrices, in `blocks` of their rows, times the numbers that enter
    ("in") or leave ("out") a unit, or times neither; the `encodings` as they are. A vision
    transformer of width 64, a small convolutional network, and some of ResNet-18 and of VGG-19."""
    config = vision_transformer(
        48, 64, 20, "positions", hidden=96, layers=1, position_init=encodings)
    vit, D = init_transformer(key, config), 64
    layer, cnn = vit.layers.at(0), init_convolution(key, ConvolutionConfig(16, (32, 64), 40))
    large = jax.jit(_some_of_large)(key)  # what is not asked for is not drawn
    matrices = {
        "read-in": vit.read_in, "encodings": vit.positions,
        "queries and keys": layer.qkv[:, : 2 * D], "values": layer.qkv[:, 2 * D :],
        "projection": layer.projection, "first": layer.first, "second": layer.second,
        "read-out": vit.read_out, "small, first": cnn.kernels[0], "small, second": cnn.kernels[1],
        "small, read-out": cnn.read_out} | dict(zip(CONVOLUTION_PARTS[3:], large, strict=True))
    rows = []
    for name, matrix in matrices.items():
        squares = np.asarray(matrix, float) ** 2
        many = {"in": squares.shape[0], "out": squares.shape[1]}.get(fan, 1)
        many = 1 if name == "encodings" else many
        kept = squares.size // blocks * blocks
        rows.append(many * squares.ravel()[:kept].reshape(blocks, -1).mean(axis=1))
    return xarray.Dataset(
        {"square": (("block", "matrix"), np.stack(rows, axis=1))}, {"matrix": list(matrices)})


@experiment("spatial.decay-by-hand")
def decay_by_hand(key: Any, *, all_decay: bool = False, rate: float = 0.02) -> xarray.Dataset:
    """Largest gaps between the first step of the recipe's optimiser (no warm-up, rate 0.02, decay
    0.3) where every gradient is zero, and -rate 0.3 times each matrix but the encodings (else:
    times everything), for a vision transformer, a small convolutional network and a ResNet."""
    recipe = Recipe(0.02, warmup=0.0, decay=0.3)
    rule, random = dynamics.optimiser(recipe, 10), generator(key)
    vit = init_transformer(
        key, vision_transformer(3, 5, 4, "positions", width=6, hidden=7, heads=2))
    cnn = init_convolution(key, ConvolutionConfig(2, (3, 4), 3))
    gaps = []
    for model in (vit, cnn, small_large(random)[0]):
        free = jax.tree.map(
            lambda leaf: jnp.asarray(random.normal(size=leaf.shape)),
            eqx.filter(model, eqx.is_inexact_array))
        nothing = jax.tree.map(jnp.zeros_like, free)
        moves, _ = jax.jit(rule.update)(nothing, rule.init(free), free)
        gap = 0.0
        for (path, leaf), move in zip(
            jax.tree_util.tree_leaves_with_path(free), jax.tree.leaves(moves), strict=True
        ):
            words = jax.tree_util.keystr(path)
            axes = leaf.ndim - ("layers" in words)
            decays = all_decay or (axes == 2 and "positions" not in words)
            gap = max(gap, float(np.abs(move + rate * 0.3 * decays * leaf).max()))
        gaps.append(gap)
    return xarray.Dataset({"gap": ("what", gaps)})


class _Line(eqx.Module):
    """X w."""

    w: jax.Array


def _by_hand(start: np.ndarray, draws: list[list[Any]], rate: float) -> tuple[np.ndarray, ...]:
    """Descent with momentum on the mean squares of batches, of which every step takes the mean:
    w before each step and after the last, losses and norms of slopes."""
    path, momentum, losses, norms = [start], np.zeros_like(start), [], []
    for batches in draws:
        w, pairs = path[-1], [tuple(map(np.asarray, batch)) for batch in batches]
        slope = sum(2 * X.T @ (X @ w - y) / len(y) for X, y in pairs) / len(pairs)
        losses.append(sum(np.mean((X @ w - y) ** 2) for X, y in pairs) / len(pairs))
        norms.append(np.linalg.norm(slope))
        momentum = 0.9 * momentum + slope
        path.append(w - rate * momentum)
    return np.array(path), np.array(losses), np.array(norms)


@experiment("spatial.loop-by-hand")
def loop_by_hand(
    key: Any, *, steps: int = 7, rate: float = 0.1, first: int = 0, measured: int = 2,
    taken: int = 3,
) -> xarray.Dataset:
    """Largest gaps between training in chunks of two steps and a loop: losses, norms of gradients,
    the end, where it was measured (every `measured` steps and at the end) and what, and the end of
    a training that was broken off after four steps and resumed; then losses, norms and end where
    every step takes the mean of three batches (by hand of `taken`). Least squares, batches drawn
    by the key of the step, descent with momentum; by hand steps count from `first`."""
    random = generator(key)
    data, start = jnp.asarray(random.normal(size=(20, 3))), jnp.asarray(random.normal(size=3))

    def batch(key: Any, step: Any, data: Any) -> Any:
        return data[jax.random.randint(key, (6,), 0, 20)], jnp.cos(step + jnp.arange(6.0))

    def loss(model: Any, batch: Any) -> Any:
        return jnp.mean((batch[0] @ model.w - batch[1]) ** 2)

    problem = Problem(loss, batch, optax.sgd(0.1, momentum=0.9), data)

    def trained(until: int, problem: Problem = problem, **more: Any) -> Any:
        return train(
            problem, _Line(start), key, until, chunk=2, measure=lambda model: model.w[0],
            measure_every=2, **more)

    whole, summed = trained(steps), trained(4, problem._replace(accumulate=3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "line.npz"
        trained(4, checkpoint=path)
        resumed = trained(steps, checkpoint=path, resume=True)
    keys = [(step, jax.random.fold_in(key, step)) for step in range(first, first + steps)]
    w, losses, norms = _by_hand(
        np.asarray(start), [[batch(one, step, data)] for step, one in keys], rate)
    end, *curves = _by_hand(
        np.asarray(start),
        [
            [batch(part, step, data) for part in jax.random.split(one, 3)[:taken]]
            for step, one in keys[:4]],
        rate)
    places = [step for step in range(steps + 1) if step % measured == 0 or step == steps]
    same = len(places) == len(whole.measured_steps)
    pairs = [
        (whole.losses, losses), (whole.gradient_norms, norms), (whole.model.w, w[-1]),
        (whole.measured_steps, places) if same else (0.0, 1.0),
        (np.ravel(whole.measured), w[places, 0]) if same else (0.0, 1.0), (resumed.model.w, w[-1]),
        ([summed.losses, summed.gradient_norms], curves), (summed.model.w, end[-1])]
    return xarray.Dataset(
        {"gap": ("what", [np.max(np.abs(np.asarray(a) - np.asarray(b))) for a, b in pairs])})
