"""The ledger's schema: the file, the model, and what is really written agree."""

import json

import pytest
from pydantic import ValidationError
from toy import claim
from typer.testing import CliRunner

from saccade.cli import app
from saccade.lab import record, schema
from saccade.lab.claim import Scale
from saccade.lab.ledger import Conditions, evaluate
from saccade.report.recorded import recorded_rows


def said(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output if code else json.loads(result.stdout)


def test_the_file_is_the_models_schema():
    """python -c "from saccade.lab.schema import *; print(json.dumps(model_schema(), indent=1))"
    writes it."""
    found = schema.json_schema()
    assert found == schema.model_schema() == said("ledger", "--form", "schema")
    assert found["$schema"].endswith("2020-12/schema") and found["$id"] == "urn:saccade-ledger:1"
    assert found["properties"]["format"]["const"] == schema.FORMAT
    assert "format" in found["required"]
    for form in (found, *found["$defs"].values()):
        fields = form["properties"].items()
        assert not [name for name, field in fields if not field.get("description")]


def test_a_judged_row_and_the_record_fit(tmp_path):
    row = evaluate(claim(), Conditions(sabotage=True, folder=str(tmp_path)))
    whole = {"format": schema.FORMAT, "claims": [row], "summary": {"holds": 1}}
    told = schema.Ledger.model_validate(whole).claims[0]
    assert told.slack == told.parts[0].slack and told.slack.resolutions is not None
    ledger = said("ledger")
    assert ledger["format"] == schema.FORMAT and len(ledger["claims"]) == len(recorded_rows())
    schema.Ledger.model_validate(ledger)
    for wrong in ({"claims": []}, {"format": "saccade-ledger/2", "claims": []}):
        with pytest.raises(ValidationError):
            schema.Ledger.model_validate(wrong)


def test_another_format_is_refused_and_one_from_before_formats_is_read(tmp_path):
    path = tmp_path / "ledger.json"
    row = evaluate(claim(), Conditions(folder=str(tmp_path)))
    for form in ("json", "rubric"):
        path.write_text(json.dumps({"format": "saccade-ledger/2", "claims": [row]}))
        refusal = said("ledger", path, "--form", form, code=2)
        assert "its format is 'saccade-ledger/2', and this saccade reads saccade-ledger/1" in (
            " ".join(refusal.split()))
    path.write_text(json.dumps({"claims": [row]}))
    assert said("ledger", path)["format"] == schema.FORMAT


@pytest.mark.parametrize(("field", "value"), [("verdict", "maybe"), ("kind", None), ("seed", "x")])
def test_what_does_not_fit_is_one_sentence(tmp_path, field, value):
    row = evaluate(claim(), Conditions(folder=str(tmp_path))) | {field: value}
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps({"claims": [row]}))
    assert field in said("ledger", path, "--form", "rubric", code=2) or field == "verdict"


def test_a_rubric_is_a_tree_whose_leaves_are_the_claims(tmp_path):
    tree = said("ledger", "--form", "rubric")
    assert tree["format"] == schema.RUBRIC
    leaves = [leaf for branch in tree["sub_tasks"] for leaf in branch["sub_tasks"]]
    assert {leaf["id"] for leaf in leaves} == {row["id"] for row in recorded_rows()}
    assert all(leaf["requirements"] and leaf["weight"] > 0 for leaf in leaves)
    for branch in tree["sub_tasks"]:
        assert branch["weight"] == sum(leaf["weight"] for leaf in branch["sub_tasks"])


def leaf(row):
    [branch] = schema.rubric([row])["sub_tasks"]
    return branch["sub_tasks"][0]


def test_a_score_needs_all_that_makes_a_row_as_expected(tmp_path):
    row = evaluate(claim(), Conditions(sabotage=True, folder=str(tmp_path)))
    assert leaf(row)["score"] == 1.0 and leaf(row)["published"] is False
    survives = [row["sabotages"][0] | {"verdict": "holds"}]
    for wrong in ({"sabotages": survives}, {"unbroken": ["0"]}, {"as_expected": False}):
        assert leaf(row | wrong)["score"] == 0.0


def test_a_claim_that_waits_is_told_by_its_published_row_and_marked(tmp_path, monkeypatch):
    later = claim(scales={"standard": Scale(repetitions=8)})
    waits = evaluate(later, Conditions(folder=str(tmp_path)))
    monkeypatch.setattr(record, "rows", dict)
    assert leaf(waits)["verdict"] == "waiting" and leaf(waits)["score"] is None
    judged = evaluate(later, Conditions("standard", folder=str(tmp_path)))
    monkeypatch.setattr(record, "rows", lambda: {later.id: {"standard": judged}})
    told = leaf(waits)
    assert told["published"] is True and (told["verdict"], told["scale"]) == ("holds", "standard")
    assert told["score"] == 1.0
    assert leaf(waits | {"published": judged | {"as_expected": False}})["score"] == 0.0
    own = leaf(judged | {"published": judged | {"as_expected": False}})
    assert own["published"] is False and own["score"] == 1.0, "what was judged speaks for itself"


def test_only_a_sentence_that_was_read_as_it_stands_is_refuted():
    row = {"verdict": "refuted", "citation": {"reading": "scaled"}}
    assert schema.refutes_paper(row)
    for other in ({"verdict": "holds"}, {"citation": {"reading": "proxy"}}, {"citation": None}):
        assert not schema.refutes_paper(row | other)
