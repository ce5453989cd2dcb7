"""The fault script on a machine that lacks something: it says what, and goes on."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import fault_tools
import faults


@pytest.mark.parametrize("name", ["workers", "scheduler", "cluster-killer"])
def test_without_dask_a_fault_is_skipped_in_a_sentence_and_at_once(name, monkeypatch):
    monkeypatch.setattr(fault_tools, "find_spec", lambda package: None)
    monkeypatch.setattr(fault_tools.time, "sleep", lambda seconds: pytest.fail("it waits"))
    result = faults.carry_out(name, small=True)
    assert result.passed is None
    assert result.says == "skipped: needs Dask: pip install 'saccade[cluster]'"


def test_a_fault_that_fails_is_told_apart_from_one_that_is_skipped(monkeypatch):
    def fails(folder: Path, small: bool) -> str:
        raise AssertionError("cells differ")

    monkeypatch.setitem(faults.FAULTS, "kills", fails)
    assert faults.carry_out("kills", small=True)[1:3] == (False, "cells differ")
