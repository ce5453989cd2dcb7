"""The report: a static site of the ledger that opens from the file system, without a server, a
network or a script.

    from saccade.report import write_report
    write_report(rows, "report", scale="quick", seed=0, store=Store())

`words` says numbers and names, `entries` reads a row of the ledger, `scale_drawing` lays out an
interval against its prediction, `pictures` draws the figures, `live` makes them interactive,
`study` and `site` gather what the pages show, `writing` renders them and puts the folder in its
place. `reproducing` judges and draws everything first; `recorded` takes what travels with
saccade.
"""

import inspect
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from saccade.report.recorded import write_recorded
from saccade.report.writing import write_report


class _Verb(ModuleType):
    """`saccade.report(rows)` is a verb, and importing this package hides it: so the package can be
    called in its place."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return import_module("saccade.api").report(*args, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        """Of the verb, for editors."""
        return inspect.signature(import_module("saccade.api").report)


sys.modules[__name__].__class__ = _Verb
