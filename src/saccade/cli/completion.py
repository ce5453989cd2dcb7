"""Names for the shell to complete, from the index: pressing Tab must not import an array library.

Where no index fits the source, names are read from the source as text: those that a file spells out
are found, the few that are put together by a loop are not, and a study's name with a star stands
for them.
"""

import re

from saccade.lab import index, registry
from saccade.studies import STUDIES

QUOTED = re.compile(r"\"([a-z0-9][a-z0-9-]*[./][a-z0-9][a-z0-9.-]*)\"")


def studies(incomplete: str) -> list[tuple[str, str]]:
    """The studies, each with its question."""
    return [(name, study.asks) for name, study in STUDIES.items() if name.startswith(incomplete)]


def claims(incomplete: str) -> list[str]:
    """Claims, studies, and all claims of a study."""
    names = [*STUDIES, *(f"{name}.*" for name in STUDIES), *_known("claims", ".")]
    return _beginning(incomplete, names)


def anything(incomplete: str) -> list[str]:
    """Whatever `saccade list` can tell about."""
    kinds = {"claims": ".", "figures": "/", "calculators": ".", "experiments": "."}
    names = [name for kind, mark in kinds.items() for name in _known(kind, mark)]
    return _beginning(incomplete, [*STUDIES, *dict.fromkeys(names)])


def figures(incomplete: str) -> list[str]:
    return _beginning(incomplete, _known("figures", "/"))


def calculators(incomplete: str) -> list[str]:
    return _beginning(incomplete, _known("calculators", "."))


def benchmarks(incomplete: str) -> list[str]:
    """Those of the studies; a star stands for all of a room outside them."""
    shared = [f"{room.split('.')[1]}.*" for room in registry.SHARED]
    return _beginning(incomplete, [*STUDIES, *_spelled_out("benchmarks", ".", [*STUDIES]), *shared])


def scales(incomplete: str) -> list[tuple[str, str]]:
    says = {
        "quick": "seconds a claim", "standard": "all, within an hour",
        "paper": "the paper's own parameters"}
    return [(name, text) for name, text in says.items() if name.startswith(incomplete)]


def sweeps(incomplete: str) -> list[str]:
    """The built-in sweeps: phase.toml of single-location is single-location/phase."""
    named = [
        f"{name}/{path.stem}" for name in STUDIES
        for path in sorted(index.folder(name).glob("*.toml"))
        if path.stem not in ("mutants", "items")]
    return _beginning(incomplete, named)


def _beginning(incomplete: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _known(kind: str, mark: str) -> list[str]:
    """Names of one kind by the index of each study, else by its source."""
    names: list[str] = []
    for study in STUDIES:
        known = index.at_hand(study)
        names += (
            [item["id"] for item in known[kind]] if known else _spelled_out(kind, mark, [study]))
    return names


def _spelled_out(room: str, mark: str, studies: list[str]) -> list[str]:
    places = [index.folder(study) / room for study in studies]
    files = [
        file for place in places
        for file in (*sorted(place.rglob("*.py")), place.with_suffix(".py")) if file.is_file()]
    quoted = [name for file in files for name in QUOTED.findall(file.read_text("utf-8"))]
    return [name for name in dict.fromkeys(quoted) if name.split(mark)[0] in STUDIES]
