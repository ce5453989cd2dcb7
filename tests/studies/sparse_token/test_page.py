"""The page of the study keeps its word: every claim, row, calculator and figure has its place, and
nothing named is missing.
"""

import importlib
import re
from pathlib import Path

from saccade.lab import registry

PAGE = Path(__file__).resolve().parents[3] / "src/saccade/studies/sparse_token/page.md"
STUDY = "sparse-token"


def prose() -> str:
    return re.sub(r"^```.*?^```", "", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)


def inline_code() -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", prose()))


def test_every_claim_is_named_and_none_is_invented():
    claims = {claim.id for claim in registry.claims(STUDY)}
    assert claims - inline_code() == set()
    assert {
        name for name in inline_code() if re.fullmatch(rf"{STUDY}\.[a-z0-9-]+", name)
    } - claims == set()


def test_every_row_of_the_ledger_has_its_place():
    rows = set(re.findall(r"\bST-[A-Z][A-Za-z0-9]*", prose()))
    assert rows == {claim.spec for claim in registry.claims(STUDY)}


def test_every_calculator_is_named_and_shown():
    for calculator in registry.calculators(STUDY):
        assert calculator.id.split(".", 1)[1] in inline_code() | {"oracle-error", "fit"}
        assert f"saccade calc {calculator.id} " in PAGE.read_text(), calculator.id


def test_every_figure_is_named():
    assert set(re.findall(rf"{STUDY}/[a-z0-9]+", PAGE.read_text())) == {
        item.id for item in registry.figures(STUDY)}


def test_refuted_claims_stand_beside_their_correction():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    for claim in registry.claims(STUDY):
        if claim.expected == "refuted":
            assert any(f"`{claim.id}`" in row and f"`{claim.corrected}`" in row for row in rows), (
                claim.id)
            assert re.search(
                rf"`{re.escape(claim.id)}`\s+\(expected\s+refuted\)", PAGE.read_text()), claim.id


def test_code_named_in_the_page_exists():
    for name in inline_code():
        room, *rest = name.split(".")
        if room in ("theory", "dynamics", "task", "models"):
            owner = importlib.import_module(f"saccade.studies.sparse_token.{room}")
            for attribute in rest:
                assert hasattr(owner, attribute), name
                owner = getattr(owner, attribute)
