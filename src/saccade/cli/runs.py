"""`saccade runs`: look into a store and after it."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saccade.cli.console import print_json, print_table
from saccade.cli.options import AsJson, StoreFolder
from saccade.cli.progress import busy
from saccade.errors import InvalidInput

if TYPE_CHECKING:
    import xarray

    from saccade.lab.archive.runs import Entry

app = typer.Typer(
    no_args_is_help=True, help="List, show, open, merge, check and clean up stored runs.",
    epilog=(
        "Examples: saccade runs list; saccade runs open single-location/phase -o phase.nc; saccade"
        " runs check"))

Pattern = Annotated[str, typer.Argument(help="Experiment; wildcards allowed.")]


@app.command("list")
def list_(
    pattern: Pattern = "*",
    status: Annotated[
        str | None, typer.Option(help="Only runs with this status word, e.g. failed or damaged.")
    ] = None,
    limit: Annotated[int, typer.Option(help="At most this many rows.")] = 50,
    as_json: AsJson = False, store: StoreFolder = None,
) -> None:
    """List runs.

    Examples:

        saccade runs list

        saccade runs list 'single-location.*' --status failed
    """
    from saccade.lab.archive.runs import entries

    found = list(entries(_store(store), pattern, status))
    if as_json:
        print_json([_row(entry) for entry in found])
        return
    rows = [[str(cell) for cell in _row(entry).values()] for entry in found[:limit]]
    heads = ("run", "experiment", "status", "repetition", "seed", "seconds", "parameters")
    print_table(f"{len(found)} runs", heads, rows)
    if len(found) > limit:
        typer.echo(f"... and {len(found) - limit} more (--limit, or a pattern).")


def _row(entry: "Entry") -> dict[str, Any]:
    from saccade.lab.archive.runs import printable
    from saccade.lab.layout import repetition_of

    if entry.problem:
        blank = dict.fromkeys(("repetition", "seed", "seconds"), "")
        return {
            "run": entry.name, "experiment": "", "status": entry.status, **blank,
            "parameters": entry.problem}
    request = entry.record["request"]
    return {
        "run": entry.name, "experiment": printable(entry.experiment),
        "status": printable(entry.status), "repetition": repetition_of(request),
        "seed": request["seed"], "seconds": round(float(entry.record["seconds"]), 4),
        "parameters": printable(json.dumps(request["parameters"]))}


@app.command("show")
def show(
    run: Annotated[str, typer.Argument(help="The beginning of a run's name.")],
    as_json: AsJson = False, store: StoreFolder = None,
) -> None:
    """Show one run: what was asked, with which versions, its status, its arrays, and the traceback
    if it failed.

    Examples:

        saccade runs show 3f2a

        saccade runs show 3f2a --json
    """
    from saccade.lab.archive.runs import entry_of, find, printable

    runs = _store(store)
    entry = entry_of(runs, find(runs, run))
    if entry.problem:
        typer.echo(f"{entry.name}: damaged ({entry.problem})")
        raise typer.Exit(1)
    if as_json:
        print_json({"run": entry.name, **entry.record})
        return
    typer.echo("\n".join(map(printable, _about(entry))))


def _about(entry: "Entry") -> list[str]:
    """Lines on one run."""
    from saccade.lab.layout import repetition_of

    record, request = entry.record, entry.record["request"]
    lines = [entry.name, f"  {entry.experiment}: {entry.status}, {record['seconds']:.3g} s"]
    lines += [f"  {name} = {json.dumps(value)}" for name, value in request["parameters"].items()]
    lines.append(f"  repetition {repetition_of(request)}, seed {request['seed']}")
    versions = (f"{name} {version}" for name, version in record["versions"].items())
    lines.append("  " + ", ".join(versions))
    lines += [f"  {name}({', '.join(item['dims'])})" for name, item in record["arrays"].items()]
    failure = record.get("failure")
    return lines + (["", failure["problem"], failure["traceback"]] if failure else [])


@app.command("open")
def open_(
    source: Annotated[
        str,
        typer.Argument(
            help="A sweep file, a built-in sweep, or an experiment (wildcards allowed).")],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="Write to .zarr, .nc, .parquet or .csv; else print a summary."),
    ] = None,
    variables: Annotated[
        str | None, typer.Option(help="Only these variables, separated by commas.")] = None,
    store: StoreFolder = None,
) -> None:
    """Open many runs as one xarray Dataset, and export it.

    Examples:

        saccade runs open single-location/phase -o phase.nc

        saccade runs open mine.toml -o mine.csv

        saccade runs open single-location.descent --variables outcome -o outcomes.parquet
    """
    from saccade.lab.archive.dataset import check_ending, export

    if output is not None:
        check_ending(output)
    data = _opened(source, store)
    chosen = variables.split(",") if variables else None
    typer.echo(str(data) if output is None else f"Dataset: {export(data, output, chosen)}")


def _opened(source: str, store: str | None) -> "xarray.Dataset":
    from saccade.lab.archive.dataset import gather_names, gather_plan
    from saccade.lab.archive.runs import entries
    from saccade.lab.sweep.api import understood
    from saccade.lab.sweep.plan import plan

    runs = _store(store)
    if source.endswith(".toml") or "/" in source:
        specification, folder = understood(source)
        return gather_plan(plan(specification, runs, folder, mend=False))
    return gather_names(runs, [entry.name for entry in entries(runs, source, "finished")])


@app.command("merge")
def merge(
    source: Annotated[str, typer.Argument(help="The store to copy from.")],
    into: Annotated[str, typer.Argument(help="The store to copy into.")], as_json: AsJson = False,
) -> None:
    """Copy every good run that the second store does not have. Exit code 1 if runs were damaged or
    in conflict.

    Examples:

        saccade runs merge cluster-store my-store

        saccade runs merge s3://group/runs my-store --json
    """
    from saccade.lab.archive.runs import merge as copy
    from saccade.lab.store import Store

    if Store(source).backend.everywhere == Store(into).backend.everywhere:
        raise InvalidInput("The two stores are the same.")
    with busy(f"copying into {into}"):
        made = copy(_store(source), Store(into))
    if as_json:
        print_json(made._asdict())
    else:
        typer.echo(f"{made.copied} runs copied, {made.present} were there.")
        for name in made.conflicts:
            typer.echo(f"{name}: both stores have it with other numbers; the one in {into} stays.")
        for name, problem in made.damaged.items():
            typer.echo(f"{name}: not copied, it is damaged ({problem}).")
    raise typer.Exit(1 if made.conflicts or made.damaged else 0)


@app.command("check")
def check(as_json: AsJson = False, store: StoreFolder = None) -> None:
    """Verify every checksum of every run; changes nothing. Exit code 1 if a run is damaged.

    Examples:

        saccade runs check

        saccade runs check --store my-store --json
    """
    from saccade.lab.archive.runs import check as verify

    with busy("reading every run"):
        found = verify(_store(store))
    if as_json:
        print_json(found._asdict())
    else:
        for name, problem in found.damaged.items():
            typer.echo(f"{name}: damaged ({problem})")
        for name in found.strange:
            typer.echo(f"{name}: not written by saccade")
        typer.echo(f"{found.good} runs are good, {len(found.damaged)} damaged.")
        _tell_leftovers(found.leftovers, "to be removed: saccade runs gc")
    raise typer.Exit(1 if found.damaged else 0)


@app.command("gc")
def gc(
    older_than: Annotated[
        float, typer.Option(help="Seconds since a temporary was last touched; 0 for all.")
    ] = 3600.0,
    damaged: Annotated[
        bool, typer.Option("--damaged", help="Also remove damaged runs that were set aside.")
    ] = False,
    store: StoreFolder = None,
) -> None:
    """Remove what killed writers left behind. Runs are never removed.

    Examples:

        saccade runs gc

        saccade runs gc --older-than 0 --damaged
    """
    from saccade.lab.archive.runs import clean

    found = clean(_store(store), older_than, damaged)
    kept = list(found.kept.values())
    counts = {word: kept.count(word) for word in sorted(set(kept))}
    typer.echo(f"{len(found.removed)} leftovers removed, {len(kept)} kept.")
    _tell_leftovers(counts, "")


def _tell_leftovers(counts: dict[str, int], removing: str) -> None:
    """What is left over and why, or by which command it goes."""
    from saccade.lab.archive.runs import IN_USE, REMOVED, SET_ASIDE

    reasons = {
        REMOVED: removing,
        IN_USE: "kept, since a writer may be at work on them: saccade runs gc --older-than 0",
        SET_ASIDE: "kept, damaged runs that were set aside: saccade runs gc --damaged"}
    for word, reason in reasons.items():
        if counts.get(word):
            typer.echo(f"{counts[word]} leftovers {reason}")


def _store(address: str | None) -> Any:
    """A store to look into; one that does not exist is refused."""
    from saccade.lab.store import Store

    store = Store(address)
    store.check_there()
    return store
