"""The command that draws the map: it goes on where it stood, computes on a cluster, and says what
is left out and why."""

import json

import pytest
from typer.testing import CliRunner

from saccade.cli import app
from saccade.lab import charting, engines, registry
from saccade.lab.chart import ChartedLearner

ASKED = ("atlas", "--tasks", "split-0,group-sparse", "--samples", "20", "--draws", "2", "--json")


def drawn(store, *words):
    """Rows of the map without their seconds, and what was said beside them."""
    result = CliRunner().invoke(app, [*ASKED, "--store", str(store), *words])
    assert result.exit_code == 0, (result.output, result.exception)
    rows = json.loads(result.stdout)
    return [{key: row[key] for key in row if key != "seconds"} for row in rows], result.stderr


@pytest.fixture
def at_home(monkeypatch):
    """Cells are computed in this process."""
    monkeypatch.setattr(engines, "aside", engines.here)


def test_a_wider_map_goes_on_from_a_smaller_one(tmp_path, at_home):
    few, said = drawn(tmp_path, "--learners", "null")
    assert "2 cells computed" in said
    more, said = drawn(tmp_path, "--learners", "null,pooled")
    assert "2 cells computed" in said and len(more) == 4
    assert [row for row in more if row["learner"] == "null"] == few
    assert "0 cells computed" in drawn(tmp_path, "--learners", "null,pooled")[1]


def test_who_is_left_out_is_said_with_the_reason(tmp_path, at_home):
    rows, said = drawn(tmp_path, "--learners", "null,two-step")
    assert {(row["task"], row["learner"]) for row in rows} == {
        ("split-0", "null"), ("group-sparse", "null"), ("group-sparse", "two-step")}
    assert "'two-step' takes classification only, not regression. Left out: split-0." in said


def test_numbers_of_samples_that_real_data_do_not_have_are_left_out():
    (digits,) = charting.chosen("task", ["digits"], registry.charted_tasks(), "quick")
    (null,) = charting.chosen("learner", ["null"], registry.charted_learners(), "quick")
    laid = charting.laid([digits], [null], [200, 1767, 1768], 8, 8)
    assert [cell["samples"] for cell in laid.cells] == [200, 1767]
    (said,) = laid.refused
    assert said.startswith("samples = 1768 are too many for the task 'digits'")


def test_a_cell_that_fails_is_a_word_in_the_map(tmp_path, at_home, monkeypatch):
    class Refusing:
        def fit(self, X, y, mask=None, *, key):
            raise ArithmeticError("no end in sight")

    refusing = ChartedLearner("null", "attention-atlas", "fails", lambda kind: Refusing())
    monkeypatch.setattr(registry, "charted_learners", lambda: (refusing,))
    result = CliRunner().invoke(app, [*ASKED, "--seed", "3", "--store", str(tmp_path)])
    assert result.exit_code == 1
    assert {row["word"] for row in json.loads(result.stdout)} == {"failed"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_draws_the_same_map(tmp_path, at_home):
    distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp",
        host="127.0.0.1",
    ) as cluster:
        rows, said = drawn(
            tmp_path / "there", "--learners", "null,place", "--cluster", cluster.scheduler_address)
    assert "4 cells computed" in said
    assert rows == drawn(tmp_path / "here", "--learners", "null,place")[0]
