"""The page of a study keeps its word: every claim, row, calculator and figure has its place,
nothing that it names is missing, and its commands answer with the numbers printed below them."""

import pkgutil
import re
import shlex
from decimal import Decimal
from importlib.resources import files

import pytest
from typer.testing import CliRunner

from saccade.cli import app
from saccade.lab import registry
from saccade.report.study import page_text
from saccade.studies import STUDIES

every_study = pytest.mark.parametrize("study", STUDIES)
MODULES = ("theory", "dynamics", "task", "models", "experiments")


def page(study: str) -> str:
    return page_text(STUDIES[study])


def prose(study: str) -> str:
    """What people wrote: without code, and without the table that is made from the claims."""
    written = re.sub(
        r"<!-- items: begin -->.*?<!-- items: end -->", "", page(study), flags=re.DOTALL)
    return re.sub(r"^```.*?^```", "", written, flags=re.MULTILINE | re.DOTALL)


def inline_code(study: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", prose(study)))


def fenced(study: str, language: str) -> list[str]:
    pattern = rf"^```{language}\n(.*?)^```"
    return re.findall(pattern, page(study), flags=re.MULTILINE | re.DOTALL)


@every_study
def test_every_claim_is_named_and_none_is_invented(study):
    claims = {claim.id for claim in registry.claims(study)}
    others = {item.id for item in (*registry.calculators(study), *registry.experiments(study))}
    named = {name for name in inline_code(study) if re.fullmatch(rf"{study}\.[a-z0-9-]+", name)}
    assert claims - named == set() and named - claims - others == set()


@every_study
def test_every_row_of_the_ledger_has_its_place(study):
    rows = set(re.findall(rf"\b{STUDIES[study].prefix}-\w+", prose(study)))
    specs = {row.strip() for claim in registry.claims(study) for row in claim.spec.split(",")}
    assert specs - rows == set() and rows - specs == set()


@every_study
def test_refuted_claims_stand_beside_their_correction(study):
    rows = [line for line in page(study).splitlines() if line.startswith("|")]
    for claim in registry.claims(study):
        if claim.expected == "refuted":
            both = [f"`{claim.id}`" in row and f"`{claim.corrected}`" in row for row in rows]
            assert any(both), claim.id
            said = rf"`{re.escape(claim.id)}`\s+\(expected\s+refuted\)"
            assert re.search(said, page(study)), claim.id


@every_study
def test_every_calculator_has_a_command_and_figures_exist(study):
    for calculator in registry.calculators(study):
        assert f"saccade calc {calculator.id} " in page(study), calculator.id
    figures = set(re.findall(rf"(?<![\w/.]){study}/[a-z0-9][a-z0-9-]*", page(study)))
    drawn = {item.id for item in (*registry.figures(study), *registry.sweeps(study))}
    assert figures and figures - drawn == set()


@every_study
def test_files_and_code_that_are_named_exist(study):
    folder = files(STUDIES[study].package)
    for name in inline_code(study):
        if re.fullmatch(r"[\w/]+\.py", name):
            assert (folder / name).is_file(), name
        elif re.fullmatch(r"[\w.]+", name) and name.split(".")[0] in MODULES:
            pkgutil.resolve_name(f"{STUDIES[study].package}.{name}")


@every_study
def test_python_on_the_page_runs(study):
    namespace: dict = {"__name__": "page"}
    for number, block in enumerate(fenced(study, "python"), 1):
        exec(compile(block, f"page.md, block {number}", "exec"), namespace)


def commands(block: str) -> list[tuple[str, list[str]]]:
    """(command, printed results): continued lines are joined, `# name = value` below a command is
    what it should answer."""
    pairs: list[tuple[str, list[str]]] = []
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith("#") and pairs:
            pairs[-1][1].append(line.removeprefix("#").strip())
        elif line.strip() and not line.startswith("#"):
            pairs.append((line.strip(), []))
    return pairs


def calc_commands() -> list:
    return [
        pytest.param(command, shown, id=command[13:60]) for study in STUDIES
        for block in fenced(study, "sh") for command, shown in commands(block)
        if command.startswith("saccade calc")]


@pytest.mark.parametrize(("command", "shown"), calc_commands())
def test_a_command_answers_as_printed(command, shown):
    result = CliRunner().invoke(app, shlex.split(command.split(" | ")[0].split(" > ")[0])[1:])
    assert result.exit_code == 0, result.output
    answered = dict(line.split(" = ", 1) for line in result.output.splitlines() if " = " in line)
    for name, value in (line.split(" = ", 1) for line in shown if " = " in line):
        assert name in answered and agrees(value, answered[name]), (name, value, answered)


def numbers(text: str) -> list[Decimal]:
    return [Decimal(number) for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


def agrees(shown: str, answered: str) -> bool:
    """Every printed number is the answered one, rounded to the digits that are printed; words are
    the same."""
    if not numbers(shown):
        return shown == answered
    pairs = list(zip(numbers(shown), numbers(answered), strict=False))
    same_count = len(numbers(shown)) == len(numbers(answered))
    return same_count and all(
        abs(a - b) <= Decimal("0.5001").scaleb(int(a.as_tuple().exponent)) for a, b in pairs)


@pytest.mark.parametrize(
    ("shown", "answered", "expected"),
    [
        ("0.63", "0.6297722", True), ("0.64", "0.6297722", False), ("word", "other", False),
        ("[0.1, -2.0]", "[0.1004, -1.96]", True), ("[0.1]", "[0.1, 0.2]", False),
        ("0.00127", "1.2732e-03", True)])
def test_printed_numbers_are_compared_by_their_digits(shown, answered, expected):
    assert agrees(shown, answered) is expected
