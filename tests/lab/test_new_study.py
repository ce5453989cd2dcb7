"""A study of one's own: laid out by the command, found by its entry point, failing until it is
filled in."""

import os
import shutil
import subprocess
import sys
import types
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import saccade
from saccade.errors import InvalidInput
from saccade.lab.new_study import new_study
from saccade.studies import BUILT_IN, STUDIES, built_in, registered

FORMULA = """\"\"\"The formula.\"\"\"
from scipy.special import ndtr


def success(signal):
    return float(ndtr(signal / 2**0.5))
"""
SOURCE = Path(saccade.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
# Tests that go over all studies, whoever brings them.
GENERAL = ("test_contracts.py", "studies/test_every_claim.py", "studies/test_every_page.py")


def fill_in(package: Path) -> None:
    """What the author of a study has to write: the formula, and the paper's name and place."""
    (package / "theory.py").write_text(FORMULA)
    study = (package / "study.py").read_text()
    study = study.replace("The title of the paper", "Mine").replace('venue=""', 'venue="V"')
    (package / "study.py").write_text(study)


def _install(site: Path) -> None:
    """What pip would leave behind: the package on the path and its entry point, without asking a
    registry for anything."""
    info = site / "saccade_my_paper-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: saccade-my-paper\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(
        "[saccade.studies]\nmy-paper = saccade_my_paper.study:STUDY\n")


def _python(folder: Path, places: list[Path], *arguments: str) -> subprocess.CompletedProcess:
    """Python with `places` first on its path."""
    path = os.pathsep.join([*map(str, places), *(place for place in sys.path if place)])
    environment = {**os.environ, "PYTHONPATH": path, "SACCADE_STORE": str(folder / "store")}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def appears_everywhere(folder: Path, places: list[Path]) -> None:
    """In the list, the ledger, the report, among the calculators and in the test of contracts."""
    script = (
        "import saccade; from saccade.lab import registry; from saccade.report import write_report;"
        "from saccade.cli import app; from typer.testing import CliRunner;"
        "listed = CliRunner().invoke(app, ['list', 'my-paper']).stdout;"
        "assert 'my-paper.success' in listed and 'my-paper/success' in listed, listed;"
        "asked = CliRunner().invoke(app, ['calc', 'my-paper.success', 'signal=0']).stdout;"
        "assert asked == 'success = 0.5\\n', asked;"
        "rows = saccade.verify('my-paper', sabotage=True); figures = registry.figures('my-paper');"
        "assert all(row['as_expected'] and row['sabotages_refuted'] for row in rows), rows;"
        "write_report(rows, 'report', scale='quick', seed=0, store=None, figures=figures)")
    reported = _python(folder, places, "-c", script)
    assert reported.returncode == 0, reported.stderr
    pages = [path.read_text() for path in (folder / "report" / "study").glob("*.html")]
    assert any("Mine" in page for page in pages)
    assert "Hard attention looks at" in (folder / "report" / "study" / "my-paper.html").read_text()
    assert (folder / "report" / "figures" / "my-paper.success.png").exists()
    held = _python(
        folder, places, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "my-paper", "-c",
        str(ROOT / "pyproject.toml"), *(str(ROOT / "tests" / name) for name in GENERAL))
    assert held.returncode == 0 and "21 passed" in held.stdout, held.stdout


@pytest.mark.slow
def test_a_new_study_fails_until_it_is_filled_in_and_then_appears_everywhere(tmp_path):
    folder, site = new_study("my-paper", tmp_path), tmp_path / "site"
    places = [folder / "src", site]
    _install(site)
    tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    before = _python(folder, places, *tests)
    assert before.returncode == 1 and "3 failed, 1 passed" in before.stdout, before.stdout
    assert "theory.success: write the formula" in before.stdout

    fill_in(folder / "src" / "saccade_my_paper")
    after = _python(folder, places, *tests)
    assert after.returncode == 0 and "4 passed" in after.stdout, after.stdout
    appears_everywhere(folder, places)


@pytest.mark.slow
def test_a_built_in_study_is_a_folder_and_a_word(tmp_path):
    """Nothing else is edited in a copy of saccade: one folder, one word in BUILT_IN."""
    source = shutil.copytree(
        SOURCE, tmp_path / "saccade", ignore=shutil.ignore_patterns("__pycache__"))
    folder = new_study("my-paper", source / "studies", inside=True)
    fill_in(folder)
    files = sorted(map(str, folder.glob("*.py")))
    for tool in (["tools/format.py"], ["-m", "ruff", "check", "--config", "pyproject.toml"]):
        run = subprocess.run(
            [sys.executable, *tool, *files], cwd=ROOT, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout
    names = source / "studies" / "__init__.py"
    text = names.read_text()
    last = f'"{BUILT_IN[-1]}")'
    assert text.count(last) == 1
    names.write_text(text.replace(last, last.replace(")", ', "my_paper")')))
    appears_everywhere(tmp_path, [tmp_path])


@pytest.mark.parametrize(
    "name", ["My-Paper", "", "a b", "../up", "single-location", "1st", "x" * 300])
def test_names_that_cannot_be_are_refused(name, tmp_path):
    with pytest.raises(InvalidInput, match="name = "):
        new_study(name, tmp_path)
    assert not any(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path):
    new_study("my-paper", tmp_path)
    with pytest.raises(InvalidInput, match="must not exist"):
        new_study("my-paper", tmp_path)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("nowhere_at_all:STUDY", "No module named"),
        ("saccade.studies:GROUP", "not a saccade.studies.Study"),
        ("toy_entry:TAKEN", "already a study")])
def test_a_study_that_cannot_be_used_is_left_out_with_a_warning(value, reason, monkeypatch):
    toy = types.ModuleType("toy_entry")
    toy.TAKEN = next(iter(STUDIES.values()))
    monkeypatch.setitem(sys.modules, "toy_entry", toy)
    with pytest.warns(UserWarning, match=reason):
        studies = registered([*built_in(), EntryPoint("odd", value, "saccade.studies")])
    assert list(studies) == [study for study in STUDIES if "." not in study]
