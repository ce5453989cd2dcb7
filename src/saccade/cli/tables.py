"""Tables of the command line: the ledger's, and plain lists."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

COLOURS = {"holds": "green", "refuted": "red", "undecided": "yellow", "waiting": "dim"}


def simple_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for number, head in enumerate(heads):
        table.add_column(head, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    return table


def ledger_table(rows: Sequence[dict[str, Any]], sabotage: bool) -> Table:
    """claim, says, predicted, measured with interval, verdict, sabotages, seconds."""
    table = Table(title="Ledger", title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("claim", no_wrap=True)
    table.add_column("says", overflow="ellipsis", no_wrap=True, max_width=48)
    for head in ("predicted", "measured", "interval"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    if sabotage:
        table.add_column("sabotages", no_wrap=True)
    table.add_column("s", justify="right", no_wrap=True)
    for row in rows:
        cells = [
            row["id"],
            row["statement"],
            number(row["prediction"]),
            number(row["measurement"]),
            _interval(row),
            _verdict(row),
        ]
        cells += [_sabotages(row)] if sabotage else []
        table.add_row(*(escape(cell) if not cell.startswith("[") else cell for cell in cells), seconds(row["seconds"]))
    return table


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _interval(row: dict[str, Any]) -> str:
    interval = row["interval"]
    if not interval or interval[0] == interval[1]:
        return "exact" if interval else "-"
    return f"({number(interval[0])}, {number(interval[1])})"


def _verdict(row: dict[str, Any]) -> str:
    verdict = row["verdict"]
    if verdict == "waiting":
        return f"[dim]{needs(row['needs'])}[/dim]"
    mark = "" if row["as_expected"] else "  (expected " + row["expected"] + ")"
    expected_refutation = " as expected" if verdict == "refuted" and row["as_expected"] else ""
    return f"[{COLOURS[verdict]}]{verdict}[/{COLOURS[verdict]}]{expected_refutation}{mark}"


def needs(what: dict[str, Any]) -> str:
    if "extra" in what:
        return f"waiting: needs the extra '{what['extra']}'"
    return f"waiting: --scale {what['scale']}, {what['minutes']:g} min"


def _sabotages(row: dict[str, Any]) -> str:
    if row["verdict"] == "waiting":
        return "-"
    verdicts = [item["verdict"] for item in row["sabotages"]]
    broken = sum(verdict == "refuted" for verdict in verdicts)
    colour = "green" if broken == len(verdicts) else "red"
    return f"[{colour}]{broken}/{len(verdicts)} refuted[/{colour}]"
