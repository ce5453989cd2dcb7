"""`saccade verify`, `reproduce`, `report` and `compare`: the commands of the ledger."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saccade.cli import completion, options
from saccade.cli.calculate import pairs
from saccade.cli.console import check_file, console, give, print_json, print_table
from saccade.errors import InvalidInput, require
from saccade.lab.pace import spoken

if TYPE_CHECKING:
    from saccade.lab.compare import Comparison
    from saccade.lab.ledger import Conditions
    from saccade.lab.record import Agreement
    from saccade.report.reproducing import Work

WITH_ONE_SEED = ("seed", "sabotage", "fresh", "set_", "precision")  # options of verify
Ledger = Annotated[str, typer.Argument(help="A ledger written by saccade verify --json.")]


def verify(
    context: typer.Context,
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            help="Claim ids, spec rows or studies; wildcards allowed. All if none.",
            autocompletion=completion.claims)] = None,
    scale: options.Scale = "quick",
    sabotage: Annotated[
        bool, typer.Option("--sabotage", help="Also run every sabotage; each must be refuted.")
    ] = False,
    seed: options.Seed = 0,
    seeds: Annotated[
        str | None,
        typer.Option(
            help="Many seeds, as 0..19 or 1,4,7, without sabotages: is each verdict as expected?"),
    ] = None,
    jobs: options.Jobs = 1, json_file: options.JsonFile = None, store: options.StoreFolder = None,
    fresh: options.Fresh = False, set_: options.Set = None,
    precision: options.Precision = "float64",
) -> None:
    """Judge claims: prediction against measurement, with a verdict. Exit code 0 if every verdict is
    the expected one, 1 if not.

    Examples:

        saccade verify

        saccade verify SL-P15 'single-location.swapped*' --sabotage

        saccade verify single-location --scale standard --jobs 2 --json ledger.json

        saccade verify single-location --seeds 0..19 --jobs 2

        saccade verify SL-P15 --set dim=50
    """
    check_file(json_file)
    own = pairs(set_ or [])
    if seeds is not None:
        _check_alone(context)
        raise typer.Exit(_verify_seeds(patterns or [], seeds, scale, jobs, json_file, store))
    rows = judged(patterns or [], scale, sabotage, seed, jobs, store, fresh, own, precision)
    from saccade.lab.schema import FORMAT

    ledger = {"format": FORMAT, "claims": rows, "summary": summary(rows)}
    give("Ledger", ledger, json_file, lambda: show(rows, sabotage))
    raise typer.Exit(1 if summary(rows)["unexpected"] else 0)


def _check_alone(context: typer.Context) -> None:
    """Refuse what would have no effect on many seeds."""
    others = {name: f"--{name.strip('_')}" for name in WITH_ONE_SEED}
    asked = [
        word for name, word in others.items()
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"]
    if asked:
        raise InvalidInput(f"--seeds takes no {' and no '.join(asked)}; give one --seed instead.")


def _verify_seeds(
    patterns: list[str], seeds: str, scale: str, jobs: int, json_file: str | None, store: str | None
) -> int:
    """Verdicts over many seeds, without sabotages; 1 if one of them is unexpected."""
    from saccade.cli.following import Following
    from saccade.lab import registry
    from saccade.lab.ledger import Conditions
    from saccade.lab.seeds import judge_seeds, over_seeds, parsed, summary

    require(jobs >= 1, "jobs", jobs, "must be at least 1")
    options.check_scale(scale)
    numbers, conditions = parsed(seeds), Conditions(scale, folder=store)
    conditions.store.check_writable()
    with Following("judging") as watch:
        rows = judge_seeds(registry.find_claims(patterns), conditions, numbers, jobs, watch)
    table = over_seeds(rows)
    shown = [row for row in table if row["unexpected"] or row["undecided"]]
    total = summary(table)

    def tell() -> None:
        if shown:
            cells = [[row["id"], str(row["unexpected"]), str(row["undecided"])] for row in shown]
            print_table("Not always as expected", ["claim", "wrong at", "undecided at"], cells)
        typer.echo(
            f"{total['claims']} claims on {len(numbers)} seeds: {total['unexpected']} verdicts"
            f" unexpected, {total['undecided']} undecided ({total['share_undecided']:.2%}).")
        if json_file is None:
            typer.echo(
                "Claims that were as expected at every seed are not listed; --json FILE has every"
                " verdict.")

    give("Seeds", {"claims": table, "summary": total}, json_file, tell)
    return int(total["unexpected"] > 0)


def judged(
    patterns: list[str], scale: str, sabotage: bool, seed: int, jobs: int, store: str | None,
    fresh: bool, changes: dict[str, Any] | None = None, precision: str = "float64",
) -> list[dict[str, Any]]:
    """Rows of the ledger, with live progress and, above the quick scale, the cost said first."""
    from saccade import api
    from saccade.cli.following import Following
    from saccade.lab import costs, registry
    from saccade.lab.ledger import Conditions

    require(jobs >= 1, "jobs", jobs, "must be at least 1")
    if scale != "quick":
        claims = registry.find_claims(patterns)
        conditions = Conditions(scale, seed, sabotage, fresh, store)
        seconds = sum(costs.of_claims(claims, conditions).values()) / jobs
        typer.echo(
            f"{len(claims)} claims at scale {scale}: about {spoken(seconds)} of {jobs} process"
            f"{'es' * (jobs > 1)}.", err=True)
    with Following("judging") as watch:
        return api.verify(
            *patterns, scale=scale, sabotage=sabotage, seed=seed, jobs=jobs, store=store,
            fresh=fresh, watch=watch, changes=changes, precision=precision)


def show(rows: list[dict[str, Any]], sabotage: bool) -> None:
    """The table, what went wrong, and the summary line."""
    from saccade.cli.tables import ledger_table
    from saccade.lab.ledger import reasons

    out = console()
    out.print(ledger_table(rows, sabotage, out.width))
    for row in rows:
        for reason in [*reasons(row), *filter(None, [row.get("setting")])]:
            out.print(f"{row['id']}: {reason}", markup=False)
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
    fresh: options.Fresh = False, pdf: options.Pdf = False,
) -> None:
    """Verify the whole ledger with its sabotages, draw every figure, write the report, compare with
    the ledger of record, and say where the report is. Exit code 1 if a verdict is not the expected
    or not the published one.

    Example:

        saccade reproduce --jobs 2 -o report
    """
    from saccade.cli.following import Following
    from saccade.lab import record
    from saccade.lab.ledger import Conditions
    from saccade.report.reproducing import reproduce as carry_out

    check_file(str(Path(output, "index.html")))
    require(jobs >= 1, "jobs", jobs, "must be at least 1")
    options.check_scale(scale)
    conditions = Conditions(scale, seed, sabotage, fresh, store)
    conditions.store.check_writable()
    work = _planned(conditions, jobs, output, pdf)
    with Following("reproducing") as watch:
        rows, page = carry_out(work, jobs, watch)
    show(rows, sabotage)
    agreement = record.agreement(rows)
    for line in published_lines(agreement):
        typer.echo(line)
    _tell_report(page)
    raise typer.Exit(1 if summary(rows)["unexpected"] or agreement.differing else 0)


def _planned(conditions: "Conditions", jobs: int, folder: str, pdf: bool) -> "Work":
    """All claims and figures, with their number and the time they should take said first."""
    from saccade.lab import registry
    from saccade.lab.pace import Pace
    from saccade.report.reproducing import plan

    typer.echo("saccade: reading the studies and what is stored.", err=True)
    work = plan(registry.find_claims(), conditions, folder, pdf)
    seconds = Pace(dict(sorted(work.costs.items(), key=lambda item: -item[1])), jobs).left()
    typer.echo(
        f"{len(work.claims)} claims and {len(work.figures)} figures in {jobs}"
        f" process{'es' * (jobs > 1)}: about {spoken(seconds)}, if this machine is like that of the"
        " record.", err=True)
    return work


def published_lines(agreement: "Agreement") -> list[str]:
    """How a ledger compares with the one of record: what differs, and in the last line how many
    agree."""
    lines = [
        f"{item.claim}{f', {item.sabotage}' if item.sabotage else ''}: published as {item.old},"
        f" here {item.new}." for item in agreement.differing]
    new = agreement.unpublished
    if new:
        more = f" and {len(new) - 3} more" if len(new) > 3 else ""
        lines.append(f"Not in the ledger of record: {', '.join(new[:3])}{more}.")
    return [*lines, agreement.sentence]


def report(
    output: options.ReportFolder = "report",
    ledger: Annotated[
        str | None,
        typer.Option(help=("A ledger written by verify --json; the one of record if not given.")),
    ] = None,
    scale: options.Scale = "quick", seed: options.Seed = 0, jobs: options.Jobs = 1,
    store: options.StoreFolder = None,
    show_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    single: Annotated[
        str | None,
        typer.Option("--single-file", metavar="FILE.html", help="All of it in this one file too."),
    ] = None,
    pdf: options.Pdf = False,
) -> None:
    """Write the static report: the ledger, every claim, every figure. Opens from the file system,
    without a server.

    Without a ledger it shows the ledger of record, which travels with saccade, and computes
    nothing; scale, seed, jobs and store are for the figures of a ledger of your own.

    Examples:

        saccade report --open

        saccade report --ledger ledger.json --jobs 2 -o report

        saccade report --single-file saccade.html
    """
    from saccade import api

    check_file(str(Path(output, "index.html")))
    check_file(single)
    require(jobs >= 1, "jobs", jobs, "must be at least 1")
    options.check_scale(scale)
    if ledger is None:
        page = api.report(folder=output)
    else:
        from saccade.cli.following import Following
        from saccade.lab.compare import read_ledger

        rows = read_ledger(ledger)
        with Following("drawing") as watch:
            page = api.report(
                rows, output, scale=scale, seed=seed, store=store, jobs=jobs, watch=watch, pdf=pdf)
    _tell_report(page)
    if single:
        from saccade.report.single import write_single

        typer.echo(f"One file: {write_single(page.parent, single)}")
    if show_it:
        typer.launch(page.as_uri())


def _tell_report(page: Path) -> None:
    from saccade.report.light import weigh

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
