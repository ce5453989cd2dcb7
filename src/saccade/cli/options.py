"""Options that several commands have, each said once."""

from typing import Annotated

import typer

from saccade.cli import completion

Scale = Annotated[
    str,
    typer.Option(
        help=(
            "quick (seconds a claim), standard (all, within an hour) or paper (its own parameters)."
        ),
        autocompletion=completion.scales)]


def check_scale(scale: str) -> None:
    """Refuse a scale that does not exist, before anything is read or computed."""
    from saccade.errors import unknown
    from saccade.lab.experiment import SCALES

    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)


Seed = Annotated[
    int,
    typer.Option(
        help="Another seed gives independent numbers; a whole number, at least 0.",
        callback=lambda seed: check_seed(seed))]


def check_seed(seed: int) -> int:
    """Refuse a seed that runs cannot have, before anything is read or computed."""
    from saccade.lab.experiment import check_seed as check

    return check(seed)


Jobs = Annotated[int, typer.Option(help="Local processes, at least 1.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE",
        help="A parameter of the experiment, not as published; may be given several times.")]
Precision = Annotated[
    str, typer.Option(help="float64, or float32: what would single precision change?")]
StoreFolder = Annotated[
    str | None,
    typer.Option(
        "--store",
        help=(
            "Folder or fsspec address of runs (default: $SACCADE_STORE or the user's data folder)."
        ))]
Fresh = Annotated[bool, typer.Option("--fresh", help="Compute again even what is stored.")]
Pdf = Annotated[
    bool, typer.Option("--pdf", help="A PDF of every figure too, for print: a heavier report.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonFile = Annotated[
    str | None, typer.Option("--json", help="Write JSON to this file ('-': standard output).")]
ReportFolder = Annotated[str, typer.Option("--output", "-o", help="Folder of the report.")]
