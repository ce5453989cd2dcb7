"""Lays out a study of one's own: a package with task, theory, experiment, claim, figure and
calculator, found by its entry point."""

import re
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from saccade.errors import InvalidInput
from saccade.studies import STUDIES

ROOMS = ("tasks", "theory", "experiments", "claims", "figures", "calculators")


def _words(name: str) -> dict[str, object]:
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise InvalidInput(
            f"name = {name!r} must be lower-case words joined by hyphens, such as sparse-patches.")
    if name in STUDIES:
        raise InvalidInput(f"name = {name!r} must be new: there is a study of that name already.")
    package = f"saccade_{name.replace('-', '_')}"
    prefix = "".join(word[0] for word in name.split("-")).upper()
    year = datetime.now(UTC).year
    return {
        "name": name, "distribution": f"saccade-{name}", "package": package, "prefix": prefix,
        "year": year}


def _files(package: str) -> dict[str, str]:
    """Where each template goes."""
    rooms = {f"{room}.py.j2": f"src/{package}/{room}.py" for room in ROOMS}
    return rooms | {
        "package.py.j2": f"src/{package}/__init__.py", "pyproject.toml.j2": "pyproject.toml",
        "README.md.j2": "README.md", "test_study.py.j2": f"tests/test_{package}.py"}


def new_study(name: str, into: str | Path = ".") -> Path:
    """Write the skeleton of study `name` to `into`/saccade-NAME, a folder that must not exist
    yet."""
    words = _words(name)
    folder = Path(into) / str(words["distribution"])
    if folder.exists():
        raise InvalidInput(f"into = {str(folder)!r} must not exist yet: nothing is overwritten.")
    # The templates write Python and TOML, not HTML: there is nothing to escape, and the words were
    # checked above.
    made = Environment(
        loader=PackageLoader("saccade.lab", "skeleton"), undefined=StrictUndefined,
        keep_trailing_newline=True)
    try:
        for template, place in _files(str(words["package"])).items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made.get_template(template).render(words), encoding="utf-8")
    except OSError as problem:
        raise InvalidInput(
            f"into = {str(into)!r} cannot be written ({(problem.strerror or '').lower()})."
        ) from None
    return folder
