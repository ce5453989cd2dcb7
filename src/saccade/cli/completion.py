"""Names for the shell to complete, read from the source as text: pressing Tab must not import an array library.

Names that a file spells out are found; the few that are put together by a loop are not, and a study's name with a star stands for them.
"""

import re
from collections.abc import Iterator
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
    return [name for name in names if name.startswith(incomplete)]


def figures(incomplete: str) -> list[str]:
    return [name for name in _spelled_out("figures", "/") if name.startswith(incomplete)]


def calculators(incomplete: str) -> list[str]:
    return [name for name in _spelled_out("calculators", ".") if name.startswith(incomplete)]


def benchmarks(incomplete: str) -> list[str]:
    return [name for name in [*STUDIES, *_spelled_out("benchmarks", ".")] if name.startswith(incomplete)]


def scales(incomplete: str) -> list[tuple[str, str]]:
    says = {"quick": "seconds a claim", "standard": "all, within an hour", "paper": "the paper's own parameters"}
    return [(name, text) for name, text in says.items() if name.startswith(incomplete)]


def sweeps(incomplete: str) -> list[str]:
    """The built-in sweeps: single-location-phase.toml is single-location/phase."""
    files = sorted(path.stem for path in (Path(__file__).parents[1] / "sweeps").glob("*.toml"))
    named = [stem.replace(f"{study}-", f"{study}/", 1) for stem in files for study in STUDIES if stem.startswith(study)]
    return [name for name in named if name.startswith(incomplete)]


def _spelled_out(room: str, mark: str) -> list[str]:
    quoted = [name for folder in _folders(room) for file in folder for name in QUOTED.findall(file.read_text("utf-8"))]
    return [name for name in dict.fromkeys(quoted) if name.split(mark)[0] in STUDIES]


def _folders(room: str) -> Iterator[list[Path]]:
    """The source files of one room: ours, and those of studies from other packages."""
    yield sorted((Path(__file__).parents[1] / room).rglob("*.py"))
    for study in STUDIES.values():
        origin = getattr(find_spec(study.package), "origin", None) if study.package else None
        if origin:
            place = Path(origin).parent / room
            yield sorted(place.rglob("*.py")) if place.is_dir() else list(place.parent.glob(f"{room}.py"))
