"""A learner or a task is one file, found by itself; and no cell of the others is stale for it."""

from importlib.metadata import EntryPoint
from pathlib import Path

import jax
import numpy as np
import pytest
from typer.testing import CliRunner

from saccade import studies
from saccade.cli import app
from saccade.lab import charting, fingerprint, registry
from saccade.lab.experiment import Experiment
from saccade.lab.fingerprint import sources
from saccade.studies.attention_atlas import charts, experiments, learners

LEARNER = """
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.models import Fitted, evenly


class Zero:
    def fit(self, X, y, mask=None, *, key):
        return Fitted(lambda X, mask: 0 * X[:, 0, 0], evenly)


ZERO = ChartedLearner("zero", "attention-atlas", "says 0", lambda kind: Zero())
"""
TASK = """
from functools import partial
from saccade.lab.chart import ChartedTask
from saccade.studies.attention_atlas.task import Split

THIRD = ChartedTask(
    "split-third", "attention-atlas", "a third at the mark", partial(Split.create, share=1 / 3))
"""
STUDY = """
from saccade.studies import Study

STUDY = Study("mine", "M", "title", "", 2026, "", "asks", __package__)
"""


@pytest.fixture
def forgets():
    """Nothing that was found is remembered, before or after."""

    def forget():
        for cached in (registry._offered, registry.brought, fingerprint.joint_version):
            cached.cache_clear()

    forget()
    yield forget
    forget()


@pytest.fixture
def two_files(tmp_path, monkeypatch, forgets):
    for room, text in ((learners, LEARNER), (charts, TASK)):
        folder = tmp_path / room.__name__.rpartition(".")[2]
        folder.mkdir()
        (folder / "of_mine.py").write_text(text)
        monkeypatch.setattr(room, "__path__", [*room.__path__, str(folder)])
    forgets()


@pytest.fixture
def from_outside(tmp_path, monkeypatch, forgets):
    """A study of another package that brings a task and a learner, as its entry point names it."""
    package = tmp_path / "paper_of_mine"
    package.mkdir()
    for name, text in (("__init__", ""), ("study", STUDY), ("charts", TASK), ("learners", LEARNER)):
        (package / f"{name}.py").write_text(text.replace('"attention-atlas"', '"mine"'))
    monkeypatch.syspath_prepend(tmp_path)
    points = [*studies.built_in(), EntryPoint("mine", "paper_of_mine.study:STUDY", studies.GROUP)]
    monkeypatch.setattr(studies.STUDIES, "_all", studies.registered(points))
    forgets()


def code(task: str, learner: str) -> str:
    cell: Experiment = experiments.cell
    return cell.code(cell.parameters("quick", {"task": task, "learner": learner}))


def test_files_of_mine_are_on_the_map(two_files):
    listed = CliRunner().invoke(app, ["atlas", "--list"]).output
    assert "split-third" in listed and "says 0" in listed
    found = experiments.outcomes(
        jax.random.key(0), [experiments.Meeting("split-third", "zero", 20)], 2, 6, 4, 100)
    assert np.allclose(found["excess"], 1, atol=0.1) and np.allclose(found["auroc"], 0.5)


def test_a_study_from_outside_is_on_the_map(from_outside):
    assert code("split-third", "zero") != code("split-third", "null")
    found = experiments.outcomes(
        jax.random.key(0),
        [
            experiments.Meeting(*pair, 20)
            for pair in (("split-third", "null"), ("split-50", "zero"))],
        2, 6, 4, 100)
    assert np.allclose(found["excess"], 1, atol=0.4)


def test_files_of_mine_make_no_cell_stale(two_files, monkeypatch, forgets):
    after = code("split-50", "softmax")
    monkeypatch.undo()
    forgets()
    assert code("split-50", "softmax") == after


@pytest.mark.parametrize(
    ("changed", "stale"),
    [
        ("learners/erf.py", {("split-50", "erf"), ("spatial", "erf")}),
        ("charts/split.py", {("split-50", "erf"), ("split-50", "softmax")}),
        ("measures.py", {("split-50", "erf"), ("spatial", "erf"), ("split-50", "softmax")}),
        ("theory.py", set())])
def test_a_change_makes_stale_what_computes_with_it(changed, stale, monkeypatch, forgets):
    cells = [("split-50", "erf"), ("spatial", "erf"), ("split-50", "softmax")]
    before = {pair: code(*pair) for pair in cells}
    file, read = Path(experiments.__file__).parents[1] / changed, Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path == file))
    forgets()
    assert {pair for pair in cells if code(*pair) != before[pair]} == stale


def test_the_code_of_the_map_as_a_whole_covers_all_that_can_be_found():
    named = sources("saccade.studies.attention_atlas.experiments")
    for kind, room in (("ChartedTask", "charts"), ("ChartedLearner", "learners")):
        assert set(registry.brought(f"chart.{kind}", room).values()) <= set(named)


def test_data_that_are_not_here_are_said_to_be_left_out(monkeypatch, tmp_path):
    monkeypatch.setenv("SACCADE_DATA", str(tmp_path))
    monkeypatch.setattr("saccade.lab.registry.lacking", lambda need: {"get": "x"} if need else None)
    tasks = registry.charted_tasks()
    assert charting.left_out([], tasks, "quick") is None
    said = charting.left_out([], tasks, "standard")
    assert said is not None and "cifar10" in said and "musk1" in said
    assert charting.left_out(["digits"], tasks, "standard") is None
    here = {one.id for one in charting.chosen("task", [], tasks, "standard")}
    assert "digits" in here and "cifar10" not in here


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--tasks", "splitt-50"], "did you mean 'split-50'"),
        (["--learners", "softmx"], "did you mean 'softmax'"),
        (["--tasks", "spatial", "--length", "7"], "length = 7 must be even"),
        (["--tasks", "split-50", "--dim", "2"], "dim = 2 must be at least 3"),
        (["--tasks", "split-50", "--learners", "two-step"], "takes classification only"),
        (["--tasks", "digits", "--samples", "1797"], "has 1797 and keeps 30"),
        (["--samples", "many"], "must be whole numbers"), (["--samples", "7"], "must lie from 8"),
        (["--draws", "0", "--tasks", "split-0"], "draws = 0 must be at least 1"),
        (["--scale", "huge"], "no scale named 'huge'"), (["--figure", "map.xyz"], "map.xyz")])
def test_bad_input_is_one_sentence(words, says, tmp_path, monkeypatch):
    monkeypatch.setenv("SACCADE_STORE", str(tmp_path))
    result = CliRunner().invoke(app, ["atlas", *words])
    assert result.exit_code == 2 and says in result.stderr, (result.output, result.exception)
    assert result.stderr.startswith("saccade: ") and result.stderr.count("\n") == 1
