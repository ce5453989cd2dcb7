"""Grid shuffling against a loop; channels and patches on the host; the compiled batches against
them; locality of encodings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from saccade.datasets.images import ImageSet, load_images
from saccade.datasets.images.locality import cosines, grid, locality, null_overlaps, overlaps
from saccade.datasets.images.pipeline import channels_of, normalised, patches, shuffled, view
from saccade.datasets.images.shuffle import from_cells, shuffle_cells, to_cells
from saccade.errors import InvalidInput
from saccade.studies.spatial.dynamics import images as compiled

RANDOM = np.random.default_rng(1)
PICTURES = ImageSet(
    RANDOM.integers(0, 256, (40, 8, 8, 3), dtype=np.uint8), np.arange(40) % 10, tuple("0123456789"))


def test_channels_are_mean_and_deviation():
    channels = channels_of(PICTURES)
    values = PICTURES.pixels / 255
    np.testing.assert_allclose(channels.mean, values.mean(axis=(0, 1, 2)), rtol=1e-12)
    np.testing.assert_allclose(channels.deviation, values.std(axis=(0, 1, 2)), rtol=1e-9)
    pixels = normalised(PICTURES, channels)
    assert pixels.dtype == np.float32
    np.testing.assert_allclose(pixels.mean(axis=(0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(pixels.std(axis=(0, 1, 2)), 1, atol=1e-5)


def test_augmentation_flips_half_and_shifts_evenly():
    """A bright pixel tells where each image went; frequencies within five standard errors."""
    count, shift = 4000, 2
    pixels = np.zeros((count, 9, 11, 1), np.float32)
    pixels[:, 4, 2] = 1
    moved = np.asarray(compiled.augment(jax.random.key(0), jnp.asarray(pixels), True, shift))
    _, row, column, _ = np.nonzero(moved)
    assert len(row) == count  # nothing falls off the edge here
    down, across = row - 4, column - 2
    flipped = across > 2  # the flipped pixel starts at column 8
    across = np.where(flipped, across - 6, across)
    assert abs(flipped.mean() - 0.5) < 5 * 0.5 / count**0.5
    for steps in (down, across):
        share = np.bincount(steps + shift, minlength=5) / count
        assert len(share) == 5
        assert np.all(np.abs(share - 0.2) < 5 * 0.4 / count**0.5)


def test_zeros_move_in():
    ones = jnp.ones((200, 4, 4, 1), np.float32)
    moved = np.asarray(compiled.augment(jax.random.key(0), ones, False, 1))
    assert set(np.unique(moved)) == {0.0, 1.0}
    assert set(moved.sum(axis=(1, 2, 3)).astype(int)) == {9, 12, 16}


@pytest.mark.parametrize(("cell", "patch"), [(2, 2), (4, 2), (2, 4), (8, 2), (2, None), (4, None)])
def test_compiled_views_are_those_of_the_host(cell, patch):
    shown = view(8, cell, RANDOM.permutation((8 // cell) ** 2))
    pixels = normalised(PICTURES, channels_of(PICTURES))
    expected = shuffled(pixels, shown) if patch is None else patches(pixels, shown, patch)
    looked = compiled.look(jnp.asarray(pixels), jnp.asarray(shown.permutation), cell, patch)
    assert np.array_equal(np.asarray(looked), expected)


def test_batches_take_every_image_once_an_epoch():
    recipe = compiled.Recipe(epochs=3, batch=8, flip=False, shift=0)
    shown = view(8, 2, RANDOM.permutation(16))
    data = compiled.image_data(PICTURES, channels_of(PICTURES), shown, recipe, seed=5)
    batch = compiled.batches(recipe, 2, 2)
    labels, tokens = [], []
    for step in range(recipe.steps(40)):
        inputs, label = batch(jax.random.key(step), jnp.asarray(step), data)
        labels.append(np.asarray(label))
        tokens.append(np.asarray(inputs))
    expected = patches(normalised(PICTURES, channels_of(PICTURES)), shown, 2)
    for epoch in range(3):
        part = np.concatenate(tokens[5 * epoch : 5 * epoch + 5])
        chosen = np.asarray(data.order)[40 * epoch : 40 * epoch + 40]
        assert sorted(chosen) == list(range(40))
        np.testing.assert_allclose(part, expected[chosen], atol=1e-6)
        assert np.array_equal(
            np.concatenate(labels[5 * epoch : 5 * epoch + 5]), PICTURES.labels[chosen])
    assert not np.array_equal(np.asarray(data.order)[:40], np.asarray(data.order)[40:80])
    np.testing.assert_allclose(
        np.asarray(compiled.normalise(jnp.asarray(PICTURES.pixels), data)),
        normalised(PICTURES, channels_of(PICTURES)), atol=1e-6)


def test_what_does_not_fit():
    with pytest.raises(InvalidInput, match="cell = 3 must divide"):
        view(8, 3)
    with pytest.raises(InvalidInput, match="cell = 5 must divide"):
        patches(normalised(PICTURES, channels_of(PICTURES)), view(8, 2), 5)
    with pytest.raises(InvalidInput, match="batch = 128 must be at most"):
        compiled.Recipe().steps(40)


def test_overlap_of_perfect_and_of_constant_similarity():
    near = -np.linalg.norm(grid(5)[:, None] - grid(5)[None], axis=-1)
    perfect = locality(near, grid(5))
    np.testing.assert_allclose(perfect.overlap, 1)
    assert perfect.spearman == pytest.approx(1)
    np.testing.assert_allclose(perfect.chance, np.mean([3] * 4 + [5] * 12 + [8] * 9) / 24)
    constant = locality(np.ones((25, 25)), grid(5))
    np.testing.assert_allclose(
        constant.overlap.mean(), constant.chance)  # ties share the places evenly


def test_overlap_against_a_loop():
    similarity = RANDOM.normal(size=(16, 16))
    apart = np.linalg.norm(grid(4)[:, None] - grid(4)[None], axis=-1)
    neighbours = (apart < 1.5) & (apart > 0)
    for row, value in enumerate(overlaps(similarity, neighbours)):
        others = [j for j in np.argsort(-similarity[row]) if j != row]
        near = set(np.flatnonzero(neighbours[row]))
        assert value == pytest.approx(len(near & set(others[: len(near)])) / len(near))


def test_places_undo_the_shuffle():
    """Encodings that are the original coordinates look random as shown, local in the original."""
    order = np.random.default_rng(7).permutation(64)
    tokens = np.concatenate([grid(8)[order], -(grid(8)[order] ** 2) / 8], axis=1).astype(float)
    similarity = cosines(tokens)
    original, shown = locality(similarity, grid(8)[order]), locality(similarity, grid(8))
    null = null_overlaps(similarity, 8, 200)
    assert original.overlap.mean() > null.max() > shown.overlap.mean()
    assert abs(null.mean() - original.chance) < 5 * null.std() / 200**0.5
    assert original.spearman > 0.4 > 0.15 > abs(shown.spearman)


def test_cosines_and_spearman_are_those_of_others():
    table = RANDOM.normal(size=(9, 4))
    centred = table - table.mean(axis=0)
    np.testing.assert_allclose(
        cosines(table)[2, 5],
        centred[2] @ centred[5] / np.prod(np.linalg.norm(centred[[2, 5]], axis=1)))
    similarity = cosines(table)
    other = ~np.eye(9, dtype=bool)
    apart = np.linalg.norm(grid(3)[:, None] - grid(3)[None], axis=-1)
    assert locality(similarity, grid(3)).spearman == pytest.approx(
        spearmanr(similarity[other], -apart[other]).statistic)


def test_digits_have_a_channel():
    assert load_images("digits").first(3).pixels.shape == (3, 8, 8, 1)


def test_null_overlaps_are_overlaps_at_random_places():
    similarity = RANDOM.normal(size=(16, 16))
    order = np.random.default_rng(3).permutation(16)
    apart = np.linalg.norm(grid(4)[:, None] - grid(4)[None], axis=-1)
    near = ((apart < 1.5) & (apart > 0))[np.ix_(order, order)]
    assert null_overlaps(similarity, 4, 1, seed=3)[0] == pytest.approx(
        overlaps(similarity, near).mean())


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
def test_a_shuffle_that_does_not_fit_is_refused(image, cell, permutation, says):
    with pytest.raises(InvalidInput) as refused:
        shuffle_cells(image, cell, permutation)
    assert says in str(refused.value)
