"""`saccade mutants`: which altered formulas does the ledger not notice?"""

import json
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

import typer

from saccade.cli import completion, options
from saccade.cli.console import check_file, console, give, print_table
from saccade.cli.progress import progress
from saccade.errors import InvalidInput, require, unknown
from saccade.lab.whole import write_whole


def mutants(
    studies: Annotated[
        list[str] | None,
        typer.Argument(
            help="Studies, or rooms they share: gaussian, convex, descent; all if none.",
            autocompletion=completion.studies)] = None,
    count: Annotated[int, typer.Option(help="Alterations of each study, at least 1.")] = 50,
    draw: Annotated[int, typer.Option(help="Which alterations are drawn.")] = 0,
    by_hand: Annotated[
        Path | None,
        typer.Option(
            help="Alterations of your own instead: a JSON list of {study, file, before, after},"
            " the file relative to the package.")] = None,
    limit: Annotated[
        float,
        typer.Option(
            help="Seconds that one mutant may take; without a verdict by then it"
            " counts as not seen.")] = 900.0,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on from the file of --json, which is written after"
            " each mutant; those in it are not hunted again.")] = False,
    seed: options.Seed = 0, jobs: options.Jobs = 1, json_file: options.JsonFile = None,
    store: options.StoreFolder = None,
) -> None:
    """Alter one formula at a time in a copy of the package and judge the claims that compute with
    it, until one turns red. What is not seen is a blind spot of the ledger.

    Examples:

        saccade mutants spatial --count 20

        saccade mutants gaussian convex --count 10

        saccade mutants --count 50 --jobs 2 --json mutants.json --resume

        saccade mutants --by-hand mine.json
    """
    from saccade.lab.mutants import hunt as hunting
    from saccade.lab.store import Store
    from saccade.studies import STUDIES

    check_file(json_file)
    require(
        not resume or json_file not in (None, "-"), "resume", resume, "needs the file of --json")
    require(jobs >= 1, "jobs", jobs, "must be at least 1")
    require(limit > 0, "limit", limit, "must be above 0")
    chosen = studies or [*STUDIES, *hunting.SHARED]
    for name in chosen:
        if name not in (*STUDIES, *hunting.SHARED):
            raise unknown("study", name, (*STUDIES, *hunting.SHARED))
    drawn = _drawn(chosen, count, draw, by_hand)
    chosen = list(dict.fromkeys(mutant.study for mutant in drawn))
    hunt = hunting.Hunt(Store(store).address, seed, limit, jobs)
    earlier = _earlier(json_file) if resume and json_file else []
    told = [row for row in earlier if any(_same(row, mutant) for mutant in drawn)]
    left = [mutant for mutant in drawn if not any(_same(row, mutant) for row in told)]
    rows = told + _hunted(chosen, left, hunt, _kept_up(told, json_file))
    give("Mutants", {"mutants": rows, "table": hunting.table(rows)}, json_file, lambda: _show(rows))


def _drawn(chosen: list[str], count: int, draw: int, by_hand: Path | None) -> list[Any]:
    from saccade.lab.mutants import hunt as hunting

    if by_hand is not None:
        return [mutant for mutant in hunting.by_hand(by_hand) if mutant.study in chosen]
    return [mutant for study in chosen for mutant in hunting.mutants_of(study, count, draw)]


def _earlier(json_file: str) -> list[dict[str, Any]]:
    """The rows of an earlier hunt; none if there is no such file."""
    path = Path(json_file)
    if not path.is_file():
        return []
    try:
        rows = json.loads(path.read_text())["mutants"]
        [row["outcome"] for row in rows]
    except (ValueError, KeyError, TypeError):
        raise InvalidInput(f"{json_file} holds no mutants of an earlier hunt.") from None
    return rows


def _same(row: dict[str, Any], mutant: Any) -> bool:
    words = mutant.describe()
    return all(row.get(name) == words[name] for name in words)


def _kept_up(told: list[dict[str, Any]], json_file: str | None) -> Callable[[dict[str, Any]], None]:
    """Writes the rows so far into the file whenever there is one more."""
    from saccade.lab.mutants.hunt import table

    rows, lock = list(told), Lock()

    def add(row: dict[str, Any]) -> None:
        with lock:
            rows.append(row)
            if json_file not in (None, "-"):
                write_whole(
                    json_file, json.dumps({"mutants": rows, "table": table(rows)}, indent=1))

    return add


def _hunted(
    studies: list[str], drawn: list[Any], hunt: Any, keep: Callable[[dict[str, Any]], None]
) -> list[dict[str, Any]]:
    from saccade.lab.mutants import hunt as hunting

    if not drawn:
        return []
    with progress(len(studies), "judging the unaltered formulas") as advance:
        for study in studies:
            hunting.check_unaltered(study, hunt)
            advance(1, f"{study}: as expected, unaltered")
    with progress(len(drawn), "altering") as advance:

        def done(row: dict[str, Any]) -> None:
            keep(row)
            advance(1, f"{row['file']}:{row['line']} {row['rule']}: {row['outcome']}")

        return hunting.hunt_down(drawn, hunt, done)


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
