"""A built wheel works on its own: in a fresh environment, in an empty folder, with nothing of this
checkout. The libraries are lent from the environment of the tests; saccade itself is not."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "saccade"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w",
        str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment with the wheel alone; the libraries lie on a path that follows it."""
    place = tmp_path_factory.mktemp("machine") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    [site] = place.glob("lib/python*/site-packages")
    subprocess.run(
        [
            sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "-q",
            "--no-deps", "--no-index", str(wheel)],
        check=True)
    # A path in a .pth file is not searched for further .pth files: the editable install stays out.
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


@pytest.fixture
def saccade(installed, tmp_path):
    """Runs a command of the installed saccade in an empty folder, with an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "empty").mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "NPROC") if name in os.environ}
    environment = {**kept, "HOME": str(home), "SACCADE_STORE": str(home / "store")}

    def run(*words, program="saccade", code=0):
        done = subprocess.run(
            [str(installed / "bin" / program), *words], capture_output=True, text=True,
            cwd=tmp_path / "empty", env=environment, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    run.folder = tmp_path / "empty"
    return run


def test_everything_that_is_no_source_is_in_the_wheel(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    data = [
        path for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".py"]
    assert {".md", ".toml", ".j2", ".css", ".js", ".json"} <= {path.suffix for path in data}
    missing = {f"saccade/{path.relative_to(PACKAGE).as_posix()}" for path in data} - inside
    assert not missing


def test_it_is_the_installed_one(saccade, installed):
    said = saccade("-c", "import saccade; print(saccade.__file__)", program="python")
    assert Path(said.stdout.strip()).is_relative_to(installed)


def test_it_lists_and_tells_the_ledger_of_record(saccade):
    listed = json.loads(saccade("list", "--json").stdout)
    assert any(claim["published"] for claim in listed["claims"])
    page = Path(saccade("report").stdout.splitlines()[-1].removeprefix("Report: "))
    assert page == saccade.folder / "report" / "index.html"
    assert "ledger of record" in page.read_text()


def test_it_judges_and_draws(saccade):
    assert "holds" in saccade("verify", "SL-P15").stdout
    saccade("figure", "single-location/3", "-o", "three.png")
    assert (saccade.folder / "three.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in saccade.folder.iterdir()) == ["three.png"]
