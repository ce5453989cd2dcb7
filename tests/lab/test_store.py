"""The store keeps runs whole: reuse, staleness, damage, unwritable folders, two writers."""

import json
import os
import stat

import numpy as np
import pytest
import xarray
from toy import toy

from saccade.errors import InvalidInput
from saccade.lab import run as runs
from saccade.lab.store import DamagedRun, Request, Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs")


def request(**changes):
    usual = dict(
        experiment="single-location.toy", parameters={"a": 1}, repetition=0, seed=0, code="c")
    return Request(**{**usual, **changes})


def sample_dataset():
    return xarray.Dataset(
        {
            "x": (("a", "b"), np.arange(6.0).reshape(2, 3), {"unit": "none"}),
            "word": ("a", ["p", "q"]), "n": 3},
        {"b": [10, 20, 30], "label": ("b", ["u", "v", "w"])}, {"title": "t"})


def test_a_run_comes_back_as_it_was(store):
    store.save(request(), sample_dataset(), 0.1)
    xarray.testing.assert_identical(store.load(request()), sample_dataset())


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"a": 2}}, {"repetition": 1}, {"seed": 1}, {"code": "d"},
        {"precision": "float32"}])
def test_everything_that_determines_a_run_is_in_its_name(change):
    assert request().name != request(**change).name


def test_the_name_ignores_the_order_of_parameters():
    assert request(parameters={"a": 1, "b": 2}).name == request(parameters={"b": 2, "a": 1}).name


def test_nothing_is_computed_twice_and_fresh_computes_again(store, monkeypatch):
    calls = []
    counted = type(toy)(
        toy.id, lambda key, **p: (calls.append(p), toy.function(key, **p))[1], toy.model, toy.scales
    )
    first = runs.run(counted, store=store)
    again = runs.run(counted, store=store)
    assert len(calls) == 1
    xarray.testing.assert_identical(first.data, again.data)
    fresh = runs.run(counted, store=store, fresh=True)
    assert len(calls) == 2
    xarray.testing.assert_identical(first.data, fresh.data)
    runs.run(counted, store=store, changes={"mean": 2.0})
    assert len(calls) == 3


def test_only_what_took_long_waits_for_the_disk(store, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    runs.run(toy, store=store)
    assert not flushed
    monkeypatch.setattr(runs, "PRECIOUS", 0.0)
    runs.run(toy, store=store, seed=1)
    assert len(flushed) >= 2  # its files and its folder


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(
    "damage", ["array", "record", "truncated", "missing array", "edited number"])
def test_a_damaged_run_is_reported_and_computed_again(store, damage):
    first = runs.run(toy, store=store).data
    (path,) = [item for item in store.folder.iterdir() if not item.name.startswith(".")]
    record = path / "run.json"
    if damage == "array":
        flip_a_byte(path / "0.npy")
    elif damage == "missing array":
        (path / "0.npy").unlink()
    elif damage == "truncated":
        record.write_text(record.read_text()[:40])
    elif damage == "edited number":
        content = json.loads(record.read_text())
        content["seconds"] = 0.0
        record.write_text(json.dumps(content))
    else:
        record.write_text("{}")
    with pytest.warns(DamagedRun, match=path.name):
        again = runs.run(toy, store=store).data
    xarray.testing.assert_identical(first, again)
    assert any(item.name.startswith(".damaged-") for item in store.folder.iterdir())


def test_pickles_are_not_read(store):
    store.save(request(), sample_dataset(), 0.1)
    path = store.path(request())
    np.save(path / "0.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.warns(DamagedRun):
        assert store.load(request()) is None


def test_a_second_writer_of_the_same_run_changes_nothing(store):
    store.save(request(), sample_dataset(), 0.1)
    store.save(request(), sample_dataset(), 0.2)
    assert [item.name for item in store.folder.iterdir()] == [request().name]


def test_a_store_that_cannot_be_written_is_refused_in_one_sentence(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(InvalidInput, match=r"The store .* cannot be written .*--store"):
        Store(blocked / "runs").check_writable()
    with pytest.raises(InvalidInput, match="cannot be written"):
        Store(blocked / "runs").save(request(), sample_dataset(), 0.1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(InvalidInput, match="cannot be written"):
        Store(tmp_path / "runs").check_writable()


def test_objects_that_are_not_plain_arrays_are_refused(store):
    with pytest.raises(TypeError, match="when"):
        store.save(
            request(), xarray.Dataset({"when": ("a", np.array(["2020-01-01"], "datetime64[D]"))}),
            0.1)
    assert not store.folder.exists() or not list(store.folder.iterdir())
