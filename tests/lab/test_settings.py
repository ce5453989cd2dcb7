"""Claims and figures at somebody's own parameters, and in single precision: computed there, marked
as not published, refused where there is no such parameter."""

import json
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from typer.testing import CliRunner

import saccade
from saccade.cli import app
from saccade.errors import InvalidInput
from saccade.lab import registry
from saccade.lab.claim import Citation, Claim, Sabotage
from saccade.lab.experiment import experiment
from saccade.lab.figure import Figure
from saccade.lab.kinds import ESTIMATE
from saccade.lab.ledger import Conditions, evaluate
from saccade.lab.settings import applied, changed_figure, check_claims, words

SMALL = {"dim": 50, "steps": 40, "repetitions": 2, "record_every": 20}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A store for the tests that ask for the same runs."""
    return str(tmp_path_factory.mktemp("shared"))


def test_a_claim_is_judged_where_it_is_asked_for(shared, monkeypatch):
    monkeypatch.setenv("SACCADE_STORE", shared)
    (row,) = saccade.verify("SL-P15", dim=50, samples=500, sabotage=True)
    (published,) = saccade.verify("SL-P15", changes={"samples": 500})
    assert row["changes"] == {"dim": 50, "samples": 500}
    assert row["setting"].startswith("not the published setting: dim = 50, samples = 500")
    assert row["prediction"] != published["prediction"]
    assert row["resolution"] == pytest.approx(0.02 * row["prediction"])  # a function of the run
    assert row["sabotages"][0]["verdict"] is not None
    (plain,) = saccade.verify("SL-Z")
    assert "setting" not in plain and "changes" not in plain


def test_on_the_command_line_the_mark_stands_below_the_table(shared, monkeypatch):
    monkeypatch.setenv("SACCADE_STORE", shared)
    words = ["verify", "SL-P15", "--set", "dim=50", "--set", "samples=500"]
    answer = CliRunner().invoke(app, words)
    assert "not the published setting: dim = 50, samples = 500" in answer.stdout
    told = json.loads(CliRunner().invoke(app, [*words, "--json", "-"]).stdout)
    assert told["claims"][0]["changes"] == {"dim": 50, "samples": 500}


@pytest.mark.parametrize(
    ("patterns", "changes", "words"),
    [
        (["SL-Z"], {"dim": 50}, "has no parameter 'dim'"),
        (["SL-P15", "SL-Z"], {"dim": 50}, "1 of the 2 claims asked for do"),
        (["SL-P15"], {"sample": 50}, "did you mean 'samples'"),
        (["SL-P15"], {"dim": "x"}, "must be a whole number")])
def test_what_a_claim_does_not_have_is_refused_before_anything_runs(
    patterns, changes, words, fresh_store
):
    with pytest.raises(InvalidInput, match=words):
        saccade.verify(*patterns, changes=changes)
    options = [f"--set={name}={value}" for name, value in changes.items()]
    answer = CliRunner().invoke(app, ["verify", *patterns, *options])
    assert answer.exit_code == 2 and answer.stderr.count("\n") == 1 and words in answer.stderr
    assert not fresh_store.exists()


def test_a_value_that_the_experiment_refuses_is_a_sentence_not_a_row(fresh_store):
    sentence = r"cannot be judged with dim = 1 \(dim = 1 must be at least 2"
    with pytest.raises(InvalidInput, match=sentence) as refusal:
        saccade.verify("SL-P15", dim=1)
    assert str(pickle.loads(pickle.dumps(refusal.value))) == str(refusal.value)  # from a worker
    answer = CliRunner().invoke(app, ["verify", "SL-P15", "--set", "dim=-5"])
    assert answer.exit_code == 2 and not answer.stdout
    assert answer.stderr.splitlines()[-1] == "saccade: dim = -5 must not be below 0."


def test_a_crash_at_own_parameters_is_a_sentence_and_at_published_ones_a_row(fresh_store):
    def measure(run):
        return 1 / (run.parameters.size - 3)

    sabotage = Sabotage("none", "Nothing.", measure=lambda run: 1.0)
    claim = Claim(
        id="toy.crash", spec="T", statement="", source="", kind=ESTIMATE, experiment=precise,
        citation=Citation("nowhere", "", "ours"), measure=measure, predict=lambda run: 0.2,
        resolution=0.1, argued="", sabotages=(sabotage,))
    conditions = Conditions(folder=str(fresh_store))
    assert evaluate(claim, conditions)["verdict"] == "holds"
    with pytest.raises(InvalidInput, match=r"with size = 3 \(ZeroDivisionError"):
        evaluate(claim, conditions._replace(changes=(("size", 3),)))


def test_a_figure_at_a_value_that_is_refused_is_one_sentence(fresh_store, tmp_path):
    with pytest.raises(InvalidInput, match=r"cannot be drawn with dim = 1 \(dim = 1 must"):
        saccade.figure("single-location/4a", dim=1)
    options = ["--set", "dim=-5", "-o", str(tmp_path / "x.pdf")]
    answer = CliRunner().invoke(app, ["figure", "single-location/4a", *options])
    assert answer.exit_code == 2 and "dim = -5 must not be below 0" in answer.stderr


def test_seeds_and_changes_exclude_each_other():
    answer = CliRunner().invoke(app, ["verify", "SL-P15", "--set", "dim=5", "--seeds", "0..3"])
    assert answer.exit_code == 2 and "--seeds takes no --set" in answer.stderr


def test_a_resolution_that_is_a_number_is_said_to_be_the_published_one(fresh_store):
    claim = registry.one("claim", "single-location.five-overlaps", registry.claims())
    row = evaluate(claim, Conditions(folder=str(fresh_store), changes=(("samples", 50),)))
    assert "the resolution was argued for the published one" in row["setting"]


def test_a_change_of_what_cases_consist_of_reaches_every_case():
    item = registry.one("experiment", "single-location.simulated-risk", registry.experiments())
    made = applied(item, "quick", {"noise": 0.1}, (("gamma", 2.0), ("samples", 9)))
    assert [case.gamma for case in made["cases"]] == [2.0] * 4
    assert [case.dim for case in made["cases"]] == [6, 8, 5, 10]
    assert made["samples"] == 9 and made["noise"] == 0.1


def test_a_figure_is_drawn_and_marked(fresh_store, tmp_path):
    drawing = saccade.figure("single-location/4a", **SMALL)
    assert any("Not the published setting: dim = 50" in text.get_text() for text in drawing.texts)
    plt.close(drawing)
    options = [f"--set={name}={value}" for name, value in SMALL.items()]
    path = str(tmp_path / "4a.svg")
    answer = CliRunner().invoke(app, ["figure", "single-location/4a", *options, "-o", path])
    assert answer.exit_code == 0, answer.output
    plt.close("all")
    answer = CliRunner().invoke(app, ["figure", "single-location/4a", "--set", "dimm=3"])
    assert answer.exit_code == 2 and "did you mean 'dim'" in answer.stderr


def test_figures_of_the_issue_have_their_parameter():
    figure = registry.one("figure", "sparse-token/1", registry.figures())
    changed = changed_figure(figure, (("signal", 3.0),))
    assert changed.runs["run"][1]["signal"] == 3.0
    assert changed.scales["paper"]["run"]["signal"] == 3.0


@experiment("toy.precise")
def precise(key, *, size: int = 8):
    """Whether JAX keeps what is below single precision."""
    import jax.numpy as jnp
    import xarray

    value = jnp.asarray(1.0) + jnp.asarray(1e-9)
    return xarray.Dataset({"kept": float(value) - 1, "sized": ("x", np.zeros(size))})


def test_single_precision_is_another_run_and_is_marked(fresh_store):
    from saccade.lab.run import run

    double = run(precise).data
    single = run(precise, precision="float32").data
    assert float(double.kept) > 0 and float(single.kept) == 0
    assert float(run(precise).data.kept) > 0  # stored apart
    claim = Claim(
        id="toy.kept", spec="T", statement="Kept.", source="", kind=ESTIMATE, experiment=precise,
        citation=Citation("nowhere", "kept", "ours"), measure=lambda run: float(run.data.kept),
        predict=lambda run: 1e-9, resolution=1e-10, argued="",
        sabotages=(Sabotage("none", "Nothing.", measure=lambda run: 1.0),))
    conditions = Conditions(folder=str(fresh_store))
    assert evaluate(claim, conditions)["verdict"] == "holds"
    row = evaluate(claim, conditions._replace(precision="float32"))
    assert row["verdict"] == "refuted" and "in float32" in row["setting"]
    check_claims([claim], "quick", (("size", 3),))
    with pytest.raises(InvalidInput, match="did you mean 'float32'"):
        saccade.run("single-location.descent", precision="float3")


def test_single_precision_after_double_in_one_process(fresh_store):
    """Constants of NumPy that a compiled program holds are of one precision only."""
    double, single, again = (
        saccade.run("single-location.descent", SMALL, precision=precision, fresh=True)
        for precision in ("float64", "float32", "float64"))
    assert double.identical(again)
    assert single.sizes == double.sizes and not single.equals(double)


def test_a_figure_that_cannot_be_drawn_so_is_a_sentence(fresh_store):
    def draw(runs):
        raise KeyError("size")

    figure = Figure("toy/x", "", "", "", {"run": (precise, {})}, draw)
    from saccade.lab.figure import draw_changed
    from saccade.lab.store import Store

    with pytest.raises(InvalidInput, match="cannot be drawn with size = 3"):
        draw_changed(figure, (("size", 3),), store=Store(fresh_store))
    assert words((("a", 1), ("b", "x"))) == 'a = 1, b = "x"'
