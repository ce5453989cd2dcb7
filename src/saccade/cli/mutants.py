"""`saccade mutants`: which altered formulas does the ledger not notice?"""

from typing import Annotated, Any

import typer

from saccade.cli import completion, options
from saccade.cli.console import check_file, console, give, print_table
from saccade.cli.progress import progress
from saccade.errors import require, unknown


def mutants(
    studies: Annotated[
        list[str] | None,
        typer.Argument(help="Studies; all if none.", autocompletion=completion.studies)] = None,
    count: Annotated[int, typer.Option(help="Alterations of each study, at least 1.")] = 50,
    draw: Annotated[int, typer.Option(help="Which alterations are drawn.")] = 0,
    limit: Annotated[float, typer.Option(help="Seconds that one mutant may take.")] = 300.0,
    seed: options.Seed = 0, jobs: options.Jobs = 1, json_file: options.JsonFile = None,
    store: options.StoreFolder = None,
) -> None:
    """Alter one formula at a time in a copy of the package and judge the claims that compute with
    it, until one turns red. What is not seen is a blind spot of the ledger.

    Examples:

        saccade mutants spatial --count 20

        saccade mutants --count 50 --jobs 2 --json mutants.json
    """
    from saccade.lab.mutants import hunt as hunting
    from saccade.lab.store import Store
    from saccade.studies import STUDIES

    check_file(json_file)
    require(jobs >= 1, "jobs", jobs, "must be at least 1")
    require(limit > 0, "limit", limit, "must be above 0")
    for name in studies or ():
        if name not in STUDIES:
            raise unknown("study", name, STUDIES)
    chosen = studies or list(STUDIES)
    drawn = [mutant for study in chosen for mutant in hunting.mutants_of(study, count, draw)]
    hunt = hunting.Hunt(Store(store).address, seed, limit, jobs)
    rows = _hunted(chosen, drawn, hunt)
    give("Mutants", {"mutants": rows, "table": hunting.table(rows)}, json_file, lambda: _show(rows))


def _hunted(studies: list[str], drawn: list[Any], hunt: Any) -> list[dict[str, Any]]:
    from saccade.lab.mutants import hunt as hunting

    with progress(len(studies), "judging the unaltered formulas") as advance:
        for study in studies:
            hunting.check_unaltered(study, hunt)
            advance(1, f"{study}: as expected, unaltered")
    with progress(len(drawn), "altering") as advance:
        return hunting.hunt_down(
            drawn, hunt,
            lambda row: advance(1, f"{row['file']}:{row['line']} {row['rule']}: {row['outcome']}"))


def _show(rows: list[dict[str, Any]]) -> None:
    from saccade.lab.mutants.hunt import NOT_SEEN, table

    counted = [
        [*map(str, list(row.values())[:-1]), "" if row["share"] is None else f"{row['share']:.0%}"]
        for row in table(rows)]
    print_table(
        "Mutants", ["study", "room", "seen", "not seen", "equivalent", "share seen"], counted)
    for row in rows:
        if row["outcome"] == NOT_SEEN:
            place = f"{row['study']}/{row['file']}:{row['line']} {row['function']}"
            console().print(
                f"not seen: {place}: {row['before']} -> {row['after']} ({row['rule']})",
                markup=False)
