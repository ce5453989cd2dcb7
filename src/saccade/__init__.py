"""saccade: when does attention learn where to look? Five papers on attention and sparse data, made
executable.

The verbs of the command line, from Python (each imports what it needs on first use):

    saccade.advise(X, y).page("advice.html")       # your bags: is attention worth it?
    saccade.calc("single-location.zeta", t=1, variance=0.5)
    saccade.list("single-location")                # what there is
    saccade.describe("single-location.risk")       # its inputs, defaults and source
    saccade.verify("single-location.*")
    saccade.compare("old.json", "new.json").changed
    saccade.figure("single-location/4a").savefig("4a.pdf")
    saccade.run("single-location.descent", dim=100, inverse_temperature=0.2)
    saccade.sweep("single-location.descent", axes={"dim": [50, 100]}, fixed={"steps": 1000}).open()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import builtins

    from saccade.api import advise, cite, figure, report, run, verify
    from saccade.errors import Diverged, InvalidInput
    from saccade.lab.calculator import calc
    from saccade.lab.coded import in_words
    from saccade.lab.compare import compare
    from saccade.lab.discovery import describe, experiments, formulas
    from saccade.lab.discovery import list_ as list
    from saccade.lab.fits import fit_exponent, locate_threshold, search_threshold
    from saccade.lab.sweep.api import sweep

__version__ = "0.1.0"

_HOMES = {
    "advise": "saccade.api", "calc": "saccade.lab.calculator", "cite": "saccade.api",
    "compare": "saccade.lab.compare", "describe": "saccade.lab.discovery",
    "experiments": "saccade.lab.discovery", "figure": "saccade.api",
    "fit_exponent": "saccade.lab.fits", "formulas": "saccade.lab.discovery",
    "in_words": "saccade.lab.coded", "list": "saccade.lab.discovery",
    "locate_threshold": "saccade.lab.fits", "report": "saccade.api", "run": "saccade.api",
    "search_threshold": "saccade.lab.fits", "sweep": "saccade.lab.sweep.api",
    "verify": "saccade.api", "Diverged": "saccade.errors", "InvalidInput": "saccade.errors"}
_ELSEWHERE = {"list": "list_"}  # where the name would hide one of Python's

__all__ = [
    "Diverged", "InvalidInput", "__version__", "advise", "calc", "cite", "compare", "describe",
    "experiments", "figure", "fit_exponent", "formulas", "in_words", "list", "locate_threshold",
    "report", "run", "search_threshold", "sweep", "verify"]


def __getattr__(name: str) -> Any:
    """Public names are imported on first use, so that `import saccade` stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'saccade' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), _ELSEWHERE.get(name, name))


def __dir__() -> "builtins.list[str]":
    return sorted(__all__)
