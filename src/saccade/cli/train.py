"""`saccade train`: the networks of a study, with the cost said first and checkpoints."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saccade.cli.completion import studies
from saccade.cli.options import Scale, Seed, StoreFolder
from saccade.cli.progress import busy, progress
from saccade.lab.pace import spoken

if TYPE_CHECKING:
    from saccade.lab.training import Training


def train(
    study: Annotated[
        str,
        typer.Argument(
            help="A study with trained networks, such as sparse-recovery.", autocompletion=studies),
    ],
    names: Annotated[
        list[str] | None, typer.Argument(help="Which of its trainings; all of the scale if none.")
    ] = None,
    scale: Scale = "quick", seed: Seed = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoints of an interrupted call.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Start even what takes longer than an hour.")] = False,
    store: StoreFolder = None,
) -> None:
    """Train networks and keep their results in the store, where claims and figures find them. The
    cost is said before it starts.

    Examples:

        saccade train sparse-recovery

        saccade train sparse-recovery --scale standard --resume

        saccade train sparse-recovery small --scale paper
    """
    from saccade.lab.store import Store
    from saccade.lab.training import find_trainings

    chosen = find_trainings(study, names or [], scale)
    place = Store(store)
    place.check_writable()
    waiting = [item for item in chosen if not item.is_stored(scale, seed, place)]
    for item in chosen:
        if item not in waiting:
            typer.echo(f"{item.name}: already in the store.", err=True)
    seconds = _announce(waiting, scale)
    if seconds > 3600 and not yes:
        typer.echo(
            "Nothing was started: that is more than an hour. Say --yes to start it; interrupted,"
            " --resume goes on.", err=True)
        raise typer.Exit(0)
    for item in waiting:
        _train_one(item, scale, seed, place, resume)


def _announce(items: "list[Training]", scale: str) -> float:
    """Say what each training will cost, by timing a few steps of it; the sum in seconds."""
    total = 0.0
    for item in items:
        with busy(f"timing a few steps of {item.name}"):
            seconds = item.seconds(scale)
        total += seconds
        typer.echo(
            f"{item.name}: {item.says}; about {spoken(seconds)} on one core of this machine.",
            err=True)
    if len(items) > 1:
        typer.echo(f"In all about {spoken(total)}.", err=True)
    return total


def _train_one(item: "Training", scale: str, seed: int, place: Any, resume: bool) -> None:
    start = time.perf_counter()
    with progress(item.steps(scale), item.name) as advance:
        reached: dict[str, int] = {}

        def report(name: str, step: int, steps: int, loss: float) -> None:
            ahead, reached[name] = step - reached.get(name, 0), step
            advance(ahead, f"{name}: step {step} of {steps}, loss {loss:.3g}")

        item.run(scale, seed, place, resume, report)
    typer.echo(
        f"{item.name}: done in {spoken(time.perf_counter() - start)}; its run is in"
        f" {place.address}.", err=True)
