"""The networks of the real images beside loops in NumPy: vision transformers with both kinds of
attention, small convolutional networks, ResNet and VGG; and how many numbers each has."""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.arrays import generator
from saccade.lab.experiment import experiment
from saccade.networks.convolution.large import VGG_19, Batchwise, Block, ResNet, Vgg
from saccade.networks.convolution.small import ConvolutionConfig, convolve, init_convolution
from saccade.networks.transformer import init_transformer, vision_transformer
from saccade.studies.spatial.experiments.images import LARGE, SMALL, VISION, new_network

EPSILON = 1e-5
Normalised = Callable[[np.ndarray, Any], np.ndarray]


def _scattered(random: np.random.Generator, model: Any, spread: float = 0.3) -> Any:
    """The model with every number moved, in double precision: no bias is 0, no scale 1."""
    return jax.tree.map(
        lambda leaf: jnp.asarray(np.asarray(leaf) + spread * random.normal(size=leaf.shape)), model)


def _layer_norm(x: np.ndarray, norm: Any) -> np.ndarray:
    """Over the last axis."""
    away = x - x.mean(axis=-1, keepdims=True)
    return (
        away / np.sqrt((away**2).mean(axis=-1, keepdims=True) + EPSILON) * norm.scale + norm.shift)


def _head_by_hand(
    rows: np.ndarray, seen: np.ndarray, layer: Any, head: int, divisor: float
) -> tuple[np.ndarray, np.ndarray]:
    """What a head makes of the tokens `seen`, and where it looks: by queries and keys of `rows`."""
    inner = layer.qkv.shape[1] // 3
    wide = layer.projection.shape[0] // 2
    parts = [
        slice(part * inner + head * wide, part * inner + (head + 1) * wide) for part in (0, 1, 2)]
    query, key, value = (
        source @ layer.qkv[:, part] + layer.qkv_bias[part]
        for source, part in zip((rows, rows, seen), parts, strict=True))
    looks = np.zeros((len(seen), len(seen)))
    for i in range(len(seen)):
        raised = np.asarray([np.exp(query[i] @ key[j] / divisor) for j in range(len(seen))])
        looks[i] = raised / raised.sum()
    return looks @ value, looks


def _vision_by_hand(
    model: Any, image: np.ndarray, divisor: float, normed: bool, added: bool
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Scores of one image by a vision transformer with two heads, and the looks of all layers."""
    by_places = model.config.looks_by == "positions"
    state, looks = image @ model.read_in + model.read_in_bias, []
    state = state + model.positions if added != by_places else state
    for number in range(model.config.layers):
        layer = model.layers.at(number)
        seen = _layer_norm(state, layer.attention_norm)
        places = model.positions
        if by_places and normed:
            places = _layer_norm(places, layer.position_norm)
        heads = [
            _head_by_hand(places if by_places else seen, seen, layer, head, divisor)
            for head in range(2)]
        mixed = np.concatenate([made for made, _ in heads], axis=1)
        looks += [look for _, look in heads]
        state = state + mixed @ layer.projection + layer.projection_bias
        hidden = _layer_norm(state, layer.mlp_norm) @ layer.first + layer.first_bias
        bent = hidden / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)))
        state = state + bent @ layer.second + layer.second_bias
    mean = _layer_norm(state, model.last_norm).mean(axis=0)
    return mean @ model.read_out + model.read_out_bias, looks


@experiment("spatial.vision-by-hand")
def vision_by_hand(
    key: Any, *, divided: int = 3, normed: bool = True, added: bool = True, step: float = 1e-4
) -> xarray.Dataset:
    """Largest gaps between vision transformers (two heads of width 3, two layers, five patches) and
    loops: scores, where they look, and the slope of a sum of scores along a random direction of all
    parameters, for both kinds of attention. By hand scores are divided by the root of `divided`,
    encodings are `normed`, and `added` where they should be, else in the other network."""
    random, gaps = generator(key), []
    images, weights = random.normal(size=(2, 5, 3)), random.normal(size=(2, 4))

    def total(model: Any) -> Any:
        scores = model(images)
        return jnp.sum(weights * scores), (scores, model.trace(images).attention)

    slopes = jax.jit(jax.grad(total, has_aux=True))
    for kind in VISION.values():
        config = vision_transformer(3, 5, 4, kind, width=6, hidden=7, heads=2)
        model = _scattered(random, init_transformer(key, config, dtype=jnp.float64))
        way = jax.tree.map(lambda leaf: random.normal(size=leaf.shape), model)
        plain = jax.tree.map(np.asarray, model)
        by_hand = partial(_vision_by_hand, divisor=divided**0.5, normed=normed, added=added)
        said = [by_hand(plain, one) for one in images]
        ends = [
            np.sum(weights * [by_hand(_moved(plain, way, far * step), one)[0] for one in images])
            for far in (2, 1, -1, -2)]
        by_model, (scores, looks) = slopes(model)
        along = sum(map(np.vdot, jax.tree.leaves(by_model), jax.tree.leaves(way)))
        by_looks = np.stack([np.reshape(one, (2, 2, 5, 5)) for _, one in said], axis=1)
        gaps += [
            np.abs(np.asarray(scores) - [one for one, _ in said]).max(),
            np.abs(np.asarray(looks) - by_looks).max(),
            abs(along - np.dot([-1, 8, -8, 1], ends) / (12 * step))]
    return xarray.Dataset({"gap": ("what", np.asarray(gaps, float))})


def _moved(model: Any, way: Any, far: float) -> Any:
    return jax.tree.map(lambda leaf, move: leaf + far * move, model, way)


def _convolved(
    images: np.ndarray, kernel: Any, stride: int = 1, turned: bool = False
) -> np.ndarray:
    """3 x 3, pixel by pixel; `turned`: the kernel's rows for its columns."""
    n, height, width, channels = images.shape
    around = np.zeros((n, height + 2, width + 2, channels))
    around[:, 1:-1, 1:-1] = images
    nine = np.asarray(kernel).reshape(3, 3, channels, -1)
    nine = nine.transpose(1, 0, 2, 3) if turned else nine
    made = np.zeros((n, -(-height // stride), -(-width // stride), nine.shape[-1]))
    for r in range(made.shape[1]):
        for c in range(made.shape[2]):
            near = around[:, r * stride : r * stride + 3, c * stride : c * stride + 3]
            made[:, r, c] = np.tensordot(near, nine, 3)
    return made


def _pooled(images: np.ndarray, how: Callable[..., np.ndarray]) -> np.ndarray:
    """2 x 2 pixels by `how`."""
    corners = [images[:, down::2, right::2] for down in (0, 1) for right in (0, 1)]
    return how(np.stack(corners), axis=0)


def _small_by_hand(model: Any, images: np.ndarray, turned: bool) -> np.ndarray:
    if model.config.folded:
        images = np.concatenate(
            [images[:, down::2, right::2] for down in (0, 1) for right in (0, 1)], axis=-1)
    for kernel, norm in zip(model.kernels, model.norms, strict=True):
        images = np.maximum(_layer_norm(_convolved(images, kernel, 1, turned), norm), 0)
        images = _pooled(images, np.mean) if images.shape[1] > 4 else images
    return images.mean(axis=(1, 2)) @ model.read_out + model.read_out_bias


def _by_batch(other: list[np.ndarray] | None = None) -> tuple[Normalised, list[np.ndarray]]:
    """Batch normalisation, by what it sees or by what another one `kept` there."""
    kept: list[np.ndarray] = []

    def normalise(images: np.ndarray, norm: Batchwise) -> np.ndarray:
        rows = (images if other is None else other[len(kept)]).reshape(-1, images.shape[-1])
        kept.append(images)
        away = images - rows.mean(axis=0)
        return away / np.sqrt(
            np.mean((rows - rows.mean(axis=0)) ** 2, axis=0) + EPSILON
        ) * np.asarray(norm.scale) + np.asarray(norm.shift)

    return normalise, kept


def _resnet_by_hand(
    model: Any, images: np.ndarray, norm: Normalised, turned: bool, early: bool
) -> np.ndarray:
    state = np.maximum(norm(_convolved(images, model.stem, 1, turned), model.stem_norm), 0)
    for block in model.blocks:
        inner = norm(_convolved(state, block.first, block.stride, turned), block.first_norm)
        inner = norm(_convolved(np.maximum(inner, 0), block.second, 1, turned), block.second_norm)
        if block.short is not None:
            cut = state[:, :: block.stride, :: block.stride] @ np.asarray(block.short)
            state = norm(cut, block.short_norm)
        state = np.maximum(inner, 0) + state if early else np.maximum(inner + state, 0)
    return state.mean(axis=(1, 2)) @ np.asarray(model.read_out) + model.read_out_bias


def _vgg_by_hand(
    model: Any, images: np.ndarray, norm: Normalised, turned: bool, early: bool
) -> np.ndarray:
    number = 0
    for item in (*VGG_19, "pool"):
        if item == "pool":
            images = _pooled(images, np.mean if early else np.max)
            continue
        inner = _convolved(images, model.kernels[number], 1, turned) + model.biases[number]
        images = np.maximum(norm(inner, model.norms[number]), 0)
        number += 1
    return images.mean(axis=(1, 2)) @ np.asarray(model.read_out) + model.read_out_bias


def small_large(random: np.random.Generator) -> tuple[ResNet, Vgg]:
    """A ResNet of two blocks, one of which halves the picture, and a VGG of narrow layers."""

    def drawn(*shape: int) -> Any:
        return jnp.asarray(random.normal(size=shape) / shape[0] ** 0.5)

    def norm(width: int) -> Batchwise:
        return Batchwise(1 + 0.5 * drawn(width), drawn(width))

    blocks = [
        Block(1, drawn(36, 4), drawn(36, 4), norm(4), norm(4), None, None),
        Block(2, drawn(36, 5), drawn(45, 5), norm(5), norm(5), drawn(4, 5), norm(5))]
    resnet = ResNet(drawn(5, 3), drawn(3), drawn(18, 4), norm(4), blocks)
    number = sum(item != "pool" for item in VGG_19)
    vgg = Vgg(
        drawn(3, 3), drawn(3), [drawn(18 if not k else 27, 3) for k in range(number)],
        [drawn(3) for _ in range(number)], [norm(3) for _ in range(number)])
    return resnet, vgg


def _large_gap(
    random: np.random.Generator, model: Any, seen: np.ndarray, others: np.ndarray,
    by_hand: Callable[..., np.ndarray],
) -> float:
    """Statistics of other images, and what is said of `seen` by those of the loops, means moved."""
    own, kept = _by_batch()
    by_hand(model, others, own)
    kept = [rows.reshape(-1, rows.shape[-1]) for rows in kept]
    plain = [(rows.mean(axis=0), rows.var(axis=0)) for rows in kept]
    found = model.statistics(jnp.asarray(others))
    moves = [0.3 * random.normal(size=rows.shape[-1]) for rows in kept]
    used = [(mean + move, variance) for (mean, variance), move in zip(plain, moves, strict=True)]
    made = np.asarray(model(jnp.asarray(seen), used))
    told = [rows + move for rows, move in zip(kept, moves, strict=True)]
    gaps = [np.subtract(*pair) for pair in zip(found, plain, strict=True)]
    return max(
        np.abs(gap).max() for gap in (*gaps, made - by_hand(model, seen, _by_batch(told)[0])))


@experiment("spatial.convolutions-by-hand")
def convolutions_by_hand(
    key: Any, *, turned: bool = False, early: bool = False, images: int = 2
) -> xarray.Dataset:
    """Largest gaps between convolutional networks and loops over pixels: one convolution, every
    pixel and every second; small networks as CNN-A and CNN-B are; a ResNet of two blocks and a
    narrow VGG, with their statistics of another batch, and by those of the loops with means moved.
    By hand kernels may be `turned`, and ReLU come `early` in blocks (in the VGG: means for maxima).
    """
    random, gaps = generator(key), []
    pictures, kernel = random.normal(size=(images, 6, 6, 2)), random.normal(size=(18, 3))
    for stride in (1, 2):
        made = np.asarray(convolve(jnp.asarray(pictures), jnp.asarray(kernel), stride))
        gaps.append(np.abs(made - _convolved(pictures, kernel, stride, turned)).max())
    for folded, side in ((False, 8), (True, 16)):  # from the second block on they stay 4 wide
        config = ConvolutionConfig(2, (3, 4, 3), 3, folded)
        model = _scattered(random, init_convolution(key, config))
        seen = random.normal(size=(images, side, side, 2))
        made = np.asarray(jax.jit(lambda model, seen: model(seen))(model, seen))
        gaps.append(np.abs(made - _small_by_hand(model, seen, turned)).max())
    for model, side, by_hand in zip(
        small_large(random), (6, 32), (_resnet_by_hand, _vgg_by_hand), strict=True
    ):
        seen, others = random.normal(size=(2, images, side, side, 2))
        gaps.append(
            _large_gap(random, model, seen, others, partial(by_hand, turned=turned, early=early)))
    return xarray.Dataset({"gap": ("what", np.asarray(gaps))})


@experiment("spatial.network-sizes")
def network_sizes(key: Any, *, channels: int = 3, outputs: int = 10) -> xarray.Dataset:
    """How many numbers the networks for 32 x 32 pictures have, by kind."""
    kinds = [*VISION, *SMALL, *LARGE]
    sizes = {"patch": 4, "width": 64, "hidden": 128, "layers": 2, "heads": 4, "position_init": 0.02}
    shape = (1, 32, 32, channels)
    shapes = [
        eqx.filter_eval_shape(new_network, sizes, kind, key, shape, outputs) for kind in kinds]
    counts = [
        sum(int(np.prod(leaf.shape)) for leaf in jax.tree.leaves(one) if hasattr(leaf, "shape"))
        for one in shapes]
    return xarray.Dataset({"count": ("kind", counts)}, {"kind": kinds})
