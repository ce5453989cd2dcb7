"""What determines a result besides its parameters: the source of the study that computes it, the precision, and JAX's version.

The code version of a study is a hash over the text of every module its experiments import, directly or not, anywhere in the
computing rooms. So a changed formula makes every stored run that could depend on it stale, and leaves all other runs valid.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from saccade.studies import STUDIES

COMPUTING_ROOMS = ("tasks", "models", "dynamics", "theory", "experiments")
PACKAGE = Path(__file__).resolve().parent.parent


def _file(module: str) -> Path | None:
    """The source of `saccade.<room>....`, or nothing where it is no module of a computing room."""
    parts = module.split(".")
    if len(parts) < 2 or parts[0] != "saccade" or parts[1] not in COMPUTING_ROOMS:
        return None
    place = PACKAGE.joinpath(*parts[1:])
    return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


def _named(tree: ast.AST) -> Iterator[str]:
    """Every module a source text may import, imports inside functions included; `from a import b` may name the module a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imported_files(path: Path) -> frozenset[Path]:
    """The files of computing rooms that one file imports, with the packages around them."""
    names = set(_named(ast.parse(path.read_bytes())))
    around = {".".join(name.split(".")[:end]) for name in names for end in range(2, name.count(".") + 2)}
    return frozenset(found for name in around if (found := _file(name)))


def _roots(study: str) -> list[tuple[str, Path]]:
    """Where a study starts: its experiments, or every file of the package it comes in, under a name that does not depend on the place."""
    described = STUDIES.get(study)
    if described is None or not described.package:
        module = described.module if described else study.replace("-", "_")
        own = PACKAGE / "experiments" / module
        files = sorted(own.rglob("*.py")) if own.is_dir() else [own.with_suffix(".py")]
        return [(str(path.relative_to(PACKAGE)), path) for path in files if path.is_file()]
    found = find_spec(described.package)
    folders = [Path(place) for place in (found.submodule_search_locations or ())] if found else []
    return [
        (f"{study}/{path.relative_to(folder)}", path) for folder in folders for path in sorted(folder.rglob("*.py"))
    ]


def sources(study: str) -> dict[str, Path]:
    """Every source file `study` computes with, by name."""
    found = dict(_roots(study))
    waiting = list(found.values())
    while waiting:
        for path in imported_files(waiting.pop()):
            name = str(path.relative_to(PACKAGE))
            if name not in found:
                found[name] = path
                waiting.append(path)
    return found


@cache
def code_version(study: str) -> str:
    """Hash of the source text that `study` computes with."""
    digest = hashlib.sha256()
    for name, path in sorted(sources(study).items()):
        digest.update(name.encode() + b"\0" + path.read_bytes())
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
