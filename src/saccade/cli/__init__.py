"""The command line. Nothing heavy is imported until a command needs it: `--help` is quick."""

import warnings
from typing import Annotated, Any

import typer

from saccade.cli import (
    atlas,
    bench,
    calculate,
    data,
    diagnose,
    forms,
    interrupts,
    judge,
    life,
    mutants,
    runs,
    studies,
    sweep,
    train,
)
from saccade.cli.console import OneSentence


class Program(typer.Typer):
    """The whole program, when it is called: an interrupt then ends it at once."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with interrupts.heard(), life.signs_of_life():
            return super().__call__(*args, **kwargs)


app = Program(
    name="saccade", cls=OneSentence, no_args_is_help=True, rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]}, pretty_exceptions_enable=False,
    help=(
        "When does attention learn where to look? Claims, figures and formulas of five papers, made"
        " executable."),
    epilog=(
        "Examples: saccade list; saccade verify 'single-location.*'; saccade figure"
        " single-location/4a; saccade reproduce"))


def _version(asked: bool) -> None:
    if asked:
        from saccade import __version__

        typer.echo(f"saccade {__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="No colours, no live bars; may stand anywhere. So it is without a terminal."),
    ] = False,
) -> None:
    # At the command line a warning is a sentence; the place in the code that sent it is for those
    # who write code.
    warnings.formatwarning = lambda message, *_, **__: f"saccade: warning: {message}\n"


app.command("list")(studies.list_)
app.command("cite")(studies.cite)
app.command("verify")(judge.verify)
app.command("compare")(judge.compare)
app.command("ledger")(forms.ledger)
app.command("reproduce")(judge.reproduce)
app.command("report")(judge.report)
app.command("figure")(studies.figure)
app.command("calc", cls=calculate.Explaining)(calculate.calc)
app.command("mutants")(mutants.mutants)
app.command("bench")(bench.bench)
app.command("train")(train.train)
app.add_typer(studies.planning, name="plan")
app.command("diagnose")(diagnose.diagnose)
app.command("new-study")(studies.new_study)
app.add_typer(data.app, name="data")
app.command("sweep")(sweep.sweep)
app.command("atlas")(atlas.atlas)
app.add_typer(runs.app, name="runs")
app.command("explore")(studies.explore)
