"""What determines a result besides its parameters: the source that computes it, the precision, and
JAX's version.

The code version of a function is a hash over the text of the module that defines it and of every
module that one imports, directly or not, in its own package and in saccade. So a changed formula
makes every stored run that could depend on it stale, and leaves all other runs valid. Experiments,
calculators, cells of sweeps and studies of other packages are all treated alike.
"""

import ast
import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from saccade.studies import STUDIES

# These carry numbers about, print them or describe papers; none of them makes a number.
NO_NUMBERS = ("api", "cli", "errors", "lab", "report")


def _computes(module: str, root: str) -> bool:
    """Whether a change of this module may change a number of a module of the package `root`."""
    package, _, rest = module.partition(".")
    if package == "saccade":
        return bool(rest) and rest.split(".")[0] not in NO_NUMBERS and rest != "studies"
    return package == root


@cache
def _folder(root: str) -> Path | None:
    found = find_spec(root)
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]) if places else None


@cache
def _file(module: str) -> Path | None:
    """The source of a module; nothing where the name is an attribute, or of no package."""
    root, *rest = module.split(".")
    folder = _folder(root)
    if folder is None:
        found = find_spec(root)
        return Path(found.origin) if found and found.origin and not rest else None
    place = folder.joinpath(*rest)
    return next(
        (path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None
    )


def _named(path: Path, module: str) -> Iterator[str]:
    """Every module a source text may import, imports inside functions included; `from a import b`
    may name the module a.b."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = (
                package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            )
            home = ".".join([*parents, *([node.module] if node.module else [])])
            yield home
            yield from (f"{home}.{alias.name}" for alias in node.names)


@cache
def _imported(module: str, root: str) -> frozenset[str]:
    """The computing modules that one module imports, with the packages around them."""
    path = _file(module)
    names = set(_named(path, module)) if path else set()
    around = {
        ".".join(name.split(".")[:end]) for name in names for end in range(1, name.count(".") + 2)}
    return frozenset(name for name in around if _computes(name, root) and _file(name))


def sources(module: str) -> dict[str, Path]:
    """Every source file that `module` computes with, by the name of its module. One that finds what
    it computes with in rooms of all studies says so: READS_ROOMS = ("charts", "learners")."""
    found = _closure(module)
    for room in rooms_read(module):
        found |= _closure(room)
    return {name: path for name in sorted(found) if (path := _file(name))}


def _closure(module: str) -> set[str]:
    found, waiting = {module}, [module]
    while waiting:
        new = _imported(waiting.pop(), module.split(".")[0]) - found
        found |= new
        waiting += new
    return found


def rooms_read(module: str) -> Iterator[str]:
    """The rooms that a module finds by READS_ROOMS, with the modules in them."""
    path = _file(module)
    for node in ast.parse(path.read_bytes()).body if path else ():
        names = [getattr(one, "id", "") for one in getattr(node, "targets", ())]
        if isinstance(node, ast.Assign) and "READS_ROOMS" in names:
            for room in ast.literal_eval(node.value):
                yield from _modules_of(room)


def _modules_of(room: str) -> Iterator[str]:
    for study in STUDIES.values():
        home = _file(study.room(room))
        if home is None:
            continue
        yield study.room(room)
        parts = home.parent.glob("*.py") if home.name == "__init__.py" else ()
        yield from (f"{study.room(room)}.{part.stem}" for part in parts if part != home)


@cache
def code_version(module: str) -> str:
    """Hash of the source text that `module` computes with."""
    return _hashed(sources(module))


@cache
def joint_version(modules: frozenset[str]) -> str:
    """Hash of the source text that these modules compute with, and of no room they may look into:
    for one run, of which it is known what it found there."""
    found = set().union(*(_closure(module) for module in modules))
    return _hashed({name: path for name in sorted(found) if (path := _file(name))})


def _hashed(files: Mapping[str, Path]) -> str:
    digest = hashlib.sha256()
    for name, path in files.items():
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def version_of(function: Callable) -> str:
    """The code version of the module that defines a function."""
    return code_version(function.__module__)


@cache
def environment() -> dict[str, str]:
    """The versions recorded beside every run."""
    names = ("saccade", "jax", "jaxlib", "numpy", "scipy", "equinox", "optax", "scikit-learn")
    return {name: version_of_library(name) for name in names}


def version_of_library(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
