"""The study's page keeps its word: blocks run, commands answer with the numbers printed below them,
every claim has its place.

The formulas that it prints are written out here once more, from the page and
with SciPy, and compared with the library.
"""

import json
import pkgutil
import re
import shlex
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from scipy.special import erf, owens_t
from typer.testing import CliRunner

from saccade.lab import registry

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "src" / "saccade" / "studies" / "single_location" / "page.md"
STUDY = "single-location"


def fenced(language: str) -> list[str]:
    """The contents of the fenced blocks of one language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)


def commands(block: str) -> list[tuple[str, list[str]]]:
    """(command, printed results): continued lines are joined, `# name = value` below a command is
    what it should answer."""
    found: list[tuple[str, list[str]]] = []
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith("#"):
            if found:
                found[-1][1].append(line.removeprefix("#").strip())
        elif line.strip():
            found.append((line.strip(), []))
    return found


def numbers(text: str) -> list[Decimal]:
    return [Decimal(number) for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


def agrees(shown: str, answered: str) -> bool:
    """Every printed number is the answered one, rounded to the digits that are printed."""
    pairs = list(zip(numbers(shown), numbers(answered), strict=False))
    same_count = len(numbers(shown)) == len(numbers(answered)) > 0
    return same_count and all(
        abs(a - b) <= Decimal("0.5001").scaleb(int(a.as_tuple().exponent)) for a, b in pairs)


def calc_commands() -> list[tuple[str, list[str]]]:
    every = [pair for block in fenced("sh") for pair in commands(block)]
    return [(command, shown) for command, shown in every if command.startswith("saccade calc")]


@pytest.mark.parametrize(
    ("shown", "answered", "expected"),
    [
        ("0.63", "0.6297722", True), ("0.64", "0.6297722", False),
        ("[0.1, -2.0]", "[0.1004, -1.96]", True), ("[0.1]", "[0.1, 0.2]", False),
        ("0.00127", "1.2732e-03", True)])
def test_printed_numbers_are_compared_by_their_digits(shown, answered, expected):
    assert agrees(shown, answered) is expected


def test_python_blocks_run():
    namespace: dict = {"__name__": "page"}
    for number, block in enumerate(fenced("python"), 1):
        exec(compile(block, f"page.md, block {number}", "exec"), namespace)


def test_calculator_commands_answer_as_printed():
    from saccade.cli import app

    for command, shown in calc_commands():
        arguments = shlex.split(command.split(" | ")[0].split(" > ")[0])[1:]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"{command}\n{result.output}"
        answered = dict(
            line.split(" = ", 1) for line in result.output.splitlines() if " = " in line)
        for name, value in (line.split(" = ", 1) for line in shown if " = " in line):
            assert name in answered, f"{command} does not give {name!r}"
            assert agrees(value, answered[name]), (
                f"{command}: {name} = {answered[name]}, printed is {value}")


def test_the_page_prints_results_to_compare():
    assert sum(len(shown) for _, shown in calc_commands()) >= 20


def inline_code() -> set[str]:
    return set(re.findall(
        r"`([^`\n]+)`",
        re.sub(r"^```.*?^```", "", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)))


def test_every_claim_is_named():
    assert {claim.id for claim in registry.claims(STUDY)} - inline_code() == set()


def test_no_claim_is_invented():
    offered = {
        item.id for items in (registry.claims(STUDY), registry.calculators(STUDY)) for item in items
    }
    named = {name for name in inline_code() if re.fullmatch(rf"{STUDY}\.[a-z0-9-]+", name)}
    assert named - offered == set()


def test_refuted_claims_are_said_to_be_and_stand_beside_their_correction():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    for claim in registry.claims(STUDY):
        if claim.expected == "refuted":
            assert any(f"`{claim.id}`" in row and f"`{claim.corrected}`" in row for row in rows), (
                claim.id)
            assert re.search(
                rf"`{re.escape(claim.id)}`\s+\(expected\s+refuted\)", PAGE.read_text()), claim.id


def test_every_row_of_the_ledger_has_its_place():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith(("#", "|"))]
    rows = {row for line in lines for row in re.findall(r"\bSL-\w+", line)}
    assert {claim.spec for claim in registry.claims(STUDY)} - rows == set()
    assert rows - {claim.spec for claim in registry.claims(STUDY)} == set()


def test_every_calculator_is_named():
    short = {calculator.id.split(".", 1)[1] for calculator in registry.calculators(STUDY)}
    assert short - inline_code() == set()
    assert all(f"saccade calc {STUDY}.{name} " in PAGE.read_text() for name in short)


def test_figures_and_rows_in_commands_exist():
    text = PAGE.read_text()
    figures = set(re.findall(rf"{STUDY}/[a-z0-9]+", text))
    assert figures <= {figure.id for figure in registry.figures(STUDY)}
    assert figures >= {
        f"{STUDY}/{name}" for name in ("1b", "4a", "4b", "5", "7a", "7b", "basins", "outcomes")}
    for pattern in re.findall(r"`saccade verify ([^` ]+)", text):
        assert registry.find_claims([pattern])


def test_modules_and_functions_named_as_code_exist():
    rooms = ("theory", "dynamics", "task", "models", "experiments")
    named = [name for name in inline_code() if name.split(".")[0] in rooms]
    assert len(named) > 20
    for name in named:
        pkgutil.resolve_name(f"saccade.studies.single_location.{name}")


def risk_of_the_page(o, setting) -> tuple[float, list[float]]:
    """The risk and its five slopes as printed under SL-P15, letter by letter."""
    d, L, lam, gamma, eps = setting
    mu, s, g = np.sqrt(d / 2), (lam * gamma) ** 2, lam * gamma**2
    w, z, t = np.sqrt(1 + 2 * s), np.sqrt(1 + 4 * s), lam * mu * o.kappa
    x, P = t / w, 4 / (np.pi * z) * np.exp(-2 * (t / z) ** 2)
    e = 2 / np.sqrt(np.pi) * np.exp(-x * x)
    M, M1, M2, M3 = erf(x), e / w, -2 * x * e / w**2, (4 * x * x - 2) * e / w**3
    Z, Z1 = 1 - 8 * owens_t(np.sqrt(2) * abs(t) / w, 1 / z), 2 / w * erf(t / (w * z)) * e
    Z2 = 2 / w**2 * (P - t * Z1)
    Z3 = 2 / w**2 * (-4 * t / z**2 * P - Z1 - t * Z2)
    C = 2 * lam / np.sqrt(np.pi * (1 + 2 * lam**2))
    D = 8 * lam**2 / (np.pi * (1 + 2 * lam**2) * np.sqrt(1 + 4 * lam**2))
    zeta0 = 2 / np.pi * np.arcsin(2 * lam**2 / (1 + 2 * lam**2))
    _, nu, theta, eta, rho = o
    risk = eps**2 + gamma**2 - 2 * (gamma**2 * nu * M + g * eta * (mu * theta * M1 + g * rho * M2))
    risk += (mu**2 * theta**2 + gamma**2) * Z + 2 * mu * theta * g * rho * Z1 + g**2 * rho**2 * Z2
    risk += (L - 1) * (
        zeta0 + D * rho**2 + (L - 2) * C**2 * rho**2 + 2 * C * rho * (mu * theta * M + g * rho * M1)
    )
    in_kappa = -2 * (gamma**2 * nu * M1 + g * eta * (mu * theta * M2 + g * rho * M3))
    in_kappa += (
        (mu**2 * theta**2 + gamma**2) * Z1 + 2 * mu * theta * g * rho * Z2 + g**2 * rho**2 * Z3)
    in_kappa += 2 * (L - 1) * C * rho * (mu * theta * M1 + g * rho * M2)
    in_theta = 2 * mu * (mu * theta * Z + g * (rho * Z1 - eta * M1) + (L - 1) * C * rho * M)
    in_eta = -2 * g * (mu * theta * M1 + g * rho * M2)
    in_rho = 2 * g * (mu * theta * Z1 + g * rho * Z2 - g * eta * M2)
    in_rho += (
        2 * (L - 1) * (D * rho + (L - 2) * C**2 * rho + C * (mu * theta * M + 2 * g * rho * M1)))
    return risk, [lam * mu * in_kappa, -2 * gamma**2 * M, in_theta, in_eta, in_rho]


def test_the_printed_risk_and_slopes_are_the_library_s():
    from saccade.studies.single_location import theory

    rng = np.random.default_rng(5)
    for k, v in rng.normal(size=(60, 2, 5)):
        k, v = k / np.linalg.norm(k), v / np.linalg.norm(v)
        at = theory.Overlaps(k[0], v[1], v[0], k[1], k @ v)
        sizes = (
            int(rng.integers(2, 400)), int(rng.integers(1, 30)), float(np.exp(rng.uniform(-4, 1))))
        setting = theory.Setting(*sizes, rng.uniform(0.3, 1.5), rng.uniform(0, 0.5))
        risk, slopes = risk_of_the_page(at, setting)
        assert abs(risk - float(theory.risk(at, setting))) <= 1e-12 * max(1.0, risk)
        gap = np.max(np.abs(np.array(slopes) - np.array(theory.risk_gradient(at, setting))))
        assert gap <= 1e-12 * max(1.0, np.max(np.abs(slopes)))


def test_runs_part_past_the_edge_of_stability_and_not_before():
    """The trap on the page: 30 starts and their neighbours 1e-12 away, 1000 steps of the schedule
    of Figure 4a."""
    import jax

    from saccade.studies.single_location import dynamics

    first = dynamics.sphere_overlaps(jax.random.key(0), 400, 30)
    neighbours = first._replace(kappa=first.kappa + 1e-12)
    gaps = []
    for step_size in (4e-3, 2e-3):
        ends = [
            dynamics.overlap_trajectory(
                start, dynamics.Setting(400, 10, 1.0), step_size, 1000, decay=1e-4).final
            for start in (first, neighbours)]
        gaps.append(np.max(np.abs(np.array(ends[0]) - np.array(ends[1]))))
    assert 1e-3 < gaps[0] < 1 and gaps[1] < 1e-10


def test_calculator_examples_of_the_page_are_json():
    """Every input on the page is a number, a word or a list: what another language would send."""
    for command, _ in calc_commands():
        for pair in shlex.split(command)[3:]:
            name, value = pair.split("=", 1)
            assert name.isidentifier()
            assert value.isalpha() or json.loads(value) is not None
