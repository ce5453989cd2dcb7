"""`saccade verify`, `reproduce` and `report`: the commands that judge."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saccade.cli import completion
from saccade.cli.console import check_file, console, give
from saccade.cli.options import Fresh, Jobs, JsonFile, ReportFolder, Scale, Seed, StoreFolder
from saccade.cli.progress import progress
from saccade.errors import require

if TYPE_CHECKING:
    from saccade.lab.claim import Claim

JUDGING = 0.1  # seconds: the cost of a verdict on a run that another claim has made


def verify(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            help="Claim ids, spec rows or studies; wildcards allowed. All if none.",
            autocompletion=completion.claims)] = None,
    scale: Scale = "quick",
    sabotage: Annotated[
        bool, typer.Option("--sabotage", help="Also run every sabotage; each must be refuted.")
    ] = False,
    seed: Seed = 0, jobs: Jobs = 1, json_file: JsonFile = None, store: StoreFolder = None,
    fresh: Fresh = False,
) -> None:
    """Judge claims: prediction against measurement, with a verdict. Exit code 0 if every verdict is
    the expected one, 1 if not.

    Examples:

        saccade verify

        saccade verify SL-P15 'single-location.swapped*' --sabotage

        saccade verify single-location --scale standard --jobs 2 --json ledger.json
    """
    check_file(json_file)
    rows = judged(patterns or [], scale, sabotage, seed, jobs, store, fresh)
    ledger = {"claims": rows, "summary": summary(rows)}
    give("Ledger", ledger, json_file, lambda: show(rows, sabotage))
    raise typer.Exit(exit_code(rows))


def judged(
    patterns: list[str], scale: str, sabotage: bool, seed: int, jobs: int, store: str | None,
    fresh: bool,
) -> list[dict[str, Any]]:
    """Rows of the ledger, with live progress and, above the quick scale, the cost said first."""
    from saccade import api
    from saccade.lab import ledger, registry

    require(jobs >= 1, "jobs", jobs, "must be at least 1")
    claims = registry.find_claims(patterns)
    cost = {name: seconds * (1 + sabotage) for name, seconds in _costs(claims, scale).items()}
    _announce(sum(cost.values()) / jobs, scale, len(claims))
    with progress(sum(cost.values()), "judging") as advance:

        def done(row: dict[str, Any]) -> None:
            word = (
                row["verdict"] if ledger.verdict_is_expected(row)
                else f"{row['verdict']} (unexpected)")
            advance(cost[row["id"]], f"{row['id']}: {word}")

        return api.verify(
            *patterns, scale=scale, sabotage=sabotage, seed=seed, jobs=jobs, store=store,
            fresh=fresh, done=done)


def _costs(claims: "Sequence[Claim]", scale: str) -> dict[str, float]:
    """Seconds by claim. Claims on the same run share it: the first of them pays, the others only
    judge."""
    from saccade.lab.ledger import scale_for

    paid, costs = set(), {}
    for claim in claims:
        chosen = scale_for(claim, scale)
        if chosen is None:
            costs[claim.id] = 0.0
            continue
        run = (
            claim.experiment.id, repr(claim.experiment.parameters(chosen[0], chosen[1].parameters)))
        costs[claim.id] = JUDGING if run in paid else chosen[1].seconds
        paid.add(run)
    return costs


def _announce(seconds: float, scale: str, count: int) -> None:
    if scale != "quick":
        text = f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
        typer.echo(
            f"{count} claims at scale {scale}: about {text} on one core if nothing is stored yet.",
            err=True)


def show(rows: list[dict[str, Any]], sabotage: bool) -> None:
    """The table, what went wrong, and the summary line."""
    from saccade.cli.tables import ledger_table

    out = console()
    out.print(ledger_table(rows, sabotage, out.width))
    for row in rows:
        if row["error"]:
            out.print(f"{row['id']}: {row['error']}", markup=False)
    out.print("  ".join(f"{name}: {count}" for name, count in summary(rows).items()))


def summary(rows: list[dict[str, Any]]) -> dict[str, int]:
    from saccade.lab.ledger import verdict_is_expected

    words = ("holds", "refuted", "undecided", "waiting")
    counts = {word: sum(row["verdict"] == word for row in rows) for word in words}
    return counts | {"unexpected": sum(not verdict_is_expected(row) for row in rows)}


def exit_code(rows: list[dict[str, Any]]) -> int:
    return 1 if summary(rows)["unexpected"] else 0


def reproduce(
    scale: Scale = "quick", output: ReportFolder = "report",
    sabotage: Annotated[bool, typer.Option(help="Run the sabotages too.")] = True, seed: Seed = 0,
    jobs: Jobs = 1, store: StoreFolder = None, fresh: Fresh = False,
) -> None:
    """Verify the whole ledger with its sabotages, draw every figure, write the report, and say
    where it is.

    Example:

        saccade reproduce --jobs 2 -o report
    """
    _check_folder(output)
    rows = judged([], scale, sabotage, seed, jobs, store, fresh)
    show(rows, sabotage)
    _write_report(rows, output, scale, seed, store)
    raise typer.Exit(exit_code(rows))


def report(
    output: ReportFolder = "report",
    ledger: Annotated[
        str | None,
        typer.Option(help="A ledger written by verify --json; judged anew if not given.")] = None,
    scale: Scale = "quick", seed: Seed = 0, store: StoreFolder = None,
) -> None:
    """Write the static report: the ledger, every claim, every figure. Opens from the file system,
    without a server.

    Examples:

        saccade report -o report

        saccade report --ledger ledger.json
    """
    from saccade.lab.compare import read_ledger

    _check_folder(output)
    rows = read_ledger(ledger) if ledger else judged([], scale, True, seed, 1, store, False)
    _write_report(rows, output, scale, seed, store)


def _check_folder(folder: str) -> None:
    """Refuse at the door a folder that the report cannot be written to."""
    check_file(str(Path(folder) / "index.html"))


def _write_report(
    rows: list[dict[str, Any]], output: str, scale: str, seed: int, store: str | None
) -> None:
    from saccade import api
    from saccade.report.light import weigh
    from saccade.report.pictures import registered_figures

    cost = {figure.id: figure.seconds.get(scale, 1.0) for figure in registered_figures()[0]}
    with progress(sum(cost.values()), "drawing") as advance:

        def drawn(picture: Any) -> None:
            advance(cost.get(picture.id, 1.0), f"{picture.id}: {picture.missing or 'drawn'}")

        page = api.report(rows, output, scale=scale, seed=seed, store=store, drawn=drawn)
    typer.echo(f"The report has {weigh(page.parent).words}.", err=True)
    typer.echo(f"Report: {page}")
