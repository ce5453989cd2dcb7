"""The house itself: light imports, small files, nothing of the machine it was built on, versions
that agree."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from saccade.studies import BUILT_IN

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "saccade"
HEAVY = (
    "jax", "scipy", "xarray", "matplotlib", "sklearn", "plotly", "numpy", "pandas", "dask",
    "equinox")
LINE_LIMIT = 400
# Written so that this file does not match itself.
MACHINE_PATHS = re.compile(
    r"(?<![\w.~:/-])/(?:r[o]ot|w[o]rk|o[p]t|t[m]p|U[s]ers|h[o]me/\w+)(?:/|\b(?=['\" ]))")
REGISTRIES = re.compile(
    r"pytho[n]hosted\.|py[p]i\.org/simple|registr[y]\.npmjs|extra-inde[x]-url|inde[x]-url")


def tracked_files() -> list[Path]:
    """Every text file of the project: git's list, or all of the folders when there is no usable
    repository."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    else:
        folders = ("src", "tests", "tools", "docs", ".ci")
        paths = [
            path for folder in folders for path in (ROOT / folder).rglob("*")
            if "__pycache__" not in path.parts]
        paths += [path for path in ROOT.iterdir() if path.name != ".git"]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:4096]]


def python_modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def lines_matching(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in tracked_files():
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    return found


def heavy_modules_after(statement: str) -> list[str]:
    """Which heavy libraries a fresh interpreter holds after `statement`."""
    code = f"import sys\n{statement}\nprint(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()[-1].split()


def test_importing_saccade_is_light():
    assert heavy_modules_after("import saccade") == []


def test_the_detector_sees_a_heavy_import():
    assert "numpy" in heavy_modules_after("import numpy")


@pytest.mark.parametrize("arguments", [["--help"], ["verify", "--help"], ["list", "--help"]])
def test_help_answers_without_jax(arguments):
    statement = (
        "from typer.testing import CliRunner\nfrom saccade.cli import app\nresult ="
        f" CliRunner().invoke(app, {arguments!r})\nassert result.exit_code == 0, result.output")
    assert heavy_modules_after(statement) == []


def test_the_command_is_installed_or_runnable():
    code = "import sys; sys.argv = ['saccade', '--help']; from saccade.cli import app; app()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "verify" in run.stdout


def test_no_file_is_longer_than_a_reader_can_hold():
    """The table of a page that is made from the claims does not count."""
    kinds = {".py", ".md", ".sh", ".toml", ".html", ".css", ".js"}
    readable = [path for path in tracked_files() if path.suffix in kinds]
    made = re.compile(r"<!-- items: begin -->.*?<!-- items: end -->", re.DOTALL)
    sizes = {
        str(path.relative_to(ROOT)): len(made.sub("", path.read_text()).splitlines())
        for path in readable}
    assert {name: size for name, size in sizes.items() if size > LINE_LIMIT} == {}


def test_nothing_names_the_machine_it_was_built_on():
    assert lines_matching(MACHINE_PATHS) == []


def test_nothing_names_a_package_registry():
    assert lines_matching(REGISTRIES) == []


@pytest.mark.parametrize(
    ("pattern", "line", "expected"),
    [
        (MACHINE_PATHS, "see /" + "work/thing", True), (MACHINE_PATHS, "'/" + "root/x'", True),
        (MACHINE_PATHS, "'/" + "tmp'", True),
        (MACHINE_PATHS, "https://example.org/work/x and src/opt/y and ../home/page", False),
        (REGISTRIES, "--extra-inde" + "x-url=x", True),
        (REGISTRIES, "from the PyPI package", False)])
def test_the_patterns_see_what_they_should(pattern, line, expected):
    assert bool(pattern.search(line)) is expected


def test_every_module_says_what_it_is_for():
    silent = [
        str(p.relative_to(ROOT)) for p in python_modules()
        if not ast.get_docstring(ast.parse(p.read_text()))]
    assert silent == []


def test_lines_fit_on_a_page():
    lines = [line for path in python_modules() for line in path.read_text().splitlines()]
    assert sum(len(line) > 100 for line in lines) <= 0.01 * len(lines)


def test_nothing_outside_a_study_names_it():
    """A study is one folder: what serves it alone lies in it, and nothing else knows its name."""
    names = [name for name in BUILT_IN if (SOURCE / "studies" / name).is_dir()]
    assert len(names) == len(BUILT_IN) >= 5
    outside = [path for path in python_modules() if SOURCE / "studies" not in path.parents]
    named = re.compile(r"\b(" + "|".join(names) + r")\b")
    assert [str(path) for path in outside if named.search(_code(path))] == []
    # Help of the command line may give examples.
    spoken = re.compile(r"\b(" + "|".join(name.replace("_", "-") for name in names) + r")\b")
    silent = [path for path in outside if SOURCE / "cli" not in path.parents]
    assert [str(path) for path in silent if spoken.search(_code(path))] == []


def _code(path: Path) -> str:
    """The source without docstrings and comments, which may give examples."""
    return ast.unparse(_without_docstrings(ast.parse(path.read_text())))


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
    return tree


def test_no_study_imports_another():
    for name in BUILT_IN:
        others = "|".join(other for other in BUILT_IN if other != name)
        for path in (SOURCE / "studies" / name).rglob("*.py"):
            assert not re.search(rf"saccade\.studies\.({others})\b", path.read_text()), path


def test_functions_fit_on_a_screen():
    long = []
    for path in python_modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= 60:
                long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert long == []


def declared_requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    return [
        Requirement(line)
        for line in [*project["dependencies"], *(line for extra in extras for line in extra)]]


def constraints() -> dict[str, str]:
    lines = [
        line for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in lines), (
        "only exact versions, no addresses")
    return dict(line.split("==") for line in lines)


@pytest.mark.parametrize("requirement", declared_requirements(), ids=lambda r: r.name)
def test_every_requirement_is_pinned_within_its_bounds(requirement):
    version = constraints().get(canonicalize_name(requirement.name))
    assert version is not None, f"{requirement.name} has no line in constraints.txt"
    assert requirement.specifier.contains(version), f"{requirement} excludes the pinned {version}"


def test_the_version_is_written_once():
    import saccade

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert saccade.__version__ == project["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.browser
def test_a_page_opens(page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(
        "<p id='x'></p><script>document.getElementById('x').textContent = 6 * 7</script>")
    page.goto(path.as_uri())
    assert page.inner_text("#x") == "42"
