"""The set-up script with a stub in place of Python: what is finished is left alone, what is
unfinished or moved is remade."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
# Plays python: `-m venv` copies itself, `-m pip` writes what it was asked and lasts as long as the
# file `slow` exists.
STUB = """#!/bin/sh
case "$1 $2" in
    "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    "-m pip") echo "$*" >>asked; while [ -e slow ]; do sleep 0.1; done ;;
    *) case "$*" in *"import numpy"*) [ -s asked ] ;; esac ;;
esac
"""


@pytest.fixture
def project(tmp_path):
    """A copy of the set-up files in a folder whose name has a space."""
    folder = tmp_path / "a project"
    (folder / "tools").mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "setup.sh", folder / "tools")
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    stub = tmp_path / "stub-python"
    stub.write_text(STUB)
    stub.chmod(0o755)
    return folder


def start(project: Path, wanted: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHON": str(project.parent / "stub-python")}
    command = ["sh", str(project / "tools" / "setup.sh"), wanted]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True)


def install(project: Path, wanted: str = "run") -> str:
    process = start(project, wanted)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    return output


def pip_calls(project: Path) -> int:
    return len((project / "asked").read_text().splitlines())


def wait_until(condition) -> None:
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("waited 30 seconds in vain")


def test_a_finished_install_is_left_alone_and_what_is_missing_is_added(project):
    assert "installed in" in install(project)
    assert install(project) == ""
    calls = pip_calls(project)
    kept = project / ".venv" / "kept"
    kept.touch()
    install(project, "test")
    assert pip_calls(project) > calls and kept.exists()
    assert install(project, "run") == ""


def test_an_interrupted_install_is_remade(project):
    (project / "slow").touch()
    process = start(project, "run")
    wait_until((project / "asked").exists)
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert (project / ".venv" / "unfinished").exists() and not (project / ".venv.lock").exists()
    half = project / ".venv" / "half-written"
    half.touch()
    (project / "slow").unlink()
    assert "installed in" in install(project)
    assert not half.exists()


def test_two_at_once_take_turns(project):
    (project / "slow").touch()
    first = start(project, "run")
    wait_until((project / "asked").exists)
    second = start(project, "run")
    assert second.stdout is not None and "waiting" in second.stdout.readline()
    (project / "slow").unlink()
    for process in (first, second):
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert pip_calls(project) == 2


def test_a_copied_environment_is_remade(project):
    install(project)
    moved = project.parent / "elsewhere"
    shutil.copytree(project, moved)
    assert "installed in" in install(moved)
    assert (moved / ".venv" / "location").read_text().strip() == str(moved.resolve())
