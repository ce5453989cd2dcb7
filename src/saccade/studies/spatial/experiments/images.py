"""Real images with their cells shuffled: vision transformers (vanilla and positional) and
convolutional networks, over seeds.

Within a seed every training shares the order of the images, the augmentation and the initial
weights; only what is compared differs.
"""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray

from saccade.datasets.images import ImageSet, load_images, shuffle_cells
from saccade.datasets.images.pipeline import Channels, View, channels_of, view
from saccade.errors import require, unknown
from saccade.lab.experiment import experiment
from saccade.networks.convolution import cnn_a, cnn_b, init_convolution, resnet_18, vgg_19
from saccade.networks.training import Problem, train
from saccade.networks.transformer import init_transformer, vision_transformer
from saccade.studies.spatial.dynamics.images import (
    ImageData,
    Recipe,
    batches,
    image_data,
    optimiser,
    right_answers,
    smoothed_loss,
)

VISION = {"vanilla": "tokens", "positional": "positions"}
SIZES = ("width", "hidden", "layers", "heads", "position_init")
CONVOLUTION = ("cnn_a", "cnn_b", "resnet_18", "vgg_19")
WATCHED = 1000  # test images looked at after every epoch


class Setting(NamedTuple):
    """What all trainings of one experiment share; `patch` is None for networks that see whole
    images."""

    train: ImageSet
    test: ImageSet
    channels: Channels
    recipe: Recipe
    patch: int | None
    make: Callable[[str, jax.Array], Any]
    about: dict[str, Any]

    @property
    def side(self) -> int:
        return self.train.pixels.shape[1]

    @property
    def steps(self) -> int:
        return self.recipe.steps(len(self.train))


class Outcome(NamedTuple):
    """One training: right answers on the test images as trained, and seen whole; losses; accuracy
    by epoch; encodings."""

    right: np.ndarray
    right_whole: np.ndarray
    losses: np.ndarray
    curve: np.ndarray
    encodings: np.ndarray
    start: np.ndarray


def cell_order(key: jax.Array, side: int, cell: int) -> np.ndarray:
    """A random order of the cells; a cell as large as the image leaves it whole."""
    return np.asarray(
        jax.random.permutation(jax.random.fold_in(key, cell), view(side, cell).permutation))


def in_units(seen: View, unit: int) -> View:
    """The same shuffle written for smaller cells of `unit` pixels."""
    per_side = seen.side // unit
    numbers = np.arange(per_side**2).reshape(per_side, per_side)
    return view(
        seen.side, unit, shuffle_cells(numbers, seen.cell // unit, seen.permutation).ravel())


def common_unit(cells: tuple[int, ...], patch: int | None) -> int:
    """The largest cell in which all shuffles (and the patches) can be written: trainings then share
    one compiled program."""
    return math.gcd(*cells, patch or 0)


def origin_of_patches(seen: View, patch: int) -> np.ndarray:
    """The original place of every token; -1 throughout where cells cut through patches and there is
    none."""
    return (
        in_units(seen, patch).permutation if seen.cell % patch == 0
        else np.full((seen.side // patch) ** 2, -1))


def trained(
    setting: Setting, problem: Problem, name: str, kind: str, key: jax.Array, seen: View
) -> Outcome:
    """Train one network and ask it about the test images, through its own shuffle and without
    any."""
    start_key, order_key, run_key = jax.random.split(key, 3)
    order_seed = int(jax.random.randint(order_key, (), 0, 2**31 - 1))
    data = image_data(setting.train, setting.channels, seen, setting.recipe, order_seed)
    whole = data._replace(permutation=jax.numpy.arange(len(seen.permutation)))
    model = setting.make(kind, start_key)
    per_epoch = setting.steps // setting.recipe.epochs
    watched = setting.test.first(min(WATCHED, len(setting.test)))

    def asked(model: Any, images: ImageSet, data: ImageData) -> np.ndarray:
        return right_answers(model, images, data, seen.cell, setting.patch)

    result = train(
        problem._replace(data=data), model, run_key, setting.steps, chunk=per_epoch, name=name,
        about=setting.about, measure=lambda model: asked(model, watched, data).mean(),
        measure_every=per_epoch)
    answers = asked(result.model, setting.test, data), asked(result.model, setting.test, whole)
    encodings = [
        np.asarray(getattr(one, "positions", np.zeros((0, 0))), np.float32)
        for one in (result.model, model)]
    return Outcome(*answers, result.losses, result.measured, *encodings)


def all_trained(
    key: jax.Array, setting: Setting, kinds: tuple[str, ...], cells: tuple[int, ...], seeds: int
) -> dict:
    """Outcomes by (kind, seed, cell); trainings of one kind share one compiled program."""
    found = {}
    loss, step = smoothed_loss(setting.recipe.smoothing), optimiser(setting.recipe, setting.steps)
    unit = common_unit(cells, setting.patch)
    problem = Problem(loss, batches(setting.recipe, unit, setting.patch), step)
    for seed in range(seeds):
        one = jax.random.fold_in(key, seed)
        for kind in kinds:
            for cell in cells:
                seen = in_units(view(setting.side, cell, cell_order(one, setting.side, cell)), unit)
                name = f"{kind}-cell{cell}-seed{seed}"
                found[kind, seed, cell] = trained(setting, problem, name, kind, one, seen)
    return found


def gathered(
    found: dict, kinds: tuple[str, ...], cells: tuple[int, ...], seeds: int
) -> xarray.Dataset:
    """The outcomes as arrays over (kind, seed, cell)."""
    axes = ("kind", "seed", "cell")

    def stack(name: str) -> np.ndarray:
        return np.array(
            [[[getattr(found[k, s, c], name) for c in cells] for s in range(seeds)] for k in kinds])

    made = {
        "right": ((*axes, "image"), stack("right").astype(np.uint8)),
        "right_whole": ((*axes, "image"), stack("right_whole").astype(np.uint8)),
        "loss": ((*axes, "step"), stack("losses")),
        "accuracy_by_epoch": ((*axes, "epoch"), stack("curve"))}
    if found[kinds[0], 0, cells[0]].encodings.size:
        made["encodings"] = ((*axes, "token", "width"), stack("encodings"))
        made["initial_encodings"] = ((*axes, "token", "width"), stack("start"))
    return xarray.Dataset(made, {"kind": list(kinds), "cell": list(cells)})


def loaded(data: str, folder: str | None, images: int) -> tuple[ImageSet, ImageSet, Channels]:
    """Training images (the first `images`, 0: all), test images, and the channels of the whole
    training set."""
    whole = load_images(data, "train", folder)
    return (
        whole.first(images) if images else whole, load_images(data, "test", folder),
        channels_of(whole))


def check_kinds(
    kinds: tuple[str, ...], known: tuple[str, ...], seeds: int, cells: tuple[int, ...]
) -> None:
    for kind in kinds:
        if kind not in known:
            raise unknown("network", kind, known)
    require(len(kinds) >= 1, "kinds", kinds, "must name at least one network")
    require(len(cells) >= 1, "cells", cells, "must hold at least one size of cells")
    require(seeds >= 1, "seeds", seeds, "must be at least 1")


def new_network(
    parameters: Any, kind: str, key: jax.Array, shape: tuple[int, ...], outputs: int
) -> Any:
    """A network of the kind, for images of `shape` (n, side, side, channels), with the sizes in
    `parameters`."""
    channels = shape[3]
    if kind in VISION:
        patch = parameters.patch
        tokens = view(shape[1], patch).permutation.size
        sizes = {name: getattr(parameters, name) for name in SIZES}
        config = vision_transformer(
            patch * patch * channels, tokens, outputs, VISION[kind], **sizes)
        return init_transformer(key, config)
    small, large = {"cnn_a": cnn_a, "cnn_b": cnn_b}, {"resnet_18": resnet_18, "vgg_19": vgg_19}
    if kind in small:
        return init_convolution(key, small[kind](channels, outputs))
    return large[kind](key, channels, outputs)


CIFAR = {
    "data": "cifar10", "images": 20_000, "patch": 4, "cells": (32, 4), "width": 64, "hidden": 128,
    "epochs": 6, "batch": 128, "learning_rate": 2e-3, "flip": True, "shift": 2}
PAPER = {
    **CIFAR, "images": 0, "width": 384, "hidden": 384, "layers": 7, "heads": 12, "epochs": 300,
    "learning_rate": 1e-3, "seeds": 3}
FEW_STEPS = {
    **CIFAR, "images": 6400, "epochs": 1, "kinds": ("vanilla",), "cells": (4,),
}  # 50 steps: locality comes early


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
    check_kinds(kinds, tuple(VISION), seeds, cells)
    train_set, test_set, channels = loaded(data, folder, images)
    side = train_set.pixels.shape[1]
    sizes = {
        "width": width, "hidden": hidden, "layers": layers, "heads": heads,
        "position_init": position_init}

    def make(kind: str, key: jax.Array) -> Any:
        asked = SimpleNamespace(patch=patch, **sizes)
        return new_network(asked, kind, key, train_set.pixels.shape, len(train_set.classes))

    recipe = Recipe(
        learning_rate, epochs, batch, position_rate=position_rate, flip=flip, shift=shift)
    about = {"data": train_set.checksum, "recipe": repr(recipe), "patch": patch, **sizes}
    setting = Setting(train_set, test_set, channels, recipe, patch, make, about)
    made = gathered(all_trained(key, setting, kinds, cells, seeds), kinds, cells, seeds)
    views = [
        [view(side, c, cell_order(jax.random.fold_in(key, s), side, c)) for c in cells]
        for s in range(seeds)]
    places = np.array([[origin_of_patches(one, patch) for one in row] for row in views])
    return made.assign(origin=(("seed", "cell", "token"), places))


CNN_CIFAR = {
    "data": "cifar10", "images": 20_000, "kinds": ("cnn_b",), "cells": (32, 4), "epochs": 6,
    "batch": 128, "learning_rate": 3e-3, "flip": True, "shift": 2, "seeds": 2}


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
    """Convolutional networks trained on images whose cells are shuffled (and put together again):
    right answers on every test image."""
    check_kinds(kinds, CONVOLUTION, seeds, cells)
    train_set, test_set, channels = loaded(data, folder, images)

    def make(kind: str, key: jax.Array) -> Any:
        return new_network(None, kind, key, train_set.pixels.shape, len(train_set.classes))

    recipe = Recipe(learning_rate, epochs, batch, flip=flip, shift=shift)
    setting = Setting(
        train_set, test_set, channels, recipe, None, make,
        {"data": train_set.checksum, "recipe": repr(recipe)})
    return gathered(all_trained(key, setting, kinds, cells, seeds), kinds, cells, seeds)


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
