"""Two ledgers side by side: which claims appeared, vanished, changed verdict, or moved.

    saccade.compare("old.json", "new.json").changed

A measurement has moved when it lies outside the other ledger's interval. Where an interval is exact
it is widened by rounding: 1e-9 of the number, or the claim's resolution where that is smaller than
1e-9 (residuals that should be zero). A prediction has moved when it did so by more than the claim's
resolution; so has a number that only one of the ledgers has. Numbers of different scales, or of
somebody's own parameters, are not compared: the row is listed as rescaled. A sabotage that one of
the ledgers did not run has no verdict to compare.
"""

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from saccade.errors import InvalidInput, shown
from saccade.lab.precisions import DOUBLE

FORMAT = "saccade-ledger/1"
"""Of every ledger that is written; see `lab/schema.py`."""

VERDICTS = ("holds", "refuted", "undecided", "waiting")
ROUNDING = 1e-9

Row = Mapping[str, Any]


class Place(NamedTuple):
    """A claim (`sabotage` is None) or one of its sabotages."""

    claim: str
    sabotage: str | None = None


class Change(NamedTuple):
    """A claim or a sabotage with another verdict (or, among the rescaled, another scale)."""

    claim: str
    sabotage: str | None
    old: str
    new: str


class Move(NamedTuple):
    """A part of a claim with another number, or with one in one ledger only (None); `quantity` is
    "measurement", "prediction", or "worst part" where a claim of many parts lists only that."""

    claim: str
    part: str
    quantity: str
    old: float | None
    new: float | None
    old_interval: list[float | None]
    new_interval: list[float | None]


class Comparison(NamedTuple):
    """What differs between two ledgers; `unchanged` counts the claims without any difference."""

    appeared: list[Place]
    vanished: list[Place]
    changed: list[Change]
    moved: list[Move]
    rescaled: list[Change]
    unchanged: int

    @property
    def verdict_changed(self) -> bool:
        return bool(self.changed)

    def counts(self) -> dict[str, int]:
        """How many differences of each sort, and how many claims without any."""
        sizes = {name: len(getattr(self, name)) for name in self._fields[:-1]}
        return sizes | {"unchanged": self.unchanged}

    def describe(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        lists = {
            name: [item._asdict() for item in getattr(self, name)] for name in self._fields[:-1]}
        return lists | {"summary": self.counts()}


def read_text(path: Path) -> str:
    """The text of a file, unpacked if it is packed by gzip, as the ledger of a report is."""
    content = path.read_bytes()
    packed = content.startswith(b"\x1f\x8b")
    return (gzip.decompress(content) if packed else content).decode("utf-8")


def read_ledger(path: str | Path) -> list[dict[str, Any]]:
    """The rows of a ledger written by `saccade verify --json`, or of a report's own; one that does
    not name its format is from before there were formats."""
    try:
        if Path(path).is_char_device():  # some of them never end
            raise InvalidInput("it is a device, not a file.")
        ledger = json.loads(read_text(Path(path)))
        if ledger.get("format", FORMAT) != FORMAT:
            raise InvalidInput(
                f"its format is {shown(ledger['format'])}, and this saccade reads {FORMAT}.")
        return check_rows(ledger["claims"])
    except (OSError, EOFError) as problem:
        reason = (getattr(problem, "strerror", "") or str(problem)).lower().rstrip(".")
        raise InvalidInput(f"ledger = {str(path)!r} cannot be read ({reason}).") from None
    except InvalidInput as problem:
        raise InvalidInput(f"ledger = {str(path)!r} cannot be used: {problem}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error):
        raise InvalidInput(
            f"ledger = {str(path)!r} is not a ledger written by saccade verify --json.") from None


def check_rows(rows: Any) -> Any:
    """The rows themselves, or a refusal: each needs an id of its own and a verdict."""
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise TypeError("the rows of a ledger are a list")
    ids: set[str] = set()
    for row in rows:
        name = row.get("id") if isinstance(row, Mapping) else row
        if not isinstance(row, Mapping) or not isinstance(name, str) or not _has_verdict(row):
            raise InvalidInput(
                f"ledger row {shown(name)} needs an id and a verdict out of {', '.join(VERDICTS)}.")
        if name in ids:
            raise InvalidInput(f"ledger row {shown(name)} is there twice.")
        ids.add(name)
    return rows


def _has_verdict(row: Row) -> bool:
    return isinstance(row.get("verdict"), str) and row["verdict"] in VERDICTS


def compare(old: str | Path | Sequence[Row], new: str | Path | Sequence[Row]) -> Comparison:
    """What differs between two ledgers: files, or rows as `saccade.verify` gives them."""
    before, after = _by_id(old), _by_id(new)
    both = [(before[name], after[name]) for name in before if name in after]
    sabotages = {name: (_sabotages(a), _sabotages(b)) for a, b in both for name in [a["id"]]}
    appeared = [Place(name) for name in after if name not in before]
    vanished = [Place(name) for name in before if name not in after]
    for name, (had, has) in sabotages.items():
        appeared += [Place(name, item) for item in has if item not in had]
        vanished += [Place(name, item) for item in had if item not in has]
    changed = [change for pair in both for change in _verdicts(*pair)]
    rescaled = [
        Change(a["id"], None, _setting(a), _setting(b)) for a, b in both
        if _setting(a) != _setting(b)]
    apart = {item.claim for item in rescaled}
    moved = [move for a, b in both if a["id"] not in apart for move in _moves(a, b)]
    differing = {item.claim for item in [*appeared, *vanished, *changed, *moved, *rescaled]}
    unchanged = sum(a["id"] not in differing for a, _ in both)
    return Comparison(appeared, vanished, changed, moved, rescaled, unchanged)


def _setting(row: Row) -> str:
    """The scale, and what was not as published: numbers of other settings are not compared."""
    from saccade.lab.settings import words  # needs NumPy, and `saccade list` reads ledgers without

    changes = words(tuple((row.get("changes") or {}).items()), row.get("precision") or DOUBLE)
    return ", ".join(filter(None, [str(row.get("scale")), changes]))


def _by_id(ledger: str | Path | Sequence[Row]) -> dict[str, Row]:
    if not isinstance(ledger, str | Path | Sequence):
        raise InvalidInput(f"ledger = {shown(ledger)} must be a file, or a list of rows.")
    rows = read_ledger(ledger) if isinstance(ledger, str | Path) else check_rows(ledger)
    return {row["id"]: row for row in rows}


def _rows(value: Any) -> list[Row]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _sabotages(row: Row) -> dict[str, Any]:
    """Verdicts of a claim's sabotages and repairs by name; None for one that was not run."""
    controls = [*_rows(row.get("sabotages")), *_rows(row.get("repairs"))]
    return {str(item.get("name")): item.get("verdict") for item in controls}


def _verdicts(old: Row, new: Row) -> Iterator[Change]:
    if old["verdict"] != new["verdict"]:
        yield Change(old["id"], None, old["verdict"], new["verdict"])
    after = _sabotages(new)
    for name, verdict in _sabotages(old).items():
        other = after.get(name)
        if verdict is not None and other is not None and verdict != other:
            yield Change(old["id"], name, str(verdict), str(other))


def _parts(row: Row) -> dict[str, Row]:
    """The numbers of a claim by part; a row that does not list its parts has the deciding one."""
    parts = {str(item.get("part")): item for item in _rows(row.get("parts"))}
    return parts or {str(row.get("part")): row}


def _moves(old: Row, new: Row) -> Iterator[Move]:
    before, after = _parts(old), _parts(new)
    if len(before) == len(after) == 1 and before.keys() != after.keys():
        yield from _worst_parts(old, new)
        return
    for part in dict.fromkeys((*before, *after)):
        a, b = before.get(part, {}), after.get(part, {})
        ends = _interval(a), _interval(b)
        slack = finite(a.get("resolution")) or 0.0
        for quantity in ("measurement", "prediction"):
            was, now = finite(a.get(quantity)), finite(b.get(quantity))
            if _differ(was, now, slack, ends if quantity == "measurement" else None):
                yield Move(old["id"], part, quantity, was, now, *ends)


def _worst_parts(old: Row, new: Row) -> Iterator[Move]:
    """Another part of many is now the worst: how far it is from its prediction is compared."""
    was, now = (finite(row.get("measurement")) for row in (old, new))
    centres = [finite(row.get("prediction")) or 0.0 for row in (old, new)]
    gaps = [None if x is None else abs(x - c) for x, c in zip((was, now), centres)]
    if _differ(gaps[0], gaps[1], finite(old.get("resolution")) or 0.0, None, exact=True):
        name = f"{old.get('part')} / {new.get('part')}"
        yield Move(old["id"], name, "worst part", was, now, _interval(old), _interval(new))


def _differ(
    was: float | None, now: float | None, slack: float, ends: Any, exact: bool = False
) -> bool:
    """Whether a number moved: a measurement with `ends` out of the other's interval, others by more
    than `slack` (or than rounding, where `exact`)."""
    if was is None or now is None:
        return (was is None) != (now is None)
    rounding = max(ROUNDING * max(abs(was), abs(now)), min(slack, ROUNDING))
    if ends is not None:
        return _outside(was, ends[1], rounding) or _outside(now, ends[0], rounding)
    return abs(was - now) > (rounding if exact else max(slack, rounding))


def _outside(value: float, ends: list[float | None], rounding: float) -> bool:
    low, high = ends
    return (low is not None and value < low - rounding) or (
        high is not None and value > high + rounding)


def _interval(numbers: Row) -> list[float | None]:
    """Both ends, None for one that is not bounded; the number itself where there is no interval."""
    ends = numbers.get("interval")
    if isinstance(ends, list) and len(ends) == 2:
        return [finite(end) for end in ends]
    return [finite(numbers.get("measurement"))] * 2


def finite(value: Any) -> float | None:
    """The number, or None for anything that cannot be compared or drawn: absent, NaN, infinite, not
    a number at all."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # a whole number beyond all floats
        return None
