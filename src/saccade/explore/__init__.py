"""The live laboratory: one marimo notebook a study, an app on localhost and a plain script at once.

A notebook computes with saccade's exact maps and closed forms, so that a moved slider answers in under a second.
`python -m saccade.explore.single_location` runs one from top to bottom; `saccade explore single-location` opens it.
"""

from importlib.util import find_spec
from pathlib import Path

from saccade.errors import InvalidInput, unknown

NOTEBOOKS = {
    name: Path(__file__).with_name(f"{name.replace('-', '_')}.py")
    for name in ("single-location", "sparse-token", "group-sparse", "sparse-recovery", "spatial")
}


def notebook(study: str) -> Path:
    """The notebook of a study."""
    if study not in NOTEBOOKS:
        raise unknown("notebook", study, NOTEBOOKS)
    return NOTEBOOKS[study]


def command(study: str, port: int | None = None, edit: bool = False, headless: bool = False) -> list[str]:
    """The command line that serves a notebook on this machine only."""
    import sys

    if find_spec("marimo") is None:
        raise InvalidInput("The live laboratory needs marimo, which is not installed: pip install 'saccade[explore]'.")
    if port is not None and not 1 <= port <= 65535:
        raise InvalidInput(f"port = {port} must lie between 1 and 65535.")
    words = [sys.executable, "-m", "marimo", "edit" if edit else "run", str(notebook(study)), "--host", "127.0.0.1"]
    words += [] if port is None else ["--port", str(port)]
    return words + (["--headless"] if headless else [])
