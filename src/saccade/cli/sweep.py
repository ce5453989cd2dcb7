"""`saccade sweep`: an experiment or a calculator over many parameters."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from saccade.cli.completion import sweeps
from saccade.cli.console import check_file, print_table
from saccade.cli.options import StoreFolder
from saccade.cli.progress import progress

if TYPE_CHECKING:
    from saccade.lab.engines import Engine
    from saccade.lab.sweep.api import Outcome

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE.toml | NAME", help="A sweep file or a built-in sweep; none lists those.",
        autocompletion=sweeps)]
Jobs = Annotated[int | None, typer.Option(help="Compute in this many processes of this machine.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Compute on the Dask scheduler at this address.")]
Limit = Annotated[
    float | None,
    typer.Option(
        "--cell-timeout", metavar="SECONDS",
        help="End a cell that takes longer, mark it as timed out, go on with the rest.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan and change nothing.")]
Retry = Annotated[bool, typer.Option("--retry", help="Compute again what failed before.")]
Export = Annotated[
    str | None, typer.Option(help="Write all cells as one file: .zarr, .nc, .parquet or .csv.")]
Draw = Annotated[str | None, typer.Option(help="Draw a built-in sweep: FILE.pdf, .png or .svg.")]
Toml = Annotated[
    bool, typer.Option("--toml", help="Print a built-in sweep's file, to start one of your own.")]
Authority = Annotated[
    str | None, typer.Option(help="Authority that signed the cluster's certificates.")]
Certificate = Annotated[str | None, typer.Option(help="This client's certificate.")]
Key = Annotated[str | None, typer.Option(help="This client's key.")]


def sweep(
    source: Source = None, jobs: Jobs = None, cluster: Cluster = None, cell_timeout: Limit = None,
    dry_run: DryRun = False, retry: Retry = False, export: Export = None, figure: Draw = None,
    show_toml: Toml = False, store: StoreFolder = None, tls_ca_file: Authority = None,
    tls_cert: Certificate = None, tls_key: Key = None,
) -> None:
    """Evaluate an experiment or a calculator over many parameters. Finished cells are kept and
    never repeated; the same command resumes.

    Exit code 0 if every cell has a result, 1 if some failed.

    Examples:

        saccade sweep

        saccade sweep single-location/phase --figure phase.pdf

        saccade sweep mine.toml --dry-run

        saccade sweep mine.toml --jobs 4 --export mine.nc --cell-timeout 60

        saccade sweep mine.toml --cluster tls://node1:8786 --tls-ca-file ca.pem --tls-cert me.pem
        --tls-key me.key
    """
    if source is None or show_toml:
        _show(source)
        return
    _check_outputs(source, export, figure)
    tls = (tls_ca_file, tls_cert, tls_key)
    engine = _engine(jobs, cluster, tls if any(tls) else None, cell_timeout)
    outcome = _carry_out(source, engine, jobs, dry_run, retry, store)
    if not dry_run:
        _write(source, outcome, export, figure)
        raise typer.Exit(1 if outcome.failed else 0)


def _show(source: str | None) -> None:
    """The file of a built-in sweep, or the table of them all."""
    from saccade.lab import registry
    from saccade.lab.sweep.api import find

    if source is not None:
        typer.echo(find(source).file.read_text(encoding="utf-8").rstrip())
        return
    rows = [(item.id, f"{item.minutes:g}", item.title) for item in registry.sweeps()]
    print_table("Built-in sweeps", ("sweep", "minutes", "shows"), rows)


def _check_outputs(source: str, export: str | None, figure: str | None) -> None:
    """Refuse in advance what could not be written at the end."""
    from saccade.lab.archive.dataset import check_ending
    from saccade.lab.figure import check_output
    from saccade.lab.sweep.api import find

    if export is not None:
        check_ending(export)
        check_file(export + ".part")
    if figure is not None:
        find(source)
        check_output(figure)
        check_file(figure)


def _engine(
    jobs: int | None, cluster: str | None, tls: tuple | None, cell_timeout: float | None
) -> "Engine":
    from saccade.lab.engines import aside, choose
    from saccade.lab.engines.cluster import Tls

    return choose(jobs, cluster, Tls(*tls) if tls else None, cell_timeout, otherwise=aside)


def _carry_out(
    source: str, engine: "Engine", jobs: int | None, dry_run: bool, retry: bool, store: str | None
) -> "Outcome":
    from saccade.lab.store import Store
    from saccade.lab.sweep.api import Outcome, execute, understood
    from saccade.lab.sweep.plan import describe, plan

    specification, folder = understood(source)
    laid_out = plan(specification, Store(store), folder, mend=not dry_run)
    typer.echo(describe(laid_out, jobs or 1, retry, duration), err=not dry_run)
    if dry_run:
        return Outcome(laid_out, 0, 0.0)
    missing = len(laid_out.missing(retry))
    with progress(missing, "sweeping") as advance:
        outcome = execute(laid_out, engine, retry, Counting(missing, advance))
    counts = ", ".join(f"{number} {word}" for word, number in outcome.plan.counts().items())
    typer.echo(
        f"{outcome.computed} cells computed in {duration(outcome.seconds)}; the sweep has {counts}."
    )
    return outcome


class Counting:
    """Says how far a sweep is, cell by cell, and each failure once."""

    def __init__(self, total: int, advance: Any):
        self.total, self.advance, self.number = total, advance, 0

    def __call__(self, done: Any) -> None:
        self.number += 1
        if done.status != "finished":
            typer.echo(
                f"{done.name}: {done.status} (saccade runs show {done.name[:12]}.failed)"[:160],
                err=True)
        self.advance(1, f"{self.number} of {self.total} cells")


def _write(source: str, outcome: "Outcome", export: str | None, figure: str | None) -> None:
    from saccade.lab.archive.dataset import export as write
    from saccade.lab.figure import save
    from saccade.lab.sweep.api import draw, find

    if not (export or figure):
        return
    data = outcome.open()
    if export:
        typer.echo(f"Dataset: {write(data, export)}")
    if figure:
        typer.echo(f"Figure: {save(draw(find(source), data), figure)}")


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"
