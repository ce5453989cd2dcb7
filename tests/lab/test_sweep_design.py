"""Designs of sweeps: what is laid out, and what is refused before anything runs."""

import pytest
import sweeping  # noqa: F401

from saccade.errors import InvalidInput
from saccade.lab.store import Store
from saccade.lab.sweep.design import grid_axes, places, read, specification
from saccade.lab.sweep.plan import plan


def laid_out(**asked):
    return places(specification({"run": "fault_cells:tick", **asked}))


def test_a_grid_is_the_product_of_its_axes_in_order():
    made = laid_out(axes={"x": [1, 2], "size": [3, 4, 5]})
    assert made == [{"x": x, "size": size} for x in (1, 2) for size in (3, 4, 5)]


def test_spans_are_even_in_value_or_in_logarithm():
    made = specification({
        "run": "r",
        "axes": {
            "a": {"low": 0, "high": 1, "count": 5},
            "b": {"low": 1, "high": 1000, "count": 4, "spacing": "log"},
            "c": {"low": 1, "high": 4, "count": 7, "whole": True},
            "d": {"low": 0.1, "high": 0.3, "count": 3}}})
    axes = grid_axes(made)
    assert axes["a"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert axes["b"] == [1.0, 10.0, 100.0, 1000.0]
    assert axes["c"] == [1, 2, 3, 4] and all(isinstance(value, int) for value in axes["c"])
    assert axes["d"] == [0.1, 0.2, 0.3]  # no rounding dust in what becomes a run's name


def test_a_list_is_taken_as_it_is():
    cells = [{"x": 1.0, "size": 2}, {"x": 5.0}]
    assert laid_out(design="list", cells=cells) == cells


def test_a_random_design_stays_within_its_ranges_and_only_grows_with_more_samples():
    asked = dict(
        design="random",
        axes={
            "x": {"low": -1, "high": 1},
            "size": {"low": 1, "high": 100, "spacing": "log", "whole": True}})
    few, many = laid_out(**asked, samples=20), laid_out(**asked, samples=50)
    assert many[:20] == few
    assert all(-1 <= cell["x"] <= 1 and 1 <= cell["size"] <= 100 for cell in many)
    assert len({cell["x"] for cell in many}) == 50
    assert laid_out(**asked, samples=20, seed=1) != few
    # One axis does not move the draws of another.
    alone = laid_out(design="random", axes={"x": asked["axes"]["x"]}, samples=20)
    assert [cell["x"] for cell in alone] == [cell["x"] for cell in few]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"axis": {"x": [1]}}, "named 'axis'; did you mean 'axes'"),
        ({"axes": {"x": {"low": 0, "high": 1, "cuont": 3}}}, "named 'cuont'; did you mean 'count'"),
        ({"axes": {"x": {"low": 0, "high": 1}}}, "count"),
        ({"axes": {"x": {"low": 2, "high": 1, "count": 3}}}, "must not be above high"),
        (
            {"axes": {"x": {"low": 0, "high": 1, "count": 3, "spacing": "log"}}},
            "above 0 with log spacing"),
        ({"axes": {"x": 3}}, "axis x = 3 must be a list"), ({"axes": {"x": []}}, "must be a list"),
        ({"axes": {"x": [1, 2, 1]}}, "appears twice"), ({"axes": {}}, "A grid design needs axes"),
        ({"axes": {"x": [1]}, "cells": [{"x": 1}]}, "takes axes, not cells"),
        ({"design": "list", "axes": {"x": [1]}}, "A list design needs cells"),
        ({"design": "random", "axes": {"x": {"low": 0, "high": 1}}}, "needs samples"),
        ({"axes": {"x": [1]}, "samples": 3}, "takes no samples"),
        ({"design": "gird", "axes": {"x": [1]}}, "design = 'gird'"),
        ({"axes": {"x": [1]}, "replicates": 0}, "replicates = 0"),
        ({"axes": {"x": [1]}, "fixed": {"x": 2}}, "both fixed and varied"),
        ({"axes": {"x": {"low": 0, "high": 1, "count": 2_000_000}}}, "are too many")])
def test_what_cannot_be_meant_is_refused_in_one_sentence(asked, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        laid_out(**asked)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            {"run": "single-location.descnt", "axes": {"dim": [3]}},
            "did you mean 'single-location.descent'"),
        ({"run": "single-location.descent", "axes": {"dims": [3]}}, "did you mean 'dim'"),
        ({"run": "single-location.descent", "axes": {"dim": [10, "many"]}}, "dim = 'many'"),
        (
            {"run": "single-location.descent", "axes": {"dim": [3]}, "scale": "qiuck"},
            "did you mean 'quick'"),
        (
            {
                "run": "single-location.zeta", "axes": {"t": [0.5]}, "fixed": {"variance": 0.5},
                "replicates": 2},
            "no randomness"),
        ({"run": "fault_cells:tock", "axes": {"x": [1]}}, "did you mean 'tick'"),
        ({"run": "no_such_module:tick", "axes": {"x": [1]}}, "cannot be imported")])
def test_the_run_and_its_parameters_are_checked_before_anything_starts(asked, sentence, tmp_path):
    with pytest.raises(InvalidInput, match=sentence):
        plan(specification(asked), Store(tmp_path / "store"))
    assert not (tmp_path / "store").exists()


def test_a_file_that_is_not_there_or_no_toml_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        read(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("run = [")
    with pytest.raises(InvalidInput, match="not valid TOML"):
        read(tmp_path / "bad.toml")
