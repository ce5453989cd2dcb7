"""Tables for people at a prompt and in a notebook: as plain text, and as HTML with everything
escaped."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from textwrap import shorten
from typing import Any, ClassVar

WIDEST = 72  # characters of a cell in plain text

Cells = Sequence[Sequence[Any]]


def text_table(heads: Sequence[str], rows: Cells) -> str:
    """Columns side by side; long cells are cut."""
    lines = [list(heads), *([shorten(str(cell), WIDEST) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines
    )


def html_table(heads: Sequence[str], rows: Cells, title: str = "") -> str:
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Rows(list[dict[str, Any]]):
    """A list of dictionaries that shows itself as a table; `columns` says what is shown, as
    heading: key."""

    columns: ClassVar[Mapping[str, str]] = {}

    def _cells(self) -> Iterator[list[Any]]:
        return ([_brief(row.get(key)) for key in self.columns.values()] for row in self)

    def __repr__(self) -> str:
        return text_table(list(self.columns), list(self._cells()))

    def _repr_html_(self) -> str:
        return html_table(list(self.columns), list(self._cells()))


def _brief(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list) and all(isinstance(item, float) for item in value):
        return f"({', '.join(f'{item:.6g}' for item in value)})"
    return "" if value is None else value


class Judged(Rows):
    """Rows of the ledger."""

    columns: ClassVar[Mapping[str, str]] = {
        "claim": "id", "says": "statement", "predicted": "prediction", "measured": "measurement",
        "interval": "interval", "verdict": "verdict"}


class Claims(Rows):
    columns: ClassVar[Mapping[str, str]] = {
        "claim": "id", "row": "spec", "kind": "kind", "says": "statement"}


class Figures(Rows):
    columns: ClassVar[Mapping[str, str]] = {"figure": "id", "shows": "title"}


class Calculators(Rows):
    columns: ClassVar[Mapping[str, str]] = {
        "calculator": "id", "status": "status", "gives": "about"}


class Experiments(Rows):
    columns: ClassVar[Mapping[str, str]] = {"experiment": "id", "runs": "about"}


class Studies(Rows):
    columns: ClassVar[Mapping[str, str]] = {
        "study": "name", "paper": "title", "year": "year", "asks": "asks"}
