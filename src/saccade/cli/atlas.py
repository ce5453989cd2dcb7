"""`saccade atlas`: every learner on every task, as one resumable sweep."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from saccade.cli.console import check_file, print_json, print_table
from saccade.cli.options import AsJson, Scale, Seed, StoreFolder, check_scale
from saccade.cli.progress import progress
from saccade.cli.sweep import Cluster, Counting, DryRun, Jobs, Retry, duration
from saccade.errors import require

if TYPE_CHECKING:
    from saccade.lab.sweep.api import Outcome

RUN, SWEEP = "attention-atlas.cell", "attention-atlas/coarse"
Names = list[str] | None


def atlas(
    tasks: Annotated[
        Names, typer.Option(help="Tasks by name or pattern, joined by commas or given again.")
    ] = None,
    learners: Annotated[Names, typer.Option(help="Learners, likewise.")] = None,
    samples: Annotated[
        str, typer.Option(help="Numbers of samples to learn from, joined by commas.")
    ] = "50,200,800",
    length: Annotated[int, typer.Option(help="Tokens of a sample.")] = 8,
    dim: Annotated[int, typer.Option(help="Features of a token.")] = 8,
    draws: Annotated[
        int | None, typer.Option(help="Independent draws of task and samples in a cell.")] = None,
    scale: Scale = "quick", seed: Seed = 0, jobs: Jobs = None, cluster: Cluster = None,
    figure: Annotated[
        str | None, typer.Option(help="Draw the map: FILE.pdf, .png or .svg.")] = None,
    show: Annotated[
        bool, typer.Option("--list", help="Only say which tasks and learners there are.")] = False,
    dry_run: DryRun = False, retry: Retry = False, as_json: AsJson = False,
    store: StoreFolder = None,
) -> None:
    """Which attention solves which sparsity? Every learner on every task: excess error (0 is the
    best predictor that knows the task, 1 is knowing nothing), where it looks, seconds.

    Finished cells are kept; the same command resumes. Exit code 1 if a cell failed.

    Examples:

        saccade atlas --list

        saccade atlas --jobs 2 --figure atlas.png

        saccade atlas --tasks 'moving-*' --learners softmax,place,content-place --samples 100,1000

        saccade atlas --scale standard --cluster tcp://node1:8786
    """
    from saccade.lab import charting, registry

    check_scale(scale)
    require(draws is None or draws >= 1, "draws", draws, "must be at least 1")
    if show:
        _list()
        return
    _check_figure(figure)
    absent = charting.left_out(_split(tasks), registry.charted_tasks(), scale)
    laid = charting.laid(
        charting.chosen("task", _split(tasks), registry.charted_tasks(), scale),
        charting.chosen("learner", _split(learners), registry.charted_learners(), scale),
        charting.sizes(samples), length, dim)
    for sentence in (*filter(None, [absent]), *laid.refused):
        typer.echo(sentence, err=True)
    fixed = {"length": length, "dim": dim} | ({"draws": draws} if draws is not None else {})
    asked = {
        "run": RUN, "design": "list", "cells": laid.cells, "fixed": fixed, "scale": scale,
        "seed": seed, "title": "The atlas: every learner on every task"}
    outcome = _carry_out(asked, jobs, cluster, dry_run, retry, store)
    if not dry_run:
        _tell(outcome, as_json, figure)
        raise typer.Exit(1 if outcome.failed else 0)


def _split(names: Names) -> list[str]:
    return [name.strip() for one in names or [] for name in one.split(",") if name.strip()]


def _list() -> None:
    from saccade.lab import registry

    for title, items in (
        ("Tasks", registry.charted_tasks()), ("Learners", registry.charted_learners()),
    ):
        rows = [(one.id, _on_map(one), one.study, one.says) for one in items]
        print_table(title, ("name", "on the map", "study", "is"), rows)


def _on_map(one: Any) -> str:
    from saccade.lab import registry

    absent = registry.lacking(getattr(one, "requires", None))
    return f"after {absent['get']}" if absent else "quick" if one.quick else "standard"


def _check_figure(figure: str | None) -> None:
    from saccade.lab.figure import check_output

    if figure is not None:
        check_output(figure)
        check_file(figure)


def _carry_out(
    asked: dict[str, Any], jobs: int | None, cluster: str | None, dry_run: bool, retry: bool,
    store: str | None,
) -> "Outcome":
    from saccade.lab.engines import aside, choose
    from saccade.lab.store import Store
    from saccade.lab.sweep.api import Outcome, execute, understood
    from saccade.lab.sweep.plan import describe, plan

    engine = choose(jobs, cluster, otherwise=aside)
    laid_out = plan(understood(asked)[0], Store(store), None, mend=not dry_run)
    typer.echo(describe(laid_out, jobs or 1, retry, duration), err=not dry_run)
    if dry_run:
        return Outcome(laid_out, 0, 0.0)
    missing = len(laid_out.missing(retry))
    with progress(missing, "drawing the map") as advance:
        outcome = execute(laid_out, engine, retry, Counting(missing, advance))
    typer.echo(f"{outcome.computed} cells computed in {duration(outcome.seconds)}.", err=True)
    return outcome


def _tell(outcome: "Outcome", as_json: bool, figure: str | None) -> None:
    from saccade.lab.charting import summaries
    from saccade.lab.figure import save
    from saccade.lab.sweep.api import draw, find

    data = outcome.open()
    rows = summaries(data)
    if as_json:
        print_json(rows)
    else:
        print_table(
            "Excess error by number of samples (0 best, 1 null; ± 95 %); at the most samples: where"
            " it looks, and processor seconds of a fit", *_table(rows))
    if figure:
        typer.echo(f"Figure: {save(draw(find(SWEEP), data), figure)}", err=as_json)


def _table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """A line for each task and learner."""
    counts = sorted({row["samples"] for row in rows})
    lines: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault((row["task"], row["learner"]), {})[row["samples"]] = row
    heads = ["task", "learner", *(f"n = {count}" for count in counts), "AUROC", "top-1", "seconds"]
    return heads, [
        [
            task, learner, *(_entry(by.get(count)) for count in counts),
            *(_number(by[max(by)].get(name)) for name in ("auroc", "top1", "seconds"))]
        for (task, learner), by in lines.items()]


def _entry(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if row.get("excess") is None:
        return row["word"]
    width = "" if row["excess_width"] is None else f" ± {row['excess_width']:.2f}"
    return f"{row['excess']:.2f}{width}" + ("" if row["word"] == "finished" else f" {row['word']}")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
