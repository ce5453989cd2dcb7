"""Results of `saccade bench` as files: read again, set against an earlier file, and written as the
tables of docs/benchmarks.md."""

import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from saccade.errors import InvalidInput
from saccade.lab.whole import write_whole

ALLOWED = 1 / 3  # by how much a ratio may fall, or an exponent rise, between two files
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
PEERS = ("celer", "torch")
RATIO_HEADS = (
    "row", "ratio", "quartiles", "means", "target", "ours, CPU s", "peer, CPU s", "apart",
    "allowed", "peak MB", "day")
GROWTH_HEADS = (
    "row", "exponent", "quartiles", "of CPU seconds in", "sizes", "CPU s", "target", "day")

Row = Mapping[str, Any]


class Change(NamedTuple):
    """One row in two files: the ratio or the exponent, and whether it got worse by too much."""

    id: str
    what: str
    old: float
    new: float
    worse: bool


def read_results(path: str | Path) -> list[dict[str, Any]]:
    """The rows of a file written by `saccade bench --json`."""
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
            raise ValueError
    except OSError as problem:
        reason = (problem.strerror or "").lower()
        raise InvalidInput(f"file = {str(path)!r} cannot be read ({reason}).") from None
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"file = {str(path)!r} was not written by saccade bench --json.") from None
    return rows


def _is_row(row: Any) -> bool:
    numbers = (int, float)
    return (
        isinstance(row, dict) and isinstance(row.get("id"), str)
        and (
            isinstance(row.get("exponent"), numbers)
            or (isinstance(row.get("ratio"), numbers) and row["ratio"] > 0)))


def against(new: Sequence[Row], old: Sequence[Row]) -> list[Change]:
    """Every row that both files have, full versions only. Ratios are turned so that more is better;
    one is worse if it fell by more than a third, an exponent if it rose by more than a third."""
    before = {row["id"]: row for row in old if not row.get("tiny")}
    changes = []
    for row in new:
        other = before.get(row["id"])
        if other is None or row.get("tiny") or ("exponent" in row) != ("exponent" in other):
            continue
        if "exponent" in row:
            was, now = other["exponent"], row["exponent"]
            changes.append(Change(row["id"], "exponent", was, now, now > was + ALLOWED))
        else:
            fell = _goodness(row) < (1 - ALLOWED) * _goodness(other)
            changes.append(Change(row["id"], "ratio", other["ratio"], row["ratio"], fell))
    return changes


def _goodness(row: Row) -> float:
    return 1 / row["ratio"] if row.get("ratio_means") == "ours / peer" else row["ratio"]


def write_page(path: str | Path, rows: Sequence[Row]) -> None:
    """Put the tables of `rows` between the marks of a page; what stands around them stays, and so
    do the lines of rows that were not measured this time, with the day on which they were."""
    place = Path(path)
    text = place.read_text(encoding="utf-8") if place.is_file() else f"# Speed\n\n{BEGIN}\n{END}\n"
    if BEGIN not in text or END not in text.split(BEGIN, 1)[1]:
        raise InvalidInput(f"page = {str(path)!r} has no lines {BEGIN} and {END} to write between.")
    head, rest = text.split(BEGIN, 1)
    earlier, tail = rest.split(END, 1)
    write_whole(path, f"{head}{BEGIN}\n{tables(rows, earlier)}\n{END}{tail}", "page")


def tables(rows: Sequence[Row], earlier: str = "") -> str:
    """What each row does, the ratios and the exponents, as Markdown; lines of `earlier` tables for
    rows that are not among these."""
    from saccade.lab.fingerprint import environment, version_of_library

    ratios = [row for row in rows if "ratio" in row]
    exponents = [row for row in rows if "exponent" in row]
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    versions = environment() | {name: version_of_library(name) for name in PEERS}
    versions = {name: v for name, v in versions.items() if v != "not installed"}
    libraries = ", ".join(f"{name} {version}" for name, version in versions.items())
    cells = {
        ("row", "work"): [(f"`{row['id']}`", row["work"]) for row in rows],
        RATIO_HEADS: [[*_ratio_cells(row), row.get("day", day)] for row in ratios],
        GROWTH_HEADS: [[*_growth_cells(row), row.get("day", day)] for row in exponents]}
    pieces = [f"Written {day} by `saccade bench` on {platform.machine()} with {libraries}."]
    pieces += [_table(heads, new, _lines_of(heads, earlier)) for heads, new in cells.items()]
    return "\n" + "\n\n".join(filter(None, pieces)) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _lines_of(heads: Sequence[str], text: str) -> dict[str, str]:
    """The lines of the table with these heads, by their first cell."""
    _, found, below = text.partition(_line(heads) + "\n")
    lines = below.split("\n\n")[0].splitlines()[1:] if found else []
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines}


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], earlier: dict[str, str]) -> str:
    """The lines in the order of their names; nothing if there is none."""
    lines = earlier | {row[0]: _line(row) for row in rows}
    top = [_line(heads), _line(["---"] * len(heads))]
    return "\n".join([*top, *(lines[name] for name in sorted(lines))]) if lines else ""


def _target(row: Row) -> str:
    met = {True: ", met", False: ", **missed**", None: ""}[row["met"]]
    return row["target"].removeprefix("ratio ").removeprefix("exponent ") + met


def _ratio_cells(row: Row) -> list[str]:
    numbers = (
        row["ours_cpu_seconds"], row["peer_cpu_seconds"], row["accuracy"], row["tolerance"],
        row["peak_memory_mb"])
    return [
        f"`{row['id']}`", f"{row['ratio']:.3g}",
        f"{row['ratio_low']:.3g} .. {row['ratio_high']:.3g}", row["ratio_means"], _target(row),
        *(f"{number:.3g}" for number in numbers)]


def _growth_cells(row: Row) -> list[str]:
    return [
        f"`{row['id']}`", f"{row['exponent']:.2f}",
        f"{row['exponent_low']:.2f} .. {row['exponent_high']:.2f}", row["axis"],
        ", ".join(f"{size:g}" for size in row["sizes"]),
        ", ".join(f"{seconds:.3g}" for seconds in row["cpu_seconds"]), _target(row)]
