"""From bytes to what a network reads: normalised channels, flips and shifts, the grid shuffle, and
patches as tokens.

Augmentation comes BEFORE the shuffle: it moves the picture, not the cells.
"""

from typing import NamedTuple

import numpy as np

from saccade.datasets.images.imageset import ImageSet
from saccade.datasets.images.shuffle import (
    check_cell,
    check_permutation,
    from_cells,
    identity_permutation,
    to_cells,
)
from saccade.errors import require


class Channels(NamedTuple):
    """Mean and standard deviation of each channel, of pixels in 0 .. 1."""

    mean: np.ndarray
    deviation: np.ndarray


class View(NamedTuple):
    """How a network sees an image of `side` pixels: cells of `cell` pixels in the order
    `permutation`."""

    side: int
    cell: int
    permutation: np.ndarray


def channels_of(images: ImageSet) -> Channels:
    """Of all pixels; one number a channel. Counted by grey level, so that a large set costs no
    floating-point copy."""
    levels = np.arange(256) / 255
    counts = np.stack([
        np.bincount(images.pixels[..., one].ravel(), minlength=256)
        for one in range(images.pixels.shape[-1])])
    shares = counts / counts.sum(axis=1, keepdims=True)
    mean = shares @ levels
    return Channels(mean, np.maximum(np.sqrt(np.maximum(shares @ levels**2 - mean**2, 0)), 1e-6))


def normalised(images: ImageSet, channels: Channels) -> np.ndarray:
    """Pixels as float32 (n, height, width, channels) with mean 0 and deviation 1 in every
    channel."""
    scale = (1 / (255 * channels.deviation)).astype(np.float32)
    shift = (channels.mean / channels.deviation).astype(np.float32)
    return images.pixels * scale - shift


def view(side: int, cell: int, permutation: np.ndarray | None = None) -> View:
    """A checked `View`; no permutation means the picture as it is."""
    plain = identity_permutation(side, cell)
    return View(
        side, cell, plain if permutation is None else check_permutation(permutation, len(plain)))


def augmented(
    pixels: np.ndarray, random: np.random.Generator, flip: bool = True, shift: int = 2
) -> np.ndarray:
    """Each image flipped left-right with chance 1/2 and moved by up to `shift` pixels each way,
    zeros moving in."""
    require(
        0 <= shift < pixels.shape[1], "shift", shift,
        f"must lie between 0 and {pixels.shape[1] - 1}")
    moved = pixels.copy()
    if flip:
        turned = random.random(len(pixels)) < 0.5
        moved[turned] = moved[turned, :, ::-1]
    if shift == 0:
        return moved
    height, width = pixels.shape[1:3]
    corners = random.integers(0, 2 * shift + 1, size=(len(pixels), 2))
    padded = np.pad(moved, ((0, 0), (shift, shift), (shift, shift), (0, 0)))
    for down in range(2 * shift + 1):
        for right in range(2 * shift + 1):
            chosen = (corners == (down, right)).all(axis=1)
            moved[chosen] = padded[chosen, down : down + height, right : right + width]
    return moved


def shuffled(pixels: np.ndarray, seen: View) -> np.ndarray:
    """The images (n, side, side, channels) with their cells in the order of the view."""
    return from_cells(to_cells(pixels, seen.cell)[:, seen.permutation], seen.side, seen.side)


def patches(pixels: np.ndarray, seen: View, patch: int) -> np.ndarray:
    """The shuffled images as tokens (n, patches, patch * patch * channels), patches row by row."""
    check_cell(seen.side, seen.side, patch)
    if patch == seen.cell:
        tokens = to_cells(pixels, patch)[:, seen.permutation]
    else:
        tokens = to_cells(shuffled(pixels, seen), patch)
    return np.ascontiguousarray(tokens.reshape(len(tokens), tokens.shape[1], -1))
