"""The page of the study names every claim, row, calculator and figure of its study, and no other;
its commands print its numbers."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from saccade.lab import registry

CALCULATORS = registry.calculators("sparse-recovery")
CLAIMS = registry.claims("sparse-recovery")
FIGURES = registry.figures("sparse-recovery")


FOLDER = Path(__file__).resolve().parents[3] / "src/saccade/studies/sparse_recovery"
PAGE = (FOLDER / "page.md").read_text()
PROSE = re.sub(r"^```.*?^```", "", PAGE, flags=re.MULTILINE | re.DOTALL)
NAMED = set(re.findall(r"`([^`\n]+)`", PROSE))
BY_NAME = {item.id: item for item in CALCULATORS}
COMMANDS = re.findall(
    r"^saccade calc (sparse-recovery\.[^\n]+)\n# (\w+) = ([^\n]+)", PAGE, flags=re.MULTILINE)


def test_every_claim_is_named_and_none_is_invented():
    named = {name for name in NAMED if re.fullmatch(r"sparse-recovery\.[a-z0-9-]+", name)}
    assert {claim.id for claim in CLAIMS} - named == set()
    assert named - {claim.id for claim in CLAIMS} - set(BY_NAME) == set()


def test_files_on_the_page_exist():
    files = {name for name in NAMED if name.endswith(".py")}
    assert files and all((FOLDER / name).is_file() for name in files)


def test_every_row_of_the_ledger_has_its_heading():
    rows = {
        row for line in PAGE.splitlines() if line.startswith("#")
        for row in re.findall(r"\bSR-\w+", line)}
    assert rows == {claim.spec for claim in CLAIMS}


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if claim.expected == "refuted"], ids=lambda claim: claim.id)
def test_refuted_claims_stand_beside_their_correction(claim):
    rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert any(f"`{claim.id}`" in row and f"`{claim.corrected}`" in row for row in rows)
    assert re.search(rf"`{re.escape(claim.id)}`\s+\(expected\s+refuted\)", PAGE)


def test_every_calculator_has_a_command_and_every_figure_its_name():
    assert all(f"saccade calc {calculator.id} " in PAGE for calculator in CALCULATORS)
    assert {figure.id for figure in FIGURES} == set(
        re.findall(r"`(sparse-recovery/[a-z0-9-]+)`", PAGE))


@pytest.mark.parametrize(("command", "output", "value"), COMMANDS)
def test_numbers_on_the_page_are_what_the_commands_print(command, output, value):
    name, *pairs = shlex.split(command)
    inputs = {key: json.loads(text) for key, text in (pair.split("=", 1) for pair in pairs)}
    got = BY_NAME[name](inputs)[output]
    np.testing.assert_allclose(got, json.loads(value), rtol=2e-5, atol=1e-9)
