"""`saccade verify`, `reproduce`, `report` and `compare`: the commands of the ledger."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saccade.cli import completion, options
from saccade.cli.console import check_file, console, give, print_json, print_table
from saccade.cli.progress import progress, spoken
from saccade.errors import require

if TYPE_CHECKING:
    from saccade.lab.claim import Claim
    from saccade.lab.compare import Comparison

Ledger = Annotated[str, typer.Argument(help="A ledger written by saccade verify --json.")]
JUDGING = 0.1  # seconds: the cost of a verdict on a run that another claim has made


def verify(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            help="Claim ids, spec rows or studies; wildcards allowed. All if none.",
            autocompletion=completion.claims)] = None,
    scale: options.Scale = "quick",
    sabotage: Annotated[
        bool, typer.Option("--sabotage", help="Also run every sabotage; each must be refuted.")
    ] = False,
    seed: options.Seed = 0, jobs: options.Jobs = 1, json_file: options.JsonFile = None,
    store: options.StoreFolder = None, fresh: options.Fresh = False,
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
    raise typer.Exit(1 if summary(rows)["unexpected"] else 0)


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
    """Seconds by claim. Of the claims on one run the first pays for it, the others only judge."""
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
        typer.echo(
            f"{count} claims at scale {scale}: about {spoken(seconds)} on one core if nothing is"
            " stored yet.", err=True)


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


def reproduce(
    scale: options.Scale = "quick", output: options.ReportFolder = "report",
    sabotage: Annotated[bool, typer.Option(help="Run the sabotages too.")] = True,
    seed: options.Seed = 0, jobs: options.Jobs = 1, store: options.StoreFolder = None,
    fresh: options.Fresh = False,
) -> None:
    """Verify the whole ledger with its sabotages, draw every figure, write the report, and say
    where it is.

    Example:

        saccade reproduce --jobs 2 -o report
    """
    check_file(str(Path(output, "index.html")))
    rows = judged([], scale, sabotage, seed, jobs, store, fresh)
    show(rows, sabotage)
    _write_report(rows, output, scale, seed, store)
    raise typer.Exit(1 if summary(rows)["unexpected"] else 0)


def report(
    output: options.ReportFolder = "report",
    ledger: Annotated[
        str | None,
        typer.Option(help="A ledger written by verify --json; judged anew if not given.")] = None,
    scale: options.Scale = "quick", seed: options.Seed = 0, store: options.StoreFolder = None,
) -> None:
    """Write the static report: the ledger, every claim, every figure. Opens from the file system,
    without a server.

    Examples:

        saccade report -o report

        saccade report --ledger ledger.json
    """
    from saccade.lab.compare import read_ledger

    check_file(str(Path(output, "index.html")))
    rows = read_ledger(ledger) if ledger else judged([], scale, True, seed, 1, store, False)
    _write_report(rows, output, scale, seed, store)


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


def compare(old: Ledger, new: Ledger, as_json: options.AsJson = False) -> None:
    """Compare two ledgers: claims that appeared, vanished, changed verdict (or a sabotage of theirs
    did), or moved by more than their interval. Exit code 1 if a verdict changed, else 0.

    Examples:

        saccade verify --sabotage --json new.json

        saccade compare old.json new.json

        saccade compare old.json new.json --json
    """
    from saccade.lab.compare import compare as compared

    comparison = compared(old, new)
    if as_json:
        print_json(comparison.describe())
    else:
        _show_differences(comparison)
    raise typer.Exit(1 if comparison.verdict_changed else 0)


def _show_differences(comparison: "Comparison") -> None:
    rows = differences(comparison)
    if rows:
        print_table("Differences", ("claim", "change", "of", "old", "new"), rows)
    console().print("  ".join(f"{word}: {count}" for word, count in comparison.counts().items()))


def differences(comparison: "Comparison") -> list[tuple[str, str, str, str, str]]:
    """Rows of the table: the verdicts first, they matter most."""
    rows = [
        (item.claim, "verdict", item.sabotage or "", item.old, item.new)
        for item in comparison.changed]
    for word, places in (("vanished", comparison.vanished), ("appeared", comparison.appeared)):
        rows += [(place.claim, word, place.sabotage or "", "", "") for place in places]
    rows += [(item.claim, "scale", "", item.old, item.new) for item in comparison.rescaled]
    return rows + [
        (
            item.claim, f"{item.quantity} moved", item.part, _number(item.old, item.old_interval),
            _number(item.new, item.new_interval))
        for item in comparison.moved]


def _number(value: float | None, interval: list[float | None]) -> str:
    """Enough digits to see a difference, and the interval where it is not exact."""
    if value is None:
        return "-"
    low, high = ("..." if end is None else f"{end:.6g}" for end in interval)
    return f"{value:.12g}" if interval[0] == interval[1] else f"{value:.6g} ({low}, {high})"
