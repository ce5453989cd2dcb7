"""`saccade compare`: what changed between two ledgers."""

from typing import TYPE_CHECKING, Annotated

import typer

from saccade.cli.console import console, print_json, print_table
from saccade.cli.options import AsJson

if TYPE_CHECKING:
    from saccade.lab.compare import Comparison

Ledger = Annotated[str, typer.Argument(help="A ledger written by saccade verify --json.")]


def compare(old: Ledger, new: Ledger, as_json: AsJson = False) -> None:
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
        _show(comparison)
    raise typer.Exit(1 if comparison.verdict_changed else 0)


def _show(comparison: "Comparison") -> None:
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


def _number(value: float, interval: list[float | None]) -> str:
    """Enough digits to see a difference, and the interval where it is not exact."""
    low, high = ("..." if end is None else f"{end:.6g}" for end in interval)
    return f"{value:.12g}" if interval[0] == interval[1] else f"{value:.6g} ({low}, {high})"
