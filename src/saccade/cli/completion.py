"""Names for the shell to complete, read from the source as text: pressing Tab must not import an
array library.

Names that a file spells out are found; the few that are put together by a loop are not, and a
study's name with a star stands for them.
"""

import re
from importlib.util import find_spec
from pathlib import Path

from saccade.studies import STUDIES

QUOTED = re.compile(r"\"([a-z0-9][a-z0-9-]*[./][a-z0-9][a-z0-9.-]*)\"")


def studies(incomplete: str) -> list[tuple[str, str]]:
    """The studies, each with its question."""
    return [(name, study.asks) for name, study in STUDIES.items() if name.startswith(incomplete)]


def claims(incomplete: str) -> list[str]:
    """Claims, studies, and all claims of a study."""
    names = [*STUDIES, *(f"{name}.*" for name in STUDIES), *_spelled_out("claims", ".")]
    return _beginning(incomplete, names)


def figures(incomplete: str) -> list[str]:
    return _beginning(incomplete, _spelled_out("figures", "/"))


def calculators(incomplete: str) -> list[str]:
    return _beginning(incomplete, _spelled_out("calculators", "."))


def benchmarks(incomplete: str) -> list[str]:
    return _beginning(incomplete, [*STUDIES, *_spelled_out("benchmarks", ".")])


def scales(incomplete: str) -> list[tuple[str, str]]:
    says = {
        "quick": "seconds a claim", "standard": "all, within an hour",
        "paper": "the paper's own parameters"}
    return [(name, text) for name, text in says.items() if name.startswith(incomplete)]


def sweeps(incomplete: str) -> list[str]:
    """The built-in sweeps: phase.toml of single-location is single-location/phase."""
    named = [
        f"{name}/{path.stem}" for name in STUDIES for path in sorted(_folder(name).glob("*.toml"))]
    return _beginning(incomplete, named)


def _beginning(incomplete: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _spelled_out(room: str, mark: str) -> list[str]:
    places = [_folder(study) / room for study in STUDIES]
    files = [
        file for place in places
        for file in (*sorted(place.rglob("*.py")), place.with_suffix(".py")) if file.is_file()]
    quoted = [name for file in files for name in QUOTED.findall(file.read_text("utf-8"))]
    return [name for name in dict.fromkeys(quoted) if name.split(mark)[0] in STUDIES]


def _folder(study: str) -> Path:
    """Where a study lies, whichever package brings it."""
    found = find_spec(STUDIES[study].package)
    return Path((found.submodule_search_locations or [""])[0]) if found else Path()
