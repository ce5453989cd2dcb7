"""Grid shuffling: cut an image into square cells and show them in another order (Jelassi, Sander
and Li 2022, Figure 5).

One convention everywhere: cells are numbered row by row, and **new cell k shows old cell
permutation[k]**.
"""

from typing import Any

import numpy as np

from saccade.errors import require


def check_cell(height: int, width: int, cell: int) -> None:
    """A cell must divide both sides of the image."""
    whole = isinstance(cell, int | np.integer) and not isinstance(cell, bool) and cell >= 1
    require(whole, "cell", cell, "must be a whole number of at least 1")
    rule = f"must divide the sides of the image, which is {height} by {width}"
    require(height % cell == 0 and width % cell == 0, "cell", cell, rule)


def check_permutation(permutation: Any, cells: int) -> np.ndarray:
    """The permutation as whole numbers, each of 0 .. cells - 1 once."""
    rule = (
        f"must hold each of the whole numbers 0 .. {cells - 1} once, for the image has {cells}"
        " cells")
    try:
        order = np.asarray(permutation)
        fits = order.shape == (cells,) and np.array_equal(np.sort(order), np.arange(cells))
    except (ValueError, TypeError):
        fits, order = False, np.empty(0)
    require(fits, "permutation", permutation, rule)
    return order.astype(int)


def to_cells(images: np.ndarray, cell: int) -> np.ndarray:
    """(n, height, width, channels) as (n, cells, cell, cell, channels), cells row by row."""
    count, height, width, channels = images.shape
    grid = images.reshape(count, height // cell, cell, width // cell, cell, channels)
    return grid.transpose(0, 1, 3, 2, 4, 5).reshape(count, -1, cell, cell, channels)


def from_cells(cells: np.ndarray, height: int, width: int) -> np.ndarray:
    """The inverse of `to_cells`."""
    count, _, cell, _, channels = cells.shape
    grid = cells.reshape(count, height // cell, width // cell, cell, cell, channels)
    return grid.transpose(0, 1, 3, 2, 4, 5).reshape(count, height, width, channels)


def shuffle_cells(image: Any, cell: int, permutation: Any) -> np.ndarray:
    """The image with its cells in another order: new cell k shows old cell permutation[k]. Exact.

    `image` is (height, width), (height, width, channels) or a batch (n, height, width, channels).
    """
    try:
        pixels = np.asarray(image)
    except ValueError:  # rows of unequal length
        pixels = np.empty(0)
    rule = (
        "must be (height, width), (height, width, channels) or (n, height, width, channels), with"
        " no side of length 0")
    require(pixels.ndim in (2, 3, 4) and pixels.size > 0, "image.shape", pixels.shape, rule)
    batch = {2: (1, *pixels.shape, 1), 3: (1, *pixels.shape), 4: pixels.shape}[pixels.ndim]
    height, width = batch[1:3]
    check_cell(height, width, cell)
    order = check_permutation(permutation, (height // cell) * (width // cell))
    moved = to_cells(pixels.reshape(batch), int(cell))[:, order]
    return from_cells(moved, height, width).reshape(pixels.shape)
