"""From bytes to what a network reads: normalised channels, the grid shuffle, patches as tokens."""

from typing import NamedTuple

import numpy as np

from saccade.datasets.images.imageset import ImageSet
from saccade.datasets.images.shuffle import check_cell, check_permutation, from_cells, to_cells


class Channels(NamedTuple):
    """Mean and standard deviation of each channel, of pixels in 0 .. 1."""

    mean: np.ndarray
    deviation: np.ndarray


class View(NamedTuple):
    """An image of `side` pixels, shown as cells of `cell` pixels in the order `permutation`."""

    side: int
    cell: int
    permutation: np.ndarray


def channels_of(images: ImageSet) -> Channels:
    """Of all pixels; counted by grey level, so that a large set costs no floating-point copy."""
    levels = np.arange(256) / 255
    by_channel = np.moveaxis(images.pixels, -1, 0)
    counts = np.stack([np.bincount(values.ravel(), minlength=256) for values in by_channel])
    shares = counts / counts.sum(axis=1, keepdims=True)
    mean = shares @ levels
    return Channels(mean, np.maximum(np.sqrt(np.maximum(shares @ levels**2 - mean**2, 0)), 1e-6))


def normalised(images: ImageSet, channels: Channels) -> np.ndarray:
    """Pixels as float32 with mean 0 and deviation 1 in every channel."""
    scale = (1 / (255 * channels.deviation)).astype(np.float32)
    shift = (channels.mean / channels.deviation).astype(np.float32)
    return images.pixels * scale - shift


def view(side: int, cell: int, permutation: np.ndarray | None = None) -> View:
    """A checked `View`; no permutation means the picture as it is."""
    check_cell(side, side, cell)
    cells = (side // cell) ** 2
    order = np.arange(cells) if permutation is None else check_permutation(permutation, cells)
    return View(side, cell, order)


def shuffled(pixels: np.ndarray, shown: View) -> np.ndarray:
    """The images (n, side, side, channels) with their cells in the order of the view."""
    return from_cells(to_cells(pixels, shown.cell)[:, shown.permutation], shown.side, shown.side)


def patches(pixels: np.ndarray, shown: View, patch: int) -> np.ndarray:
    """The shuffled images as tokens (n, patches, patch * patch * channels), patches row by row."""
    check_cell(shown.side, shown.side, patch)
    if patch == shown.cell:
        tokens = to_cells(pixels, patch)[:, shown.permutation]
    else:
        tokens = to_cells(shuffled(pixels, shown), patch)
    return np.ascontiguousarray(tokens.reshape(len(tokens), tokens.shape[1], -1))
