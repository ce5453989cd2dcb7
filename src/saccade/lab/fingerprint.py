"""What determines a result besides its parameters: the source of the study that computes it, the precision, and JAX's version.

The code version of a study is a hash over the text of every module in the computing rooms, leaving out the files of other studies.
So a changed formula makes every stored run of its study stale, and a change in one study leaves the runs of the others valid.
"""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

from saccade.studies import STUDIES

COMPUTING_ROOMS = ("tasks", "models", "dynamics", "theory", "experiments")
PACKAGE = Path(__file__).resolve().parent.parent


def _belongs(path: Path, study: str) -> bool:
    """Whether a source file can influence `study`: its own files and the shared ones, not those named after another study."""
    names = {part.removesuffix(".py") for part in path.relative_to(PACKAGE).parts}
    others = {other.module for name, other in STUDIES.items() if name != study}
    return not names & others


@cache
def code_version(study: str) -> str:
    """Hash of the source text that `study` computes with."""
    digest = hashlib.sha256()
    for room in COMPUTING_ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            if _belongs(path, study):
                digest.update(str(path.relative_to(PACKAGE)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def environment() -> dict[str, str]:
    """The versions recorded beside every run."""
    names = ("saccade", "jax", "jaxlib", "numpy", "scipy", "equinox", "optax", "scikit-learn")
    return {name: _version(name) for name in names}


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
