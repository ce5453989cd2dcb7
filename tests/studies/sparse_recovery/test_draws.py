"""Draws outside and inside a trace are the same numbers, whatever the length of the programs."""

import jax
import numpy as np
import pytest

from saccade.studies.sparse_recovery import draws
from saccade.studies.sparse_recovery.task import DESIGNS, SparseRecovery

KEY = jax.random.key(8)


@pytest.mark.parametrize("law", draws.LAWS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(), (3, 0), (7,), (11, 100), (3, 1366)])
def test_a_draw_is_that_of_jax(law, dtype, shape):
    expected = draws.LAWS[law](KEY, shape, np.dtype(dtype))
    found = draws.draw(law, KEY, shape, np.dtype(dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == "float32" else 1e-14)


def test_lengths_are_few_and_long_enough():
    sizes = range(0, 3 * draws.LENGTHS[-1], 9973)
    lengths = [draws._rounded_up(size) for size in sizes]
    assert all(length >= size for length, size in zip(lengths, sizes, strict=True))
    assert len(set(lengths)) == len(draws.LENGTHS) + 2


def test_several_keys_draw_what_each_would_alone():
    keys = jax.random.split(KEY, 6).reshape(2, 3)
    found = draws.draw("normal", keys, (4, 5), float)
    assert found.shape == (2, 3, 4, 5)
    np.testing.assert_allclose(found[1, 2], jax.random.normal(keys[1, 2], (4, 5)), rtol=1e-14)
    first, second = draws.split(keys, 2)
    np.testing.assert_array_equal(
        jax.random.key_data(second[1, 0]), jax.random.key_data(jax.random.split(keys[1, 0])[1]))
    assert first.shape == keys.shape


@pytest.mark.parametrize("design", DESIGNS)
def test_samples_inside_a_compiled_function_and_from_several_keys(design):
    task = SparseRecovery.create(
        9, 4, 4, noise=0.3, design=design, correlation=0.7, block=2, pool=range(2, 8))
    outside = task.sample(KEY, 6, vectors=3)
    inside = jax.jit(lambda key: task.sample(key, 6, vectors=3))(KEY)
    at_once = task.sample(jax.random.split(KEY, 2), 6, vectors=3)
    alone = task.sample(jax.random.split(KEY, 2)[1], 6, vectors=3)
    for field in outside._fields:
        np.testing.assert_allclose(
            getattr(outside, field), getattr(inside, field), atol=1e-12, err_msg=field)
        np.testing.assert_allclose(
            getattr(at_once, field)[1], getattr(alone, field), atol=1e-12, err_msg=field)
