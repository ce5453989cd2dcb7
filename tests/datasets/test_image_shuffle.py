"""Grid shuffling: against a loop written from the definition, and its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saccade.datasets.images.shuffle import from_cells, shuffle_cells, to_cells
from saccade.errors import InvalidInput


def by_hand(image, cell, permutation):
    """New cell k shows old cell permutation[k], pixel by pixel."""
    width = image.shape[1]
    across = width // cell
    shuffled = np.empty_like(image)
    for k, old in enumerate(permutation):
        for row in range(cell):
            for column in range(cell):
                shuffled[k // across * cell + row, k % across * cell + column] = image[
                    old // across * cell + row, old % across * cell + column]
    return shuffled


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6),
    st.sampled_from([0, 1, 3]))
def test_shuffling_is_its_definition(cell, down, across, seed, channels):
    random = np.random.default_rng(seed)
    shape = (down * cell, across * cell) + ((channels,) if channels else ())
    image = random.integers(0, 1000, shape)
    order = random.permutation(down * across)
    assert np.array_equal(shuffle_cells(image, cell, order), by_hand(image, cell, order))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 4, 8]))
def test_shuffles_compose_and_are_undone_by_the_inverse(seed, cell):
    random = np.random.default_rng(seed)
    images = random.random((3, 8, 8, 2))
    first, second = (random.permutation((8 // cell) ** 2) for _ in range(2))
    twice = shuffle_cells(shuffle_cells(images, cell, first), cell, second)
    assert np.array_equal(twice, shuffle_cells(images, cell, first[second]))
    assert np.array_equal(
        shuffle_cells(shuffle_cells(images, cell, first), cell, np.argsort(first)), images)


def test_cells_there_and_back():
    images = np.random.default_rng(0).random((2, 6, 4, 3))
    cells = to_cells(images, 2)
    assert cells.shape == (2, 6, 2, 2, 3)
    assert np.array_equal(cells[1, 3], images[1, 2:4, 2:4])  # second row of cells, second column
    assert np.array_equal(from_cells(cells, 6, 4), images)


@pytest.mark.parametrize(
    ("image", "cell", "permutation", "says"),
    [
        (np.zeros((6, 6)), 4, [0], "cell = 4 must divide the sides of the image, which is 6 by 6."),
        (np.zeros((6, 6)), 0, [0], "cell = 0 must be a whole number of at least 1."),
        (
            np.zeros((4, 4)), 2, [0, 1, 2],
            "permutation = [0, 1, 2] must hold each of the whole numbers 0 .. 3 once"),
        (np.zeros((4, 4)), 2, [0, 1, 2, 2], "must hold each of the whole numbers 0 .. 3 once"),
        (np.zeros(4), 1, [0], "image.shape = (4,) must be"), ([[1, 2], [3]], 1, [0], "image.shape"),
    ])
def test_what_does_not_fit_is_refused(image, cell, permutation, says):
    with pytest.raises(InvalidInput) as refused:
        shuffle_cells(image, cell, permutation)
    assert says in str(refused.value)
