"""Real images with their cells shuffled: vision transformers and convolutional networks, over
seeds. Within a seed all trainings share the order of the images, the augmentation and the initial
weights; only what is compared differs."""

import math
import time
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray

from saccade.datasets.images import ImageSet, load_images, shuffle_cells
from saccade.datasets.images.pipeline import Channels, View, channels_of, view
from saccade.errors import require, unknown
from saccade.lab.experiment import SCALES, experiment
from saccade.lab.training import Training
from saccade.networks.convolution import cnn_a, cnn_b, init_convolution, resnet_18, vgg_19
from saccade.networks.training import Problem, train
from saccade.networks.transformer import init_transformer, vision_transformer
from saccade.studies.spatial.dynamics import images as dynamics
from saccade.studies.spatial.dynamics.images import Recipe

VISION = {"vanilla": "tokens", "positional": "positions"}
SIZES = ("width", "hidden", "layers", "heads", "position_init")
SMALL, LARGE = {"cnn_a": cnn_a, "cnn_b": cnn_b}, {"resnet_18": resnet_18, "vgg_19": vgg_19}
WATCHED = 1000  # test images looked at after every epoch
TIMED_STEPS = 8
TIMED_BATCH = 16  # larger batches are timed at this size: the cost is proportional to the images
COMPILING = 20.0  # seconds, about, for the programs of one kind of network


class Setting(NamedTuple):
    """What all trainings of one experiment share; `sizes` are those of vision transformers, whose
    patches make the difference to networks that see whole images."""

    train: ImageSet
    test: ImageSet
    channels: Channels
    recipe: Recipe
    sizes: Mapping[str, Any]

    @property
    def side(self) -> int:
        return self.train.pixels.shape[1]

    @property
    def steps(self) -> int:
        return self.recipe.steps(len(self.train))

    @property
    def patch(self) -> int | None:
        return self.sizes.get("patch")


# What a training leaves: right answers (0 or 1) on the test images as trained, and shown whole;
# losses; accuracy by epoch; encodings at the end and at the start.
OUTCOME = {
    "right": ("image",), "right_whole": ("image",), "loss": ("step",),
    "accuracy_by_epoch": ("epoch",), "encodings": ("token", "width"),
    "initial_encodings": ("token", "width")}


def cell_order(key: jax.Array, side: int, cell: int) -> np.ndarray:
    """A random order of the cells; a cell as large as the image leaves it whole."""
    return np.asarray(
        jax.random.permutation(jax.random.fold_in(key, cell), view(side, cell).permutation))


def in_units(shown: View, unit: int) -> View:
    """The same shuffle written for smaller cells of `unit` pixels."""
    per_side = shown.side // unit
    numbers = np.arange(per_side**2).reshape(per_side, per_side)
    return view(
        shown.side, unit, shuffle_cells(numbers, shown.cell // unit, shown.permutation).ravel())


def common_unit(cells: tuple[int, ...], patch: int | None) -> int:
    """The largest cell that all shuffles (and patches) can be written in, for one program."""
    return math.gcd(*cells, patch or 0)


def origin_of_patches(shown: View, patch: int) -> np.ndarray:
    """The original place of every token; -1 where cells cut through patches."""
    cut = shown.cell % patch != 0
    return np.full((shown.side // patch) ** 2, -1) if cut else in_units(shown, patch).permutation


def trained(
    setting: Setting, problem: Problem, name: str, kind: str, key: jax.Array, shown: View
) -> dict[str, np.ndarray]:
    """Train one network and ask it about the test images, shuffled as its own and whole."""
    start_key, order_key, run_key = jax.random.split(key, 3)
    order_seed = int(jax.random.randint(order_key, (), 0, 2**31 - 1))
    data = dynamics.image_data(setting.train, setting.channels, shown, setting.recipe, order_seed)
    whole = data._replace(permutation=np.arange(len(shown.permutation), dtype=np.int32))
    model = new_network(
        setting.sizes, kind, start_key, setting.train.pixels.shape, len(setting.train.classes))
    per_epoch = setting.steps // setting.recipe.epochs
    watched = setting.test.first(min(WATCHED, len(setting.test)))

    def asked(model: Any, images: ImageSet, data: dynamics.ImageData) -> np.ndarray:
        return dynamics.right_answers(model, images, data, shown.cell, setting.patch)

    about = {"data": setting.train.checksum, "recipe": repr(setting.recipe), **setting.sizes}
    result = train(
        problem._replace(data=data), model, run_key, setting.steps, chunk=per_epoch, name=name,
        about=about, measure=lambda model: asked(model, watched, data).mean(),
        measure_every=per_epoch)
    right, right_whole = (
        asked(result.model, setting.test, one).astype(np.uint8) for one in (data, whole))
    encodings, initial = (
        np.asarray(getattr(one, "positions", np.zeros((0, 0))), np.float32)
        for one in (result.model, model))
    outcome = right, right_whole, result.losses, result.measured, encodings, initial
    return dict(zip(OUTCOME, outcome, strict=True))


@cache
def _problem(recipe: Recipe, unit: int, patch: int | None, steps: int) -> Problem:
    """One object for the same arguments: trainings that share it share a compiled program."""
    return Problem(
        dynamics.smoothed_loss(recipe.smoothing), dynamics.batches(recipe, unit, patch),
        dynamics.optimiser(recipe, steps))


def all_trained(
    key: jax.Array, setting: Setting, kinds: tuple[str, ...], cells: tuple[int, ...], seeds: int
) -> xarray.Dataset:
    """Outcomes over (kind, seed, cell); trainings of one kind share one compiled program."""
    unit = common_unit(cells, setting.patch)
    problem = _problem(setting.recipe, unit, setting.patch, setting.steps)

    def outcome(kind: str, seed: int, cell: int) -> dict[str, np.ndarray]:
        one = jax.random.fold_in(key, seed)
        shown = in_units(view(setting.side, cell, cell_order(one, setting.side, cell)), unit)
        return trained(setting, problem, f"{kind}-cell{cell}-seed{seed}", kind, one, shown)

    rows = [[[outcome(k, s, c) for c in cells] for s in range(seeds)] for k in kinds]
    arrays = {}
    for name, dims in OUTCOME.items():
        values = np.array([[[one[name] for one in by_cell] for by_cell in row] for row in rows])
        if values.size:  # networks without encodings have none
            arrays[name] = (("kind", "seed", "cell", *dims), values)
    return xarray.Dataset(arrays, {"kind": list(kinds), "cell": list(cells)})


def prepared(
    data: str, folder: str | None, images: int, recipe: Recipe, sizes: Mapping[str, Any]
) -> Setting:
    """The first `images` for training (0: all), test images, channels of the whole training set."""
    whole, test = (load_images(data, part, folder) for part in ("train", "test"))
    first = whole.first(images) if images else whole
    return Setting(first, test, channels_of(whole), recipe, sizes)


def check_kinds(
    kinds: tuple[str, ...], known: Iterable[str], seeds: int, cells: tuple[int, ...]
) -> None:
    for kind in set(kinds) - set(known):
        raise unknown("network", kind, known)
    require(len(kinds) >= 1, "kinds", kinds, "must name at least one network")
    require(len(cells) >= 1, "cells", cells, "must hold at least one size of cells")
    require(seeds >= 1, "seeds", seeds, "must be at least 1")


def new_network(
    sizes: Mapping[str, Any], kind: str, key: jax.Array, shape: tuple[int, ...], outputs: int
) -> Any:
    """A network of the kind for images of `shape`; `sizes` are those of a vision transformer."""
    channels = shape[3]
    if kind in VISION:
        patch = sizes["patch"]
        tokens = view(shape[1], patch).permutation.size
        own = {name: sizes[name] for name in SIZES}
        config = vision_transformer(patch**2 * channels, tokens, outputs, VISION[kind], **own)
        return init_transformer(key, config)
    if kind in SMALL:
        return init_convolution(key, SMALL[kind](channels, outputs))
    return LARGE[kind](key, channels, outputs)


CIFAR = {
    "data": "cifar10", "images": 20_000, "patch": 4, "cells": (32, 4), "width": 64, "hidden": 128,
    "epochs": 6, "batch": 128, "learning_rate": 2e-3, "flip": True, "shift": 2}
PAPER = {
    **CIFAR, "images": 0, "width": 384, "hidden": 384, "layers": 7, "heads": 12, "epochs": 300,
    "learning_rate": 1e-3, "seeds": 3}
# 50 steps: locality comes early.
FEW_STEPS = {**CIFAR, "images": 6400, "epochs": 1, "kinds": ("vanilla",), "cells": (4,)}


@experiment("spatial.images", scales={"standard": {**CIFAR, "seeds": 2}, "paper": PAPER})
def vision(
    key: Any, *, data: str = "digits", folder: str | None = None, images: int = 0,
    kinds: tuple[str, ...] = ("vanilla", "positional"), patch: int = 2,
    cells: tuple[int, ...] = (8, 2), seeds: int = 1, width: int = 32, hidden: int = 64,
    layers: int = 2, heads: int = 4, epochs: int = 10, batch: int = 64, learning_rate: float = 3e-3,
    position_rate: float = 5.0, position_init: float = 0.02, flip: bool = False, shift: int = 0,
) -> xarray.Dataset:
    """Vision transformers with vanilla or positional attention, trained on images whose cells are
    shuffled: right answers on every test image, and the learned encodings with the original place
    of each token. A cell as large as the image means no shuffle.
    """
    check_kinds(kinds, VISION, seeds, cells)
    recipe = Recipe(
        learning_rate, epochs, batch, position_rate=position_rate, flip=flip, shift=shift)
    sizes = {
        "patch": patch, "width": width, "hidden": hidden, "layers": layers, "heads": heads,
        "position_init": position_init}
    setting = prepared(data, folder, images, recipe, sizes)
    trainings, side = all_trained(key, setting, kinds, cells, seeds), setting.side
    origin = [
        [origin_of_patches(view(side, cell, cell_order(one, side, cell)), patch) for cell in cells]
        for one in (jax.random.fold_in(key, seed) for seed in range(seeds))]
    return trainings.assign(origin=(("seed", "cell", "token"), np.array(origin)))


CNN_CIFAR = {
    "data": "cifar10", "images": 20_000, "kinds": ("cnn_b",), "cells": (32, 4), "epochs": 6,
    "batch": 128, "learning_rate": 3e-3, "flip": True, "shift": 2, "seeds": 2}
# Figure 5a in minutes: half of the images, a third of the epochs, 156 steps. Cells of 2 pixels
# cut through the patches of 4.
CELLS = (32, 16, 8, 4, 2)
BRIEF = {"images": 10_000, "epochs": 2, "cells": CELLS, "seeds": 3}


@experiment(
    "spatial.images-convolution",
    scales={
        "standard": CNN_CIFAR,
        "paper": {
            **CNN_CIFAR, "images": 0, "kinds": ("resnet_18", "vgg_19"), "epochs": 300,
            "learning_rate": 1e-3}})
def convolution(
    key: Any, *, data: str = "digits", folder: str | None = None, images: int = 0,
    kinds: tuple[str, ...] = ("cnn_a",), cells: tuple[int, ...] = (8, 1), seeds: int = 1,
    epochs: int = 10, batch: int = 64, learning_rate: float = 3e-3, flip: bool = False,
    shift: int = 0,
) -> xarray.Dataset:
    """Convolutional networks trained on shuffled images: right answers on every test image."""
    check_kinds(kinds, SMALL | LARGE, seeds, cells)
    recipe = Recipe(learning_rate, epochs, batch, flip=flip, shift=shift)
    return all_trained(key, prepared(data, folder, images, recipe, {}), kinds, cells, seeds)


@experiment(
    "spatial.shuffled-picture",
    scales={"standard": {"data": "cifar10", "number": 0, "cells": (32, 16, 8, 4)}})
def shuffled_picture(
    key: Any, *, data: str = "digits", folder: str | None = None, number: int = 0,
    cells: tuple[int, ...] = (8, 4, 2),
) -> xarray.Dataset:
    """One test picture, with its cells of several sizes in random order."""
    picture = load_images(data, "test", folder).pixels
    require(
        0 <= number < len(picture), "number", number, f"must lie between 0 and {len(picture) - 1}")
    side = picture.shape[1]
    shown = [shuffle_cells(picture[number], cell, cell_order(key, side, cell)) for cell in cells]
    return xarray.Dataset(
        {"picture": (("cell", "row", "column", "channel"), np.stack(shown))}, {"cell": list(cells)})


def _seconds_per_image(parameters: Any, kind: str, shape: tuple[int, ...]) -> float:
    """One training step of the same network, on noise, over its number of images."""
    patch = getattr(parameters, "patch", None)
    tokens = ((shape[1] // patch) ** 2, patch * patch * shape[3]) if patch else shape[1:]
    batch = min(parameters.batch, TIMED_BATCH)
    noise = jax.random.normal(jax.random.key(2), (batch, *tokens), jax.numpy.float32)
    data = noise, jax.numpy.arange(batch, dtype=jax.numpy.int32) % 10
    model = new_network(parameters.model_dump(), kind, jax.random.key(0), shape, outputs=10)
    step = dynamics.optimiser(Recipe(), TIMED_STEPS)
    problem = Problem(dynamics.smoothed_loss(0.1), dynamics.same_batch, step, data)
    moments: list[float] = []
    chunk = TIMED_STEPS // 2
    train(
        problem, model, jax.random.key(1), TIMED_STEPS, chunk=chunk,
        progress=lambda *_: moments.append(time.perf_counter()))
    return (moments[1] - moments[0]) / (chunk * batch)


def seconds_of(parameters: Any) -> float:
    """Seconds for all networks: steps of each kind, timed after compiling, times the images."""
    shape = load_images(parameters.data, "test", parameters.folder).pixels.shape
    images = steps_of(parameters) * parameters.batch / len(parameters.kinds)
    return sum(
        COMPILING + images * _seconds_per_image(parameters, kind, shape)
        for kind in parameters.kinds)


def steps_of(parameters: Any) -> int:
    """Optimiser steps over all networks, cells and seeds."""
    images = parameters.images or len(load_images(parameters.data, "train", parameters.folder))
    one = Recipe(epochs=parameters.epochs, batch=parameters.batch).steps(images)
    return one * len(parameters.kinds) * len(parameters.cells) * parameters.seeds


EVERY: dict[str, dict[str, Any]] = {scale: {} for scale in SCALES}
VISION_TRAINING = Training(
    "vision", "vision transformers, vanilla and positional, on whole and shuffled images", vision,
    EVERY, seconds_of, steps_of)
CONVOLUTION_TRAINING = Training(
    "convolution", "convolutional networks on whole and shuffled images", convolution, EVERY,
    seconds_of, steps_of)
