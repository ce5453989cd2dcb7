"""Transformers on disk: what is loaded is what was saved, anything else is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.networks.saving import read_arrays, write_arrays
from saccade.networks.transformer import init_transformer, pair_decoder
from saccade.networks.transformer.model import KIND, load_transformer, save_transformer

CONFIG = pair_decoder(dim=2, layers=2, width=8, heads=2, hidden=8)


@pytest.fixture
def saved(tmp_path):
    model = init_transformer(jax.random.key(1), CONFIG)
    return model, save_transformer(tmp_path / "deep" / "model.npz", model)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_saved_is_loaded_bit_for_bit(tmp_path, dtype):
    model = init_transformer(jax.random.key(1), CONFIG, dtype)
    loaded = load_transformer(save_transformer(tmp_path / "model.npz", model), CONFIG)
    assert loaded.config == model.config
    for a, b in zip(jax.tree.leaves(model), jax.tree.leaves(loaded), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


def test_a_checkpoint_of_another_configuration_is_refused(saved):
    _, path = saved
    other = pair_decoder(dim=2, layers=3, width=8, heads=2, hidden=8)
    with pytest.raises(InvalidInput, match=r"holds a transformer with layers = 2, and 3 is needed"):
        load_transformer(path, other)


def test_arrays_of_another_shape_are_refused(saved):
    _, path = saved
    header, arrays = read_arrays(path, KIND)
    arrays["layers.qkv"] = arrays["layers.qkv"][:1]
    write_arrays(path, header, arrays)
    with pytest.raises(
        InvalidInput, match=r"holds layers.qkv of shape \(1, 8, 24\).*needs shape \(2, 8, 24\)"
    ):
        load_transformer(path)


@pytest.mark.parametrize("change", ["missing", "extra"])
def test_missing_and_unknown_arrays_are_named(saved, change):
    _, path = saved
    header, arrays = read_arrays(path, KIND)
    if change == "missing":
        del arrays["read_out"]
    else:
        arrays["stranger"] = np.zeros(2)
    write_arrays(path, header, arrays)
    with pytest.raises(
        InvalidInput, match="no read_out" if change == "missing" else "holds stranger"
    ):
        load_transformer(path)


@pytest.mark.parametrize("damage", ["cut", "flip", "text", "empty", "other"])
def test_a_damaged_file_is_refused(saved, damage):
    _, path = saved
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flip":
        content[len(content) // 2] ^= 0xFF
    elif damage == "text":
        content = b"not a checkpoint"
    elif damage == "empty":
        content = b""
    else:
        np.savez(path, weights=np.zeros(3))
        content = path.read_bytes()
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="is damaged"):
        load_transformer(path)


def test_every_flipped_byte_is_refused_or_harmless(saved):
    """A flip may fall on bytes that carry nothing (a date); then the model must be the same."""
    model, path = saved
    content = path.read_bytes()
    refused = 0
    for place in np.random.default_rng(0).integers(0, len(content), 60):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        try:
            loaded = load_transformer(path)
        except InvalidInput:
            refused += 1
            continue
        for a, b in zip(jax.tree.leaves(model), jax.tree.leaves(loaded), strict=True):
            np.testing.assert_array_equal(a, b)
    assert refused > 30


def test_a_pickle_is_not_opened(tmp_path):
    path = tmp_path / "evil.npz"
    np.savez(path, header=np.array([object()], dtype=object))
    with pytest.raises(InvalidInput, match="is damaged or was not written by saccade"):
        load_transformer(path)


def test_a_missing_file_and_another_kind_are_named(tmp_path):
    with pytest.raises(InvalidInput, match="does not exist"):
        load_transformer(tmp_path / "nothing.npz")
    path = write_arrays(tmp_path / "other.npz", {"kind": "training"}, {})
    with pytest.raises(InvalidInput, match="holds a training, and a transformer is needed"):
        load_transformer(path)


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("in the way")
    model = init_transformer(jax.random.key(0), CONFIG)
    with pytest.raises(InvalidInput, match="cannot be written"):
        save_transformer(tmp_path / "file" / "model.npz", model)
