"""What the studies offer, told without importing them: `saccade list` and the shell's completion
answer at once.

The index of a study holds the descriptions of its claims, figures, calculators and experiments, and
the code version of each experiment and figure. It is kept under a hash of the source that decides
them; an index whose hash is not that of the source in front of us is not believed. Then the study
is imported, and the new index goes to the user's cache folder. `tools/record.py` writes the one
that travels with saccade.
"""

import hashlib
import json
import os
import uuid
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from saccade.errors import unknown
from saccade.studies import STUDIES

KINDS = ("claims", "figures", "calculators", "experiments")
# What the descriptions are made by; the rest of the laboratory, the faces and the record are not.
DESCRIBING = (
    "lab/claim.py", "lab/kinds.py", "lab/experiment.py", "lab/figure.py", "lab/index.py",
    "lab/calculator.py", "lab/fingerprint.py", "lab/registry.py", "lab/vectorised.py")
ELSEWHERE = ("studies", "lab", "report", "cli", "record")
SHIPPED = files("saccade") / "record" / "index"

Index = dict[str, Any]


def listing(study: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """The descriptions of everything offered by one study, or by all in their order."""
    if study is not None and (not isinstance(study, str) or study not in STUDIES):
        raise unknown("study", study, STUDIES)
    indices = [of(name) for name in ([study] if study else STUDIES)]
    return {kind: [item for index in indices for item in index[kind]] for kind in KINDS}


@cache
def of(study: str) -> Index:
    """The index of a study: the shipped one, the cached one, or, if neither fits, a new one."""
    known = at_hand(study)
    if known is None:
        known = make(study)
        _keep(study, known)
    return known


def at_hand(study: str) -> Index | None:
    """The index of a study if there is one that fits its source; imports nothing."""
    wanted = source_hash(study)
    for place in (SHIPPED / f"{study}.json", _cache_file(study)):
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(place.read_text(encoding="utf-8"))
            if found["source"] == wanted:
                return found
    return None


def make(study: str) -> Index:
    """The index of a study, from the study itself: slow, and true."""
    from saccade.lab import registry
    from saccade.lab.fingerprint import version_of

    claims, figures = registry.claims(study), registry.figures(study)
    experiments, calculators = registry.experiments(study), registry.calculators(study)
    return {
        "study": study, "source": source_hash(study),
        "claims": [item.describe() for item in claims],
        "figures": [item.describe() for item in figures],
        "calculators": [item.describe() for item in calculators],
        "experiments": [item.describe() for item in experiments],
        "code": {item.id: version_of(item.function) for item in experiments}
        | {item.experiment.id: version_of(item.experiment.function) for item in claims}
        | {item.id: version_of(item.draw) for item in figures}}


def source_hash(study: str) -> str:
    """Of the study's own source, of what studies share, and of what describes them."""
    home = folder(study)
    return hashlib.sha256(_digest(home, home.rglob("*.py")) + _shared()).hexdigest()[:16]


@cache
def _shared() -> bytes:
    home = Path(str(files("saccade")))
    rooms = [item for item in home.iterdir() if item.is_dir() and item.name not in ELSEWHERE]
    paths = [path for room in rooms for path in room.rglob("*.py")]
    return _digest(home, [*home.glob("*.py"), *paths, *(home / name for name in DESCRIBING)])


def _digest(home: Path, paths: Iterable[Path]) -> bytes:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(home).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.digest()


def folder(study: str) -> Path:
    """Where a study lies, whichever package brings it."""
    found = find_spec(STUDIES[study].package)
    return Path((found.submodule_search_locations or [""])[0]) if found else Path()


def _cache_file(study: str) -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("saccade") / "index" / f"{study}.json"


def _keep(study: str, index: Index) -> None:
    """In the user's cache folder, in one piece; a folder that cannot be written costs only time."""
    place = _cache_file(study)
    part = place.with_name(f".{place.name}-{uuid.uuid4().hex[:8]}")
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(index), encoding="utf-8")
        os.replace(part, place)
