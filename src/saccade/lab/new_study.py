"""Lays out a study: the folder that every study is, inside saccade or in a package of its own that
saccade finds by an entry point."""

import re
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from saccade.errors import InvalidInput, shown
from saccade.studies import STUDIES

LONGEST_NAME = 60
MODULES = (
    "study", "task", "models", "theory", "experiments", "claims", "figures", "calculators",
    "contracts")


def new_study(name: str, into: str | Path = ".", *, inside: bool = False) -> Path:
    """Write a study called `name`, which must not exist yet: the package `into`/saccade-NAME, or
    with `inside` the folder `into`/NAME of saccade's own (`into` is then saccade/studies)."""
    words = _words(name, inside)
    module = str(words["package"]).rpartition(".")[2]
    folder = Path(into) / (module if inside else f"saccade-{name}")
    if folder.exists():
        raise InvalidInput(f"into = {str(folder)!r} must not exist yet: nothing is overwritten.")
    places = _study_files("" if inside else f"src/{module}/")
    if not inside:
        places |= {
            "pyproject.toml.j2": "pyproject.toml", "README.md.j2": "README.md",
            "test_study.py.j2": f"tests/test_{module}.py"}
    _write(folder, places, words)
    return folder


def _words(name: str, inside: bool) -> dict[str, object]:
    """What the templates need to know."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > LONGEST_NAME:
        raise InvalidInput(
            f"name = {shown(name)} must be lower-case words joined by hyphens, such as"
            f" sparse-patches, of at most {LONGEST_NAME} characters.")
    if name in STUDIES:
        raise InvalidInput(f"name = {name!r} must be new: there is a study of that name already.")
    return {
        "name": name,
        "package": ("saccade.studies." if inside else "saccade_") + name.replace("-", "_"),
        "prefix": "".join(word[0] for word in name.split("-")).upper(),
        "year": datetime.now(UTC).year, "inside": inside}


def _study_files(folder: str) -> dict[str, str]:
    """Where each template of a study's folder goes."""
    modules = {f"{module}.py.j2": f"{folder}{module}.py" for module in MODULES}
    return modules | {"init.py.j2": f"{folder}__init__.py", "page.md.j2": f"{folder}page.md"}


def _write(folder: Path, places: dict[str, str], words: dict[str, object]) -> None:
    # The templates write Python and TOML, not HTML: there is nothing to escape, and the words were
    # checked above.
    templates = Environment(
        loader=PackageLoader("saccade.lab", "skeleton"), undefined=StrictUndefined,
        keep_trailing_newline=True)
    try:
        for template, place in places.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(templates.get_template(template).render(words), encoding="utf-8")
    except OSError as problem:
        raise InvalidInput(
            f"into = {str(folder.parent)!r} cannot be written ({(problem.strerror or '').lower()})."
        ) from None
