"""Tables of the command line: the ledger's, and plain lists."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from saccade.lab import slack

SAYS = 48  # characters shown of what a claim says
DISPENSABLE = ("says", "interval", "slack", "predicted", "measured", "s", "sabotages")
NUMBERS = ("predicted", "measured", "interval", "s")
COLOURS = {"holds": "green", "refuted": "red", "undecided": "yellow", "waiting": "dim"}


def simple_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for number, head in enumerate(heads):
        table.add_column(head, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    return table


def ledger_table(rows: Sequence[dict[str, Any]], sabotage: bool, width: int = 200) -> Table:
    """claim, says, predicted, measured with interval, verdict, slack, sabotages, seconds.

    Where `width` is too small for all of it, what the claim says goes first and the verdict never.
    """
    columns = {
        "claim": [Text(row["id"]) for row in rows],
        "says": [Text(row["statement"]) for row in rows],
        "predicted": [Text(number(row["prediction"])) for row in rows],
        "measured": [Text(number(row["measurement"])) for row in rows],
        "interval": [Text(_interval(row)) for row in rows],
        "verdict": [Text.from_markup(_verdict(row)) for row in rows],
        "slack": [Text(slack.words(row.get("slack"))) for row in rows],
        "sabotages": [Text.from_markup(_sabotages(row)) for row in rows] if sabotage else [],
        "s": [Text(seconds(row["seconds"])) for row in rows]}
    shown = _fitting(
        {head: cells for head, cells in columns.items() if head != "sabotages" or sabotage}, width)
    table = Table(
        title="Ledger", title_justify="left", box=None, pad_edge=False, header_style="bold")
    for head in shown:
        side = "right" if head in NUMBERS else "left"
        table.add_column(
            head, justify=side, overflow="ellipsis", no_wrap=True,
            max_width=SAYS if head == "says" else None)
    for cells in zip(*shown.values()):
        table.add_row(*cells)
    return table


def _fitting(columns: dict[str, list[Text]], width: int) -> dict[str, list[Text]]:
    """The columns without the first few of DISPENSABLE, as many as have to go."""
    shown = dict(columns)
    for head in DISPENSABLE:
        widths = [
            max(len(name), *(cell.cell_len for cell in cells), 0) for name, cells in shown.items()
            if name != "says"]
        if sum(widths) + (SAYS if "says" in shown else 0) + 2 * (len(shown) - 1) <= width:
            break
        shown.pop(head, None)
    return shown


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _interval(row: dict[str, Any]) -> str:
    interval = row["interval"]
    if not interval or interval == [None, None]:
        return "-"
    if interval[0] == interval[1]:
        return "exact"
    return f"({number(interval[0])}, {number(interval[1])})"


def _verdict(row: dict[str, Any]) -> str:
    verdict = row["verdict"]
    if verdict == "waiting":
        return f"[dim]{needs(row['needs'])}{_published(row.get('published'))}[/dim]"
    mark = "" if row["as_expected"] else "  (expected " + row["expected"] + ")"
    expected_refutation = " as expected" if verdict == "refuted" and row["as_expected"] else ""
    return f"[{COLOURS[verdict]}]{verdict}[/{COLOURS[verdict]}]{expected_refutation}{mark}"


def _published(row: dict[str, Any] | None) -> str:
    """The verdict of the ledger of record on a claim that waits here, marked as such."""
    if not row:
        return ""
    earlier = ", by earlier code" if row["current"] is False else ""
    return f"; published: {row['verdict']} at {row['scale']}{earlier}"


def listed_verdict(published: dict[str, Any] | None) -> str:
    """What the ledger of record says of a claim, in a word or two."""
    if published is None:
        return "-"
    scale = "" if published["scale"] == "quick" else f" ({published['scale']})"
    loose = f", {published['loose']}" if published.get("loose") else ""
    earlier = " earlier code" * (published["current"] is False)
    return f"{published['verdict']}{loose}{scale}{earlier}"


def needs(what: dict[str, Any]) -> str:
    if "extra" in what:
        return f"waiting: needs the extra '{what['extra']}'"
    if "data" in what:
        return f"waiting: {what['get']}"
    return f"waiting: --scale {what['scale']}, {what['minutes']:g} min"


def _sabotages(row: dict[str, Any]) -> str:
    """How many of its sabotages are refuted; of a claim expected to be refuted, under how many of
    its repairs it holds."""
    if row["verdict"] == "waiting":
        return "-"
    items, wanted = row["sabotages"], "refuted"
    if not items and row.get("repairs"):
        items, wanted = row["repairs"], "holds"
    right = sum(item["verdict"] == wanted for item in items)
    telling = not any(item.get("trivial") for item in items)
    colour = "green" if right == len(items) and telling else "red"
    word = "refuted" if wanted == "refuted" else "mended"
    return f"[{colour}]{right}/{len(items)} {word}[/{colour}]"
