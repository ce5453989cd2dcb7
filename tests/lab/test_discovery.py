"""What there is can be found from Python and from the shell, without leaving the prompt."""

import inspect
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import saccade
from saccade.cli import app
from saccade.errors import InvalidInput
from saccade.lab import record, registry
from saccade.lab.discovery import describe, formula
from saccade.lab.tables import Judged, Rows, html_table, text_table
from saccade.studies import STUDIES


def test_a_list_of_everything_shows_itself():
    found = saccade.list()
    assert [item["name"] for item in found.studies] == list(STUDIES)
    assert "single-location.risk" in [item["id"] for item in found.calculators]
    assert "single-location.risk" in repr(found) and "<table>" in found._repr_html_()
    one = saccade.list("sparse-token")
    assert {item["study"] for item in one.claims} == {"sparse-token"}
    with pytest.raises(InvalidInput, match="did you mean 'sparse-token'"):
        saccade.list("sparse-tokn")


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("single-location.risk", "calculator", ("inverse_temperature", "Proposition 15")),
        ("single-location.descent", "experiment", ("steps", "int = 20000 (paper: 120000)")),
        ("SL-P15", "claim", ("risk-closed-form",)), ("single-location/4a", "figure", ("caption",)),
        ("single-location", "study", ("asks", "calculators"))])
def test_everything_describes_itself(name, kind, words):
    found = saccade.describe(name)
    assert kind in found
    for text in (repr(found), found._repr_html_()):
        assert all(word in text for word in words)
    answer = CliRunner().invoke(app, ["list", name])
    assert answer.exit_code == 0
    if kind != "study":
        assert answer.stdout == repr(found) + "\n"
        told = json.loads(CliRunner().invoke(app, ["list", name, "--json"]).stdout)
        assert told == json.loads(json.dumps(found))


def test_a_claim_says_its_published_verdict_and_slack(monkeypatch):
    name = "single-location.zeta"
    row = {
        "id": name, "study": "single-location", "scale": "quick", "verdict": "holds",
        "as_expected": True, "judged": {"date": "2026-11-01", "code": "x", "module": "saccade"},
        "experiment": "none", "slack": {"factor": 12.0, "loose": True}}
    monkeypatch.setattr(record, "rows", lambda: {name: {"quick": row}})
    found = saccade.describe(name)
    assert found["claim"]["published"]["slack"] == row["slack"]
    line = "holds at quick, slack ×12 loose, judged 2026-11-01, by earlier code"
    assert f"published: {line}" in repr(found) and line in found._repr_html_()
    monkeypatch.setattr(record, "rows", dict)
    assert "published: not judged" in repr(saccade.describe(name))


def test_every_name_in_the_lists_is_described():
    for study in STUDIES:
        for kind, items in saccade.list(study)._asdict().items():
            for item in items if kind != "studies" else ():
                assert kind.removesuffix("s") in describe(item["id"])


def test_a_name_that_is_not_there_gets_the_nearest():
    with pytest.raises(InvalidInput, match=r"did you mean 'single-location\.risk'"):
        saccade.describe("single-location.rsk")
    with pytest.raises(InvalidInput, match="did you mean 'SL-P15'"):
        saccade.describe("SL-P155")
    answer = CliRunner().invoke(app, ["list", "single-location.desce"])
    assert answer.exit_code == 2 and "did you mean" in answer.stderr


def test_formulas_are_functions_with_signatures():
    assert "single_location" in dir(saccade.formulas)
    assert "critical_inverse_temperature" in dir(saccade.formulas.single_location)
    ask = saccade.formulas.single_location.critical_inverse_temperature
    parameters = inspect.signature(ask).parameters
    assert parameters["dim"].default is inspect.Parameter.empty and ask.__doc__
    assert parameters["gamma"].default == pytest.approx(0.5**0.5)
    assert ask(dim=400, length=10) == saccade.calc(
        "single-location.critical-inverse-temperature", dim=400, length=10)
    with pytest.raises(AttributeError, match="did you mean 'risk'"):
        _ = saccade.formulas.single_location.rsk
    for item in registry.calculators("single-location"):
        assert list(inspect.signature(formula(item.id)).parameters)


def test_experiments_are_functions_of_their_parameters(fresh_store):
    ask = saccade.experiments.single_location.descent
    assert inspect.signature(ask).parameters["dim"].default == 400
    short = {"dim": 50, "steps": 10, "repetitions": 2}
    assert ask(**short).identical(saccade.run("single-location.descent", short))


def test_tables_escape_and_cut():
    assert "<b>" not in html_table(["<b>"], [["<b>"]], "<b>")
    assert max(map(len, text_table(["a"], [["word " * 99]]).splitlines())) < 80
    row = {"id": "x", "statement": "s", "prediction": 1.0, "interval": [0.5, 2.0]}
    assert "(0.5, 2)" in repr(Judged([row])) and json.loads(json.dumps(Rows([row]))) == [row]


def test_a_ledger_and_a_sweep_show_themselves(fresh_store):
    rows = saccade.verify("SL-Z")
    assert isinstance(rows, list) and "<table>" in rows._repr_html_() and "holds" in repr(rows)
    swept = saccade.sweep(
        "single-location.critical-inverse-temperature", axes={"dim": np.array([5, 6])},
        fixed={"length": 4})
    assert repr(swept).startswith("Outcome of calc:") and "2 finished" in repr(swept)


@pytest.mark.parametrize("study", [None, "sparse-token"])
def test_what_was_used_is_cited(study):
    text = saccade.cite(study)
    assert text.startswith("@software{saccade,") and saccade.__version__ in text
    papers = [STUDIES[study]] if study else STUDIES.values()
    assert all(paper.title in text for paper in papers)
    assert text.count("@") == 1 + len(papers)
    words = ["cite", *([study] if study else [])]
    assert CliRunner().invoke(app, words).stdout == text + "\n"
    assert CliRunner().invoke(app, ["cite", "sparse-tokn"]).exit_code == 2


def test_a_figure_is_described_with_what_may_be_changed():
    about = saccade.describe("sparse-token/1")["figure"]
    assert {"type", "default", "scales"} <= set(about["parameters"]["signal"])
    drawn = registry.one("figure", "sparse-token/1", registry.figures("sparse-token")).runs
    fixed = next(iter(drawn.values()))[1]
    for name, value in fixed.items():
        assert about["parameters"][name]["default"] == json.loads(json.dumps(value))
    assert "signal" in repr(saccade.describe("sparse-token/1"))


def test_a_claim_is_described_with_what_verify_may_change():
    about = saccade.describe("SL-P15")
    assert about["experiment"]["id"] == about["claim"]["experiment"]
    assert "samples" in about["experiment"]["parameters"]


def test_an_empty_ledger_makes_no_report(tmp_path):
    with pytest.raises(InvalidInput, match="at least one judged claim"):
        saccade.report([], tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_a_sweep_of_what_there_is_not_says_that_first():
    for asked in ({}, {"axes": {"x": [1]}}):
        with pytest.raises(InvalidInput, match="no experiment or calculator named 'nothing'"):
            saccade.sweep("nothing", **asked)
