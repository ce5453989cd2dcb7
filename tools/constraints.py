"""Write constraints.txt: the exact version of everything saccade and its extras bring in, as
installed here.

Libraries that are not installed keep the line they had, so one extra can be refreshed without the
others.
"""

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "constraints.txt"
HEADER = """\
# Exact versions that resolve together on Python 3.11, for `pip install -c constraints.txt ...`.
# Made by tools/constraints.py.
# PyTorch and what only it brings stay unpinned: its right build depends on the machine, and nothing
# here needs it.
"""
UNPINNED = {"torch", "setuptools", "pip"}


def declared() -> list[Requirement]:
    """The requirements in pyproject.toml: runtime, every extra, and the build tool."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    lines = [*project["project"]["dependencies"], *(line for extra in extras for line in extra)]
    return [Requirement(line) for line in [*lines, *project["build-system"]["requires"]]]


def wanted_by(name: str, extras: set[str]) -> list[Requirement]:
    """What an installed library asks for, given the extras asked of it."""
    requirements = [Requirement(line) for line in distribution(name).requires or []]
    environments = [{"extra": extra} for extra in extras | {""}]
    return [
        r for r in requirements
        if r.marker is None or any(r.marker.evaluate(e) for e in environments)]


def installed_closure(start: list[Requirement]) -> dict[str, str]:
    """Name to version of everything reachable from `start` that is installed here."""
    versions: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    queue = list(start)
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        visit = (name, frozenset(requirement.extras))
        if visit in seen or name in UNPINNED:
            continue
        seen.add(visit)
        try:
            versions[name] = distribution(name).version.split("+")[0]
        except PackageNotFoundError:
            continue
        queue.extend(wanted_by(name, set(requirement.extras)))
    return versions


def pinned() -> dict[str, str]:
    """The lines constraints.txt holds now."""
    text = TARGET.read_text() if TARGET.exists() else ""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)$", text, flags=re.MULTILINE))


def main() -> None:
    versions = pinned() | installed_closure(declared())
    TARGET.write_text(HEADER + "".join(f"{name}=={versions[name]}\n" for name in sorted(versions)))
    sys.stdout.write(f"{len(versions)} versions written to {TARGET.name}\n")


if __name__ == "__main__":
    main()
