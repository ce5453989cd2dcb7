"""`saccade plan`: how many samples does a target error need? The commands are those that studies
offer as COMMANDS of their module `plan`."""

from importlib import import_module
from importlib.util import find_spec

import typer

from saccade.studies import STUDIES

app = typer.Typer(
    no_args_is_help=True, help="Plan an experiment: how many samples does a target error need?",
    epilog="Example: saccade plan sparse-token --length 10 --signal 5 --target-error 0.05")


@app.callback()
def _group() -> None:
    """Plan an experiment: how many samples does a target error need?"""


for _study in STUDIES.values():
    if find_spec(_study.room("plan")):
        for _name, _function in import_module(_study.room("plan")).COMMANDS.items():
            app.command(_name)(_function)
