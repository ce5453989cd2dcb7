"""Names for the shell to complete, read from the source as text: pressing Tab must not import an array library.

Names that a file spells out are found; the few that are put together by a loop are not, and a study's name with a star stands for them.
"""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from saccade.studies import STUDIES, Study

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
    found: dict[str, None] = {}
    for name, study in STUDIES.items():
        for file in _files(study, room):
            quoted = QUOTED.findall(file.read_text(encoding="utf-8"))
            found |= dict.fromkeys(item for item in quoted if item.startswith(name + mark))
    return list(found)


def _files(study: Study, room: str) -> Iterator[Path]:
    """The source of one room of a study: a file or a folder of that name."""
    if study.package:
        origin = getattr(find_spec(study.package), "origin", None)
        place = Path(origin).parent / room if origin else Path("/nowhere")
    else:
        place = Path(__file__).parents[1] / room / study.module
    yield from sorted(place.rglob("*.py")) if place.is_dir() else filter(Path.is_file, [place.with_suffix(".py")])
