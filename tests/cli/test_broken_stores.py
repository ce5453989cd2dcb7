"""Stores that are files, missing or full of leftovers, sweeps of too many cells, seeds that cannot
be: one sentence each, at once, and the truth about what stays."""

import os
import time
import tracemalloc

import pytest
from typer.testing import CliRunner

import saccade
from saccade.cli import app
from saccade.errors import InvalidInput
from saccade.lab.sweep.design import MOST_CELLS, places, specification

LOOKS = (
    ("list",), ("check",), ("gc",), ("show", "abcd"), ("open", "single-location.*"),
    ("open", "single-location/phase"))


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def refused(*words):
    made = call(*words)
    assert made.exit_code == 2 and made.stdout == "", (made.output, made.exception)
    assert made.stderr.startswith("saccade: ") and made.stderr.count("\n") == 1
    return made.stderr


@pytest.mark.parametrize("words", LOOKS)
def test_a_store_that_is_a_file_is_a_sentence(words, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("mine")
    monkeypatch.setenv("SACCADE_STORE", str(file))
    assert "is a file; choose a folder" in refused("runs", *words)
    assert "is a file" in refused("verify", "single-location.risk-closed-form")
    assert file.read_text() == "mine"


@pytest.mark.parametrize("words", LOOKS)
def test_a_store_that_is_missing_is_refused_and_not_made(words, tmp_path):
    missing = tmp_path / "missing"
    assert f"There is no store at '{missing}'" in refused("runs", *words, "--store", missing)
    assert not missing.exists()


def test_nothing_is_merged_from_a_store_that_is_missing(tmp_path):
    refused("runs", "merge", tmp_path / "missing", tmp_path / "into")
    assert list(tmp_path.iterdir()) == []


def test_check_promises_what_gc_does_and_gc_says_why_it_keeps(tmp_path):
    for name in (".writing-new", ".writing-old", ".damaged-x"):
        (tmp_path / name).mkdir()
    long_ago = time.time() - 7200
    os.utime(tmp_path / ".writing-old", (long_ago, long_ago))
    promised = call("runs", "check", "--store", tmp_path).stdout
    kept = [
        "1 leftovers kept, since a writer may be at work on them: saccade runs gc --older-than 0",
        "1 leftovers kept, damaged runs that were set aside: saccade runs gc --damaged"]
    assert promised.splitlines()[1:] == ["1 leftovers to be removed: saccade runs gc", *kept]
    done = call("runs", "gc", "--store", tmp_path).stdout
    assert done.splitlines() == ["1 leftovers removed, 2 kept.", *kept]
    call("runs", "gc", "--older-than", "0", "--store", tmp_path)
    assert call("runs", "gc", "--damaged", "--older-than", "0", "--store", tmp_path).stdout == (
        "1 leftovers removed, 0 kept.\n")
    assert call("runs", "check", "--store", tmp_path).stdout == "0 runs are good, 0 damaged.\n"


AXIS = "low = 2, high = 900"
MANY = {
    "one axis": f"[axes]\ndim = {{{AXIS}, count = 100000000}}",
    "two axes": f"[axes]\ndim = {{{AXIS}, count = 10000}}\nlength = {{{AXIS}, count = 10000}}",
    "draws": f'design = "random"\nsamples = 100000000\n[axes]\ndim = {{{AXIS}}}',
    "replicates": "replicates = 50000000\n[axes]\ndim = [2, 3]"}


@pytest.mark.parametrize("kind", MANY)
def test_too_many_cells_are_counted_not_listed(kind, tmp_path):
    file = tmp_path / "many.toml"
    file.write_text(f'run = "single-location.descent"\n{MANY[kind]}\n')
    call("sweep", file, "--dry-run")  # imports
    tracemalloc.start()
    text = refused("sweep", file, "--dry-run")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "cells = 100000000 are too many" in text and str(MOST_CELLS) in text
    assert peak < 20e6


def test_as_many_cells_as_may_be():
    axes = {"x": list(range(MOST_CELLS // 100)), "y": list(range(100))}
    assert len(places(specification({"run": "x", "axes": axes}))) == MOST_CELLS


@pytest.mark.parametrize("seed", ["-1", "12345678901234567890123", str(2**63)])
@pytest.mark.parametrize(
    "words",
    [
        ("verify", "single-location"), ("figure", "single-location/4a"), ("reproduce",),
        ("report",), ("train", "sparse-recovery"), ("mutants",)])
def test_seeds_that_cannot_be(words, seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert f"seed = {seed} must be a whole number from 0 to {2**63 - 1}" in refused(
        *words, "--seed", seed)
    assert list(tmp_path.iterdir()) == []


def test_seeds_that_cannot_be_in_python():
    for seed in (-1, 10**23, 1.5, True, "1"):
        for ask in (saccade.run, saccade.verify):
            with pytest.raises(InvalidInput, match=r"seed = .* whole number from 0"):
                ask("single-location.descent", seed=seed)
    for seed in (-1, 10**23, 1.5):
        with pytest.raises(InvalidInput, match="seed"):
            saccade.sweep("single-location.descent", axes={"dim": [50]}, seed=seed, dry_run=True)


def test_dimensions_beyond_all_sense():
    words = ("calc", "single-location.critical-inverse-temperature", "length=10")
    assert "dim = 1e+300" in refused(*words, "dim=1e300")
    assert call(*words, "dim=1e15").exit_code == 0
