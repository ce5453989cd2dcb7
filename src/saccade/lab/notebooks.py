"""The live laboratory: one marimo notebook a study, an app on localhost and a plain script at once.

A notebook computes with saccade's exact maps and closed forms, so that a moved slider answers in
under a second. `python -m saccade.studies.single_location.explore` runs one from top to bottom;
`saccade explore single-location` opens it.
"""

from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from saccade.errors import InvalidInput, unknown
from saccade.studies import STUDIES


def notebooks() -> dict[str, Path]:
    """The notebook of every study that has one."""
    places = {
        name: Path(str(files(study.package))) / "explore.py" for name, study in STUDIES.items()}
    return {name: place for name, place in places.items() if place.is_file()}


def notebook(study: str) -> Path:
    """The notebook of a study."""
    known = notebooks()
    if study not in known:
        raise unknown("notebook", study, known)
    return known[study]


def command(
    study: str, port: int | None = None, edit: bool = False, headless: bool = False
) -> list[str]:
    """The command line that serves a notebook on this machine only."""
    import sys

    if find_spec("marimo") is None:
        raise InvalidInput(
            "The live laboratory needs marimo, which is not installed: pip install"
            " 'saccade[explore]'.")
    if port is not None and not 1 <= port <= 65535:
        raise InvalidInput(f"port = {port} must lie between 1 and 65535.")
    words = [
        sys.executable, "-m", "marimo", "edit" if edit else "run", str(notebook(study)), "--host",
        "127.0.0.1"]
    words += [] if port is None else ["--port", str(port)]
    return words + (["--headless"] if headless else [])
