"""Sweeps in one process: what is computed, kept, resumed, reported and never repeated."""

import errno
import os
import warnings

import numpy as np
import pytest
import xarray
from sweeping import contents, planned, swept

import saccade
from saccade.errors import InvalidInput
from saccade.lab import run as runs
from saccade.lab.backend import LocalBackend
from saccade.lab.layout import FAILED
from saccade.lab.store import DamagedRun, Store, StoreUnwritable
from saccade.lab.sweep.perform import settle
from saccade.lab.sweep.plan import describe

GRID = dict(axes={"x": [0.0, 1.0, 2.0], "size": [4, 4 + 1]}, replicates=2)


def test_every_cell_is_the_run_of_its_parameters(tmp_path):
    from fault_cells import tick

    data = swept(tmp_path, "tick", axes={"x": [0.0, 1.0, 2.0]}, replicates=2).open()
    assert dict(data.sizes) == {"x": 3, "replicate": 2, "entry": 8}
    for x in (0.0, 2.0):
        for repetition in (0, 1):
            alone = runs.run(
                tick, {"x": x}, store=Store(tmp_path / "other"), repetition=repetition).data
            np.testing.assert_array_equal(data.value.sel(x=x, replicate=repetition), alone.value)
    assert not np.array_equal(data.value.sel(replicate=0), data.value.sel(replicate=1))


def test_the_same_sweep_computes_nothing_again_and_a_larger_one_only_what_is_new(tmp_path):
    assert swept(tmp_path, "tick", **GRID).computed == 12
    assert swept(tmp_path, "tick", **GRID).computed == 0
    assert (
        swept(
            tmp_path, "tick", axes={"x": [0.0, 1.0, 2.0, 3.0], "size": [4]}, replicates=2).computed
        == 2)


def test_the_plan_tells_what_is_there_and_changes_nothing(tmp_path):
    swept(tmp_path, "tick", axes={"x": [0.0, 1.0]})
    before = contents(Store(tmp_path))
    made = planned(tmp_path, "tick", axes={"x": [0.0, 1.0, 2.0]}, mend=False)
    assert made.counts() == {"finished": 2, "missing": 1}
    text = describe(made)
    assert "2 finished" in text and "to compute 1, one by one" in text and "about" in text
    assert contents(Store(tmp_path)) == before
    empty = describe(planned(tmp_path / "empty", "tick", axes={"x": [0.0]}))
    assert "not known" in empty and not (tmp_path / "empty").exists()


def test_a_failed_cell_is_kept_with_its_word_and_traceback_and_stops_nobody(tmp_path):
    outcome = swept(tmp_path, "grumpy", axes={"x": list(range(12))})
    assert sorted(outcome.failed.values()) == ["diverged", "failed", "refused"]
    assert outcome.plan.counts() == {"diverged": 1, "failed": 1, "finished": 9, "refused": 1}
    data = outcome.open()
    assert data.status.sel(x=[3, 6, 9]).values.tolist() == ["refused", "diverged", "failed"]
    assert np.isnan(data.value.sel(x=[3, 6, 9])).all()
    (cell,) = [cell for cell in outcome.plan.cells if cell.place["x"] == 9]
    failure = outcome.plan.store.failure(cell.request)
    assert "ZeroDivisionError: nine" in failure["failure"]["problem"]
    assert "raise ZeroDivisionError" in failure["failure"]["traceback"]
    assert outcome.plan.store.load(cell.request) is None  # a failure never stands for a result


def test_failures_are_repeated_only_when_asked_and_forgotten_when_mended(tmp_path, monkeypatch):
    import fault_cells

    asked = dict(axes={"x": list(range(7))})
    swept(tmp_path, "grumpy", **asked)
    assert swept(tmp_path, "grumpy", **asked).computed == 0
    assert swept(tmp_path, "grumpy", retry=True, **asked).computed == 2
    monkeypatch.setattr(fault_cells, "require", lambda *_: None)  # the fault is mended, 6 stays bad
    outcome = swept(tmp_path, "grumpy", retry=True, **asked)
    assert list(outcome.failed.values()) == ["diverged"]
    assert sum(name.endswith(FAILED) for name in outcome.plan.store.names()) == 1


def test_an_interrupt_leaves_whole_runs_and_the_same_command_goes_on(tmp_path):
    whole = swept(tmp_path / "whole", "tick", **GRID)

    def stop(done, seen=[]):  # noqa: B006
        seen.append(done)
        if len(seen) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        swept(tmp_path / "cut", "tick", watch=stop, **GRID)
    store = Store(tmp_path / "cut")
    assert len(contents(store)) == 5 and not list(store.backend.leftovers())
    assert swept(tmp_path / "cut", "tick", **GRID).computed == 7
    assert contents(store) == contents(whole.plan.store)


def test_an_interrupt_in_the_middle_of_a_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(LocalBackend, "_into_place", interrupted)
    with pytest.raises(KeyboardInterrupt):
        swept(tmp_path, "tick", axes={"x": [0.0]})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "damage", ["truncated", "edited", "flipped", "missing", "of another run", "no json"])
def test_a_damaged_cell_is_reported_by_name_never_opened_and_computed_again(tmp_path, damage):
    asked = dict(axes={"x": [0.0, 1.0, 2.0]})
    first = swept(tmp_path, "tick", **asked)
    whole = first.open()
    name, other = first.keys[1], first.keys[2]
    record, array = tmp_path / name / "run.json", tmp_path / name / "0.npy"
    if damage == "truncated":
        record.write_bytes(record.read_bytes()[:50])
    elif damage == "edited":
        record.write_text(record.read_text().replace('"x":1.0', '"x":7.0'))
    elif damage == "flipped":
        content = bytearray(array.read_bytes())
        content[-3] ^= 4
        array.write_bytes(bytes(content))
    elif damage == "missing":
        array.unlink()
    elif damage == "of another run":
        for file in os.listdir(tmp_path / other):
            (tmp_path / name / file).write_bytes((tmp_path / other / file).read_bytes())
    else:
        record.write_text("[]")
    with pytest.warns(DamagedRun, match=name):
        opened = first.open()
    assert opened.status.values.tolist() == ["finished", "damaged", "finished"]
    assert np.isnan(opened.value[1]).all()
    with pytest.warns(DamagedRun, match=name):
        again = swept(tmp_path, "tick", **asked)
    assert again.computed == 1
    xarray.testing.assert_identical(again.open(), whole)


def test_a_full_disk_stops_the_sweep_in_one_sentence_and_blames_no_cell(tmp_path, monkeypatch):
    asked = dict(axes={"x": [0.0, 1.0, 2.0]})
    usual = LocalBackend.put

    def full(self, name, files, durable):
        if len(list(self.names())) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        usual(self, name, files, durable)

    monkeypatch.setattr(LocalBackend, "put", full)
    with pytest.raises(StoreUnwritable, match=r"cannot be written \(no space left on device\)"):
        swept(tmp_path, "tick", **asked)
    monkeypatch.undo()
    assert len(contents(Store(tmp_path))) == 2 and not any(
        name.endswith(FAILED) for name in Store(tmp_path).names())
    assert swept(tmp_path, "tick", **asked).computed == 1


def test_a_read_only_store_is_refused_before_work_and_still_opened(tmp_path, monkeypatch):
    outcome = swept(tmp_path, "tick", axes={"x": [0.0]})

    def read_only(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for name in ("put", "probe", "remove", "set_aside"):
        monkeypatch.setattr(LocalBackend, name, read_only)
    with pytest.raises(StoreUnwritable, match="read-only file system"):
        swept(tmp_path, "tick", axes={"x": [0.0, 1.0]})
    assert swept(tmp_path, "tick", axes={"x": [0.0]}).computed == 0
    assert outcome.open().sizes["x"] == 1


def test_a_clock_that_runs_backwards_changes_nothing(tmp_path, monkeypatch):
    import time

    now = [2e9]

    def backwards():
        now[0] -= 1000.0
        return now[0]

    monkeypatch.setattr(time, "time", backwards)
    outcome = swept(tmp_path, "tick", **GRID)
    assert outcome.seconds >= 0 and outcome.plan.counts() == {"finished": 12}
    assert all(outcome.plan.store.record(name)["seconds"] >= 0 for name in outcome.keys)


def test_a_batch_under_vmap_gives_the_numbers_of_lone_runs_bit_for_bit(tmp_path):
    from fault_cells import vector

    asked = dict(axes={"x": np.linspace(0.1, 3, 7).tolist(), "rate": [0.1, 0.3, 0.7]}, replicates=2)
    outcome = swept(tmp_path / "batch", "vector", **asked)
    store = Store(tmp_path / "alone")
    for cell in outcome.plan.cells:
        alone = runs.run(vector, cell.place, store=store, repetition=cell.replicate).data
        xarray.testing.assert_identical(alone, outcome.plan.store.load(cell.request))
    # ... and so do any other companions in the group.
    swept(
        tmp_path / "other", "vector",
        **{**asked, "axes": {"rate": [0.7, 0.1], "x": asked["axes"]["x"][::-1]}})
    other = contents(Store(tmp_path / "other"))
    assert other.items() <= contents(outcome.plan.store).items() and len(other) == 28


def test_groups_under_vmap_are_bounded_and_hold_only_cells_that_differ_in_numbers(tmp_path):
    made = planned(tmp_path, "vector", axes={"x": np.arange(1.0, 12).tolist(), "steps": [5, 9]})
    groups = made.groups()
    assert [len(group) for group in groups] == [8, 3, 8, 3]
    assert all(len({work.parameters["steps"] for work in group}) == 1 for group in groups)
    assert "in 4 groups of up to 8 at once" in describe(made)


def test_one_bad_cell_in_a_batch_does_not_take_the_others_along(tmp_path):
    outcome = swept(tmp_path, "vector", axes={"rate": [0.1, -1.0, 0.3]})
    assert [outcome.plan.status[name] for name in outcome.keys] == [
        "finished", "refused", "finished"]


def test_a_worker_with_another_version_is_refused(tmp_path):
    made = planned(tmp_path, "tick", axes={"x": [0.0]})
    ((work,),) = made.groups()
    from saccade.lab.sweep.perform import OtherVersion, Writer

    with pytest.raises(OtherVersion, match="another version"):
        settle(made.target, (work._replace(name="0" * 32),), 0, Writer(made.store))


def test_a_store_in_memory(tmp_path):
    address = "memory://test-sweeps/runs"
    whole = swept(tmp_path, "tick", **GRID)
    outcome = swept(address, "tick", **GRID)
    assert contents(outcome.plan.store) == contents(whole.plan.store)
    assert swept(address, "tick", **GRID).computed == 0
    store = outcome.plan.store
    store.backend.system.pipe_file(f"{store.backend.root}/{outcome.keys[0]}/0.npy", b"nonsense")
    with pytest.warns(DamagedRun, match=outcome.keys[0]):
        assert swept(address, "tick", **GRID).computed == 1
    assert contents(store) == contents(whole.plan.store)
    assert [leftover.name[:9] for leftover in store.backend.leftovers()] == [".damaged-"]
    with pytest.raises(InvalidInput, match="lies in this process"):
        from saccade.lab.engines import choose

        swept(address, "tick", engine=choose(jobs=2), axes={"x": [55.0]})


def test_a_run_without_its_record_does_not_exist_on_an_object_store():
    store = Store("memory://test-torn/runs")
    made = swept("memory://test-torn/runs", "tick", axes={"x": [0.0]})
    store.backend.system.rm_file(f"{store.backend.root}/{made.keys[0]}/run.json")
    assert (
        list(store.names()) == []
        and [leftover.name for leftover in store.backend.leftovers()] == made.keys)
    assert swept("memory://test-torn/runs", "tick", axes={"x": [0.0]}).computed == 1


def test_a_calculator_over_a_grid_agrees_with_the_calculator(fresh_store):
    outcome = saccade.sweep(
        "single-location.zeta", axes={"t": [0.0, 0.5, 2.0]}, fixed={"variance": 0.5})
    data = outcome.open()
    for t in (0.0, 0.5, 2.0):
        asked = saccade.calc("single-location.zeta", t=t, variance=0.5)
        for name, value in asked.items():
            np.testing.assert_array_equal(data[name].sel(t=t).values, np.asarray(value))
    assert (
        saccade.sweep("single-location.zeta", axes={"t": [0.5]}, fixed={"variance": 0.5}).computed
        == 0)


def test_sweeps_and_claims_share_runs(fresh_store):
    fixed = dict(dim=10, steps=20, repetitions=3, record_every=10)
    saccade.run("single-location.descent", **fixed, inverse_temperature=0.5)
    outcome = saccade.sweep(
        "single-location.descent", axes={"inverse_temperature": [0.5]}, fixed=fixed)
    assert outcome.computed == 0


def test_two_writers_of_the_same_cells(tmp_path):
    first = planned(tmp_path, "tick", **GRID)
    second = planned(tmp_path, "tick", **GRID)  # planned before the first has computed anything
    from saccade.lab.engines import here
    from saccade.lab.sweep.api import execute

    execute(first, here)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = execute(second, here)
    assert outcome.plan.counts() == {"finished": 12} and len(os.listdir(tmp_path)) == 12


def test_sweeps_let_go_of_compiled_programs(tmp_path, monkeypatch):
    from saccade.lab.sweep import perform

    asked = []
    monkeypatch.setattr(perform, "let_go_of_programs", lambda: asked.append(1))
    swept(tmp_path, "tick", axes={"x": [0.0, 1.0]})
    assert len(asked) == 2
