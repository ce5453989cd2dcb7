"""How the report says numbers, times, names and what a claim waits for."""

import hashlib
import math
import re
from typing import Any

from markupsafe import Markup, escape

SAFE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
IN_BACKTICKS = re.compile(r"`([^`\n]+)`")
ABSENT = "–"
SIGNS = (("+-", "±"), ("<=", "≤"), (">=", "≥"), ("->", "→"))


def finite(value: Any) -> float | None:
    """The number, or None for anything that cannot be drawn: absent, NaN, infinite, not a number at
    all."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


def number(value: Any, digits: int = 6) -> str:
    found = finite(value)
    if found is None:
        return ABSENT
    if found.is_integer() and abs(found) < 1e7:
        return f"{found:.0f}".replace("-", "\N{MINUS SIGN}")
    short = re.sub(r"e([+-])0*(?=\d)", r"e\1", f"{found:.{digits}g}")
    return short.replace("e+", "e").replace("-", "\N{MINUS SIGN}")


def interval(ends: Any, digits: int = 6) -> str:
    """`[low, high]` in words; both ends equal is an exact number, a missing end is one that could
    not be bounded."""
    if not ends:
        return ABSENT
    low, high = finite(ends[0]), finite(ends[1])
    if low is None and high is None:
        return "unbounded"
    if low == high:
        return "exact"
    if low is None:
        return f"at most {number(high, digits)}"
    return (
        f"at least {number(low, digits)}" if high is None
        else f"{number(low, digits)} to {number(high, digits)}")


def duration(seconds: Any) -> str:
    found = finite(seconds)
    if found is None:
        return ABSENT
    if found < 0.01:
        return "under 0.01 s"
    return (
        f"{found:.2g} s" if found < 9.95 else f"{found:.0f} s" if found < 120
        else f"{found / 60:.0f} min")


def waiting_for(needs: Any) -> str:
    """What a claim waits for, as the end of a sentence: "needs scale standard, about 3 min"."""
    if not isinstance(needs, dict):
        return "was not judged here"
    if "extra" in needs:
        missing = ", ".join(map(str, needs.get("missing", ())))
        return f"needs the extra '{needs['extra']}'" + (
            f" (missing here: {missing})" if missing else "")
    if "data" in needs:
        return (
            f"needs the image set {', '.join(map(str, needs['data']))}"
            f" ({needs.get('get', 'saccade data list')})")
    minutes = finite(needs.get("minutes"))
    cost = "" if minutes is None else f", about {duration(60 * max(minutes, 1 / 60))}"
    return f"needs scale {needs.get('scale', '?')}{cost}"


def file_name(name: str) -> str:
    """`name` if it is safe in every file system, else a readable form of it with a hash that keeps
    names apart."""
    if SAFE_NAME.fullmatch(name) and ".." not in name and not name.endswith("."):
        return name
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "item"
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def prose(text: Any) -> Markup:
    """Escaped text in which `backticks` become code, the only mark-up a statement may carry; "+-"
    and "<=" become signs."""
    pieces = IN_BACKTICKS.split(str(text or ""))
    marked = [
        Markup("<code>{}</code>").format(piece) if place % 2 else escape(_signs(piece))
        for place, piece in enumerate(pieces)]
    return Markup("").join(marked)


def _signs(text: str) -> str:
    for typed, sign in SIGNS:
        text = text.replace(typed, sign)
    return text


def counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"
