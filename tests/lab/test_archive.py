"""Stores from outside: many runs as one dataset, exports, merging, checking, cleaning up, and
stores that mean harm."""

import hashlib
import io
import json
import os
import pickle
from functools import partial

import numpy as np
import pytest
import xarray
from sweeping import contents, swept

from saccade.errors import InvalidInput
from saccade.lab.archive.dataset import export, gather_names, table
from saccade.lab.archive.runs import check, clean, entries, find, merge, printable
from saccade.lab.layout import canonical
from saccade.lab.store import DamagedRun, Store

NEEDS_EXPORT = "needs the extra 'export', which `make test` installs"


def names_of(store):
    return sorted(store.names())


def test_a_list_design_opens_along_cells_with_its_values_as_labels(tmp_path):
    cells = [{"x": 1.0, "size": 2}, {"x": 5.0, "size": 2}]
    data = swept(tmp_path, "tick", design="list", cells=cells, replicates=2).open()
    assert dict(data.sizes) == {"cell": 2, "replicate": 2, "entry": 2}
    assert data.x.values.tolist() == [1.0, 5.0]


def test_cells_of_different_sizes_are_padded_and_say_so(tmp_path):
    data = swept(tmp_path, "ragged", axes={"size": [1, 3]}).open()
    assert data.value.attrs["padded"] == 1
    np.testing.assert_array_equal(data.value, [[0, np.nan, np.nan], [0, 1, 2]])
    np.testing.assert_array_equal(
        data.entry_in_run if "entry_in_run" in data else data.entry,
        [[0, np.nan, np.nan], [0, 10, 20]])


def test_any_runs_of_one_experiment_open_with_what_differs(tmp_path):
    outcome = swept(tmp_path, "tick", axes={"x": [1.0, 2.0]}, replicates=2)
    data = gather_names(outcome.plan.store, names_of(outcome.plan.store))
    assert (
        data.sizes["cell"] == 4 and {"x", "repetition"} <= set(data.coords)
        and "size" not in data.coords)
    swept(tmp_path, "ragged", axes={"size": [1]})
    with pytest.raises(InvalidInput, match="runs of 2 experiments"):
        gather_names(outcome.plan.store, names_of(outcome.plan.store))


@pytest.mark.parametrize("ending", ["zarr", "nc"])
def test_arrays_come_back_from_other_formats(tmp_path, ending):
    pytest.importorskip("zarr" if ending == "zarr" else "h5py", reason=NEEDS_EXPORT)
    data = swept(tmp_path / "store", "grumpy", axes={"x": [1, 2, 3]}).open()
    path = export(data, str(tmp_path / f"out.{ending}"))
    with xarray.open_dataset(
        path, engine="zarr" if ending == "zarr" else "h5netcdf",
        **({"consolidated": False} if ending == "zarr" else {}),
    ) as again:
        np.testing.assert_array_equal(again.value, data.value)
        assert again.status.values.tolist() == data.status.values.tolist()
        assert again.x.values.tolist() == [1, 2, 3]


def test_netcdf_without_hdf5(tmp_path, monkeypatch):
    import importlib.util

    usual = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec",
        lambda name, *a: None if name == "h5netcdf" else usual(name, *a))
    data = swept(tmp_path / "store", "tick", axes={"x": [1.0, 2.0]}).open()
    with xarray.open_dataset(export(data, str(tmp_path / "out.nc")), engine="scipy") as again:
        np.testing.assert_array_equal(again.value, data.value)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_have_a_row_per_cell(tmp_path, ending):
    import pandas

    if ending == "parquet":
        pytest.importorskip("pyarrow", reason=NEEDS_EXPORT)
    data = swept(tmp_path / "store", "tick", axes={"x": [1.0, 2.0]}, replicates=3).open()
    path = export(data, str(tmp_path / f"out.{ending}"))
    again = pandas.read_csv(path) if ending == "csv" else pandas.read_parquet(path)
    assert len(again) == 6 and {"x", "replicate", "total", "status"} == set(again.columns)
    np.testing.assert_array_equal(again.total, data.total.values.ravel())
    assert len(table(data[["value", "status"]], chosen=True)) == 48


def test_a_table_of_arrays_needs_a_choice(tmp_path):
    data = swept(tmp_path / "store", "ragged", axes={"size": [2]}).open()
    with pytest.raises(InvalidInput, match="--variables"):
        export(data, str(tmp_path / "out.csv"))
    with pytest.raises(InvalidInput, match="did you mean 'value'"):
        export(data, str(tmp_path / "out.csv"), ["valeu"])
    with pytest.raises(InvalidInput, match="must end in"):
        export(data, str(tmp_path / "out.xlsx"))


def test_two_stores_become_one(tmp_path):
    whole = swept(tmp_path / "whole", "tick", axes={"x": [1.0, 2.0, 3.0]}).plan.store
    left = swept(tmp_path / "left", "tick", axes={"x": [1.0, 2.0]}).plan.store
    right = swept(tmp_path / "right", "tick", axes={"x": [2.0, 3.0]}).plan.store
    made = merge(right, left)
    assert (made.copied, made.present, made.conflicts, made.damaged) == (1, 1, [], {})
    assert contents(left) == contents(whole)
    remote = Store("memory://test-merge/runs")
    assert merge(left, remote).copied == 3 and contents(remote) == contents(whole)


def test_merging_reports_conflicts_and_leaves_damage_behind(tmp_path):
    left = swept(tmp_path / "left", "tick", axes={"x": [1.0, 2.0]}).plan
    right = swept(tmp_path / "right", "tick", axes={"x": [1.0, 2.0]}).plan
    first, second = left.cells
    right.store.remove(first.name)
    right.store.save(first.request, xarray.Dataset({"value": 1.0}), 0.1)
    (tmp_path / "left" / second.name / "0.npy").write_bytes(b"x")
    right.store.remove(second.name)
    made = merge(left.store, right.store)
    assert (
        made.conflicts == [first.name] and list(made.damaged) == [second.name] and made.copied == 0)
    assert right.store.load(first.request).value == 1.0


def test_a_failure_does_not_cover_a_result_and_a_result_ends_a_failure(tmp_path):
    failed = swept(tmp_path / "failed", "grumpy", axes={"x": [3]}).plan
    good = Store(tmp_path / "good")
    good.save(failed.cells[0].request, xarray.Dataset({"value": 3.0}), 0.1)
    assert merge(failed.store, good).copied == 0
    assert names_of(good) == [failed.cells[0].name]
    assert merge(good, failed.store).copied == 1
    assert names_of(failed.store) == [failed.cells[0].name]


def test_check_names_what_is_damaged_and_changes_nothing(tmp_path):
    outcome = swept(tmp_path, "tick", axes={"x": [1.0, 2.0]})
    (tmp_path / outcome.keys[0] / "1.npy").write_bytes(b"")
    (tmp_path / "stranger").mkdir()
    found = check(outcome.plan.store)
    assert (
        found.good == 1 and list(found.damaged) == [outcome.keys[0]]
        and found.strange == ["stranger"])
    assert sorted(os.listdir(tmp_path)) == sorted([*outcome.keys, "stranger"])


def test_cleaning_removes_old_temporaries_only(tmp_path):
    outcome = swept(tmp_path, "tick", axes={"x": [1.0]})
    store = outcome.plan.store
    for name, age in (("old", 7200), ("new", 0), ("future", -7200)):
        path = tmp_path / f".writing-{name}"
        path.mkdir()
        moment = path.stat().st_mtime - age
        os.utime(path, (moment, moment))
    (tmp_path / ".damaged-x").mkdir()
    assert clean(store).removed == [".writing-old"]
    assert set(clean(store, older_than=0).removed) == {".writing-new", ".writing-future"}
    assert clean(store, older_than=0, damaged=True).removed == [".damaged-x"]
    assert os.listdir(tmp_path) == outcome.keys


# -- stores that mean harm
# ---------------------------------------------------------------------------------------------


def rewritten(store, name, change):
    """Change a record and make its checksum right again, as somebody would who knows the format."""
    path = store.folder / name / "run.json"
    record = json.loads(path.read_text())
    record.pop("sha256")
    change(record)
    record["sha256"] = hashlib.sha256(canonical(record).encode()).hexdigest()
    path.write_text(json.dumps(record))


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_a_pickle_in_place_of_an_array_is_not_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = swept(tmp_path / "store", "tick", axes={"x": [1.0]}).plan.store
    (name,) = store.names()
    for content in (pickle.dumps(Bomb()), _object_array()):
        (store.folder / name / "0.npy").write_bytes(content)
        replaced = {"sha256": hashlib.sha256(content).hexdigest()}
        rewritten(store, name, partial(_first_array, replaced))
        assert list(check(store).damaged) == [name]
    assert not (tmp_path / "exploded").exists()


def _first_array(changes, record):
    for entry in record["arrays"].values():
        if entry["file"] == "0.npy":
            entry.update(changes)


def _object_array():
    content = io.BytesIO()
    np.save(content, np.array([Bomb()], dtype=object), allow_pickle=True)
    return content.getvalue()


@pytest.mark.parametrize(
    "file", ["../../secret.npy", "/etc/passwd", "..", "sub/0.npy", "0.npy\0", "run.json"])
def test_files_outside_a_run_are_not_reached(tmp_path, file):
    store = swept(tmp_path / "store", "tick", axes={"x": [1.0]}).plan.store
    (name,) = store.names()
    np.save(tmp_path / "secret.npy", np.arange(3))
    rewritten(store, name, lambda record: record["arrays"]["value"].update(file=file))
    assert "cannot have" in check(store).damaged[name]
    assert merge(store, Store(tmp_path / "into")).copied == 0


@pytest.mark.parametrize("variable", ["../../evil", "a/b", "..", "", "a\\b", "a\x1b[2Jb"])
def test_variables_that_would_be_paths_are_not_exported(tmp_path, variable):
    store = swept(tmp_path / "store", "tick", axes={"x": [1.0]}).plan.store
    (name,) = store.names()
    rewritten(
        store, name,
        lambda record: record["arrays"].update({variable: record["arrays"].pop("total")}))
    with pytest.warns(DamagedRun), pytest.raises(InvalidInput, match="no finished run"):
        gather_names(store, [name])
    with pytest.raises(TypeError, match="cannot be named"):
        from saccade.lab.layout import encode
        from saccade.lab.store import Request

        encode(Request("e", {}, 0, 0, "c"), xarray.Dataset({variable: 1.0}), 0.0)


def test_links_are_not_followed(tmp_path):
    store = swept(tmp_path / "store", "tick", axes={"x": [1.0, 2.0]}).plan.store
    first, second = store.names()
    (tmp_path / "outside.npy").write_bytes((store.folder / first / "0.npy").read_bytes())
    (store.folder / first / "0.npy").unlink()
    (store.folder / first / "0.npy").symlink_to(tmp_path / "outside.npy")
    (store.folder / second).rename(tmp_path / "elsewhere")
    (store.folder / second).symlink_to(tmp_path / "elsewhere")
    found = check(store)
    assert list(found.damaged) == [first] and found.strange == [second] and found.good == 0
    # A leftover that is a link: the link goes, what it points to stays.
    (store.folder / ".writing-link").symlink_to(tmp_path / "elsewhere")
    clean(store, older_than=0)
    assert (tmp_path / "elsewhere" / "run.json").exists() and not (
        store.folder / ".writing-link").exists()


def test_names_that_are_no_runs_are_neither_listed_nor_copied(tmp_path):
    store = swept(tmp_path / "store", "tick", axes={"x": [1.0]}).plan.store
    (name,) = store.names()
    for strange in ("..evil", "0" * 31, "G" * 32, "0" * 32 + ".exe"):
        (store.folder / name).rename(store.folder / strange)
        assert list(store.names()) == [] and merge(store, Store(tmp_path / "into")).copied == 0
        (store.folder / strange).rename(store.folder / name)
    for asked in ("../..", "*", "", "zz", name + "/run.json"):
        with pytest.raises(InvalidInput, match="must be the name of a run"):
            find(store, asked)


def test_texts_from_a_store_cannot_steer_a_terminal(tmp_path):
    assert printable("a\x1b[31mb\r\x07\n") == "a?[31mb??\n"
    store = swept(tmp_path, "grumpy", axes={"x": [1]}).plan.store
    assert [entry.status for entry in entries(store)] == ["finished"]
