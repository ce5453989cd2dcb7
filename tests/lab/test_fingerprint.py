"""What makes a stored number stale: the source that computed it, and nothing else."""

import sys

import pytest

from saccade.lab import fingerprint
from saccade.lab.calculator import calculator
from saccade.lab.fingerprint import code_version, sources
from saccade.lab.sweep.target import resolve

FILES = {
    "__init__": "", "theory": "from pack.shared import FACTOR", "shared": "FACTOR = 2.0",
    "errors": "LIMIT = 1", "figures": "from pack import theory\nCAPTION = 'a line'",
    "experiments": "from saccade.lab.experiment import experiment\nimport pack.task",
    "task": "from pack.errors import LIMIT\nimport saccade.gaussian",
    "calculators": "def risk():\n    from . import theory"}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A study from outside, on the path; `forget` lets changes of its files be seen."""
    folder = tmp_path / "pack"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    sys.modules.pop("pack", None)
    forget()


def forget() -> None:
    for function in (fingerprint._folder, fingerprint._file, fingerprint._imported, code_version):
        function.cache_clear()


def version_after(package, changed: str, of: str) -> bool:
    """Whether a change of one file changes the version of a module."""
    forget()
    before = code_version(f"pack.{of}")
    with (package / f"{changed}.py").open("a") as file:
        file.write("# changed\n")
    forget()
    return code_version(f"pack.{of}") != before


@pytest.mark.parametrize(
    ("changed", "of", "stale"),
    [
        ("theory", "calculators", True), ("shared", "calculators", True),
        ("figures", "calculators", False), ("task", "calculators", False),
        ("task", "experiments", True), ("errors", "experiments", True),
        ("figures", "experiments", False), ("theory", "experiments", False)])
def test_a_change_makes_stale_what_computes_with_it_and_nothing_else(package, changed, of, stale):
    assert version_after(package, changed, of) == stale


def test_shared_rooms_count_and_the_laboratory_does_not(package):
    forget()
    names = set(sources("pack.experiments"))
    assert "saccade.gaussian" in names and "saccade.errors" not in names
    assert not any(name.startswith("saccade.lab") for name in names)


def test_sweeps_over_a_calculator_follow_its_formulas():
    """Not only the file with the calculators: the theory that it asks is in the version too."""
    target = resolve("calc:single-location.risk")
    names = sources("saccade.studies.single_location.calculators")
    assert target.code == code_version("saccade.studies.single_location.calculators")
    assert any(name.startswith("saccade.studies.single_location.theory") for name in names)
    assert "saccade.gaussian" in names


def test_a_calculator_is_versioned_by_the_module_that_defines_it():
    @calculator("toy.double", outputs={"double": "2 x"}, source="ours", example={"x": 1.0})
    def double(x: float):
        """Twice."""
        return {"double": 2 * x}

    assert double.function.__module__ == __name__ and double({"x": 1.5}) == {"double": 3.0}
