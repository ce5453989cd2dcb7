"""The notebooks are scripts too: each runs from top to bottom, and the command that opens one
refuses what cannot be."""

import ast
import json
import runpy

import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.lab import notebooks as explore


@pytest.mark.slow
@pytest.mark.parametrize("study", explore.notebooks())
def test_a_notebook_runs_as_a_plain_script(study):
    pytest.importorskip("marimo", reason="the notebooks need the extra 'explore'")
    runpy.run_path(str(explore.notebook(study)), run_name="__main__")


def cells(study):
    """The source of every cell, in order."""
    text = explore.notebook(study).read_text(encoding="utf-8")
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    sources = [ast.get_source_segment(text, node) or "" for node in functions]
    return [source for node, source in zip(functions, sources, strict=True) if node.name == "_"]


@pytest.mark.parametrize("study", explore.notebooks())
def test_a_notebook_ends_with_something_to_do_and_a_cell_to_change(study):
    *_, invitation, last = cells(study)
    assert "now_you(" in invitation
    assert "change" in last and "mo.show_code(" in last
    assert any("looking(" in cell or "looks(" in cell for cell in cells(study))


@pytest.mark.parametrize("study", ["single-location", "softmax-location", "sparse-token"])
def test_steps_and_schedule_are_controls(study):
    controls = "".join(cell for cell in cells(study) if "mo.ui." in cell)
    assert 'label="schedule"' in controls and "steps" in controls


@pytest.mark.slow
@pytest.mark.parametrize("study", explore.notebooks())
def test_a_notebook_opens_on_a_success_which_is_the_one_on_the_report(study):
    """What the report shows moving was recorded from the notebook; the tokens that matter win."""
    pytest.importorskip("marimo", reason="the notebooks need the extra 'explore'")
    from importlib import import_module

    from saccade.report.heroes import FILE, eight_frames
    from saccade.studies import STUDIES

    now = eight_frames(import_module(STUDIES[study].room("explore")).looks())
    kept = explore.Looks(**json.loads(explore.notebook(study).with_name(FILE).read_text("utf-8")))
    assert now.steps == kept.steps and now.where == kept.where and now.says == kept.says
    assert np.allclose(now.weights, kept.weights, atol=1e-3)
    end = np.asarray(now.weights[-1])
    others = np.delete(end, [*now.where, *([now.asks] if now.asks >= 0 else [])])
    assert end[now.where].min() > 2 * others.max()
    start = np.asarray(now.weights[0])
    assert start[now.where].min() < 0.7 * end[now.where].min(), "it was not there from the start"


def test_a_notebook_is_served_on_this_machine_only():
    pytest.importorskip("marimo", reason="the notebooks need the extra 'explore'")
    words = explore.command("single-location", 2718, headless=True)
    assert words[words.index("--host") + 1] == "127.0.0.1" and "--headless" in words
    with pytest.raises(InvalidInput, match="port = 0"):
        explore.command("single-location", 0)


def test_an_unknown_notebook_gets_the_nearest_name():
    with pytest.raises(InvalidInput, match="single-location"):
        explore.notebook("single-locaton")


def test_without_marimo_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(explore, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"saccade\[explore\]"):
        explore.command("single-location")
