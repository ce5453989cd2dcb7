"""The ledger's schema: the file, the model, and what is really written agree."""

import json

import pytest
from toy import claim
from typer.testing import CliRunner

from saccade.cli import app
from saccade.lab import schema
from saccade.lab.ledger import Conditions, evaluate
from saccade.report.recorded import recorded_rows


def said(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output if code else json.loads(result.stdout)


def test_the_file_is_the_models_schema():
    """python -c "from saccade.lab.schema import *; print(json.dumps(Ledger.model_json_schema(),
    indent=1))" writes it."""
    assert schema.json_schema() == schema.Ledger.model_json_schema()
    assert said("ledger", "--form", "schema") == schema.json_schema()


def test_a_judged_row_and_the_record_fit(tmp_path):
    row = evaluate(claim(), Conditions(sabotage=True, folder=str(tmp_path)))
    schema.Ledger.model_validate({"claims": [row], "summary": {"holds": 1}})
    ledger = said("ledger")
    assert ledger["format"] == schema.FORMAT and len(ledger["claims"]) == len(recorded_rows())
    schema.Ledger.model_validate(ledger)


@pytest.mark.parametrize(("field", "value"), [("verdict", "maybe"), ("kind", None), ("seed", "x")])
def test_what_does_not_fit_is_one_sentence(tmp_path, field, value):
    row = evaluate(claim(), Conditions(folder=str(tmp_path))) | {field: value}
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps({"claims": [row]}))
    assert field in said("ledger", path, "--form", "rubric", code=2) or field == "verdict"


def test_a_rubric_is_a_tree_whose_leaves_are_the_claims(tmp_path):
    tree = said("ledger", "--form", "rubric")
    leaves = [leaf for branch in tree["sub_tasks"] for leaf in branch["sub_tasks"]]
    assert {leaf["id"] for leaf in leaves} == {row["id"] for row in recorded_rows()}
    assert all(leaf["requirements"] and leaf["weight"] > 0 for leaf in leaves)
    for branch in tree["sub_tasks"]:
        assert branch["weight"] == sum(leaf["weight"] for leaf in branch["sub_tasks"])


def test_only_a_sentence_that_was_read_as_it_stands_is_refuted():
    row = {"verdict": "refuted", "citation": {"reading": "scaled"}}
    assert schema.refutes_paper(row)
    for other in ({"verdict": "holds"}, {"citation": {"reading": "proxy"}}, {"citation": None}):
        assert not schema.refutes_paper(row | other)
