"""docs/group-sparse.md names every claim, row, calculator and figure of its study, and no other."""

import re
from pathlib import Path

import pytest

from saccade.lab import registry

CALCULATORS = registry.calculators("group-sparse")
CLAIMS = registry.claims("group-sparse")
FIGURES = registry.figures("group-sparse")


PAGE = (
    Path(__file__).resolve().parents[3] / "src/saccade/studies/group_sparse/page.md").read_text()
PROSE = re.sub(r"^```.*?^```", "", PAGE, flags=re.MULTILINE | re.DOTALL)
NAMED = set(re.findall(r"`([^`\n]+)`", PROSE))


def test_every_claim_is_named_and_none_is_invented():
    named = {name for name in NAMED if re.fullmatch(r"group-sparse\.[a-z0-9-]+", name)}
    assert {claim.id for claim in CLAIMS} - named == set()
    assert (
        named - {claim.id for claim in CLAIMS} - {calculator.id for calculator in CALCULATORS}
        == set())


def test_every_row_of_the_ledger_has_its_heading():
    rows = {
        row for line in PAGE.splitlines() if line.startswith("#")
        for row in re.findall(r"\bGS-\w+", line)}
    assert rows == {claim.spec for claim in CLAIMS}


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if claim.expected == "refuted"], ids=lambda claim: claim.id)
def test_refuted_claims_stand_beside_their_correction(claim):
    rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert any(f"`{claim.id}`" in row and f"`{claim.corrected}`" in row for row in rows)
    assert re.search(rf"`{re.escape(claim.id)}`\s+\(expected\s+refuted\)", PAGE)


def test_every_calculator_has_a_command_and_every_figure_its_name():
    assert all(f"saccade calc {calculator.id} " in PAGE for calculator in CALCULATORS)
    assert {figure.id for figure in FIGURES} == set(re.findall(r"group-sparse/[a-z]+", PAGE))
