"""Who judged a row: when, with which code and which libraries."""

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from saccade.lab.fingerprint import environment, version_of


def judged_now(function: Callable) -> dict[str, Any]:
    """The date, the commit (where saccade runs from a checkout), the code version of `function`
    with the module that defines it, and the versions of the libraries."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"), "commit": commit(),
        "code": version_of(function), "module": function.__module__, "versions": environment()}


@cache
def commit() -> str | None:
    """The commit of the checkout that saccade is imported from, with a + if it was changed since;
    None for an installed package, even one inside somebody else's checkout."""
    here = Path(str(files("saccade")))
    if _git(here, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    name = _git(here, "rev-parse", "--short=10", "HEAD")
    # The record is written after the rows it holds were judged; it makes no numbers.
    changed = _git(here, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!record")
    return name and name + "+" * bool(changed)


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=False,
            timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
