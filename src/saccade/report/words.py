"""How the report says numbers, times, names, formulas and what a claim waits for."""

import hashlib
import re
from typing import Any

from markupsafe import Markup

from saccade.lab.compare import finite
from saccade.report.signs import LETTERS, escaped
from saccade.report.typesetting import typeset

SAFE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
IN_BACKTICKS = re.compile(r"`([^`\n]+)`")
ABSENT = "–"
TIMES = re.compile(r"(?<=\d) x (?=\d)")  # 10 x 20 is no product of ten and x
SIGNS = (("+-", "±"), ("<=", "≤"), (">=", "≥"), ("->", "→"))
SILENT = (
    "mathrm", "text", "mathbf", "mathcal", "mathtt", "mathbb", "operatorname", "left", "right",
    "big", "Big", "bigl", "bigr", "tfrac")


def number(value: Any, digits: int = 6) -> str:
    known = finite(value)
    if known is None:
        return ABSENT
    if known.is_integer() and abs(known) < 1e7:
        return f"{known:.0f}".replace("-", "\N{MINUS SIGN}")
    short = re.sub(r"e([+-])0*(?=\d)", r"e\1", f"{known:.{digits}g}")
    return short.replace("e+", "e").replace("-", "\N{MINUS SIGN}")


def interval(ends: Any, digits: int = 6) -> str:
    """`[low, high]` in words; equal ends are an exact number, a missing one is unbounded."""
    if not ends:
        return ABSENT
    low, high = finite(ends[0]), finite(ends[1])
    if low is None and high is None:
        return "unbounded"
    if low == high:
        return "exact"
    if low is None:
        return f"at most {number(high, digits)}"
    if high is None:
        return f"at least {number(low, digits)}"
    return f"{number(low, digits)} to {number(high, digits)}"


def duration(seconds: Any) -> str:
    known = finite(seconds)
    if known is None:
        return ABSENT
    if known < 0.01:
        return "under 0.01 s"
    if known < 120:
        return f"{known:.2g} s" if known < 9.95 else f"{known:.0f} s"
    return f"{known / 60:.0f} min"


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
            f"needs the data set {', '.join(map(str, needs['data']))}"
            f" ({needs.get('get', 'saccade data list')})")
    minutes = finite(needs.get("minutes"))
    cost = "" if minutes is None else f", about {duration(60 * max(minutes, 1 / 60))}"
    return f"needs scale {needs.get('scale', '?')}{cost}"


def file_name(name: str) -> str:
    """`name` if it is safe in every file system, else a readable form with a hash of its own."""
    if SAFE_NAME.fullmatch(name) and ".." not in name and not name.endswith("."):
        return name
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "item"
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def prose(text: Any) -> Markup:
    """Escaped text in which `backticks` become code, the only mark-up a statement may carry; "+-"
    and "<=" become signs, and formulas are typeset."""
    pieces = IN_BACKTICKS.split(str(text or ""))
    marked = [
        Markup("<code>{}</code>").format(piece) if place % 2 else typeset(_signs(piece))
        for place, piece in enumerate(pieces)]
    return Markup("").join(marked)


def _signs(text: str) -> str:
    for typed, sign in SIGNS:
        text = text.replace(typed, sign)
    return TIMES.sub(" × ", text)


def counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def plain_words(text: str) -> str:
    """A text with formulas between dollar signs, as safe HTML."""
    return re.sub(r"\$([^$]*)\$", lambda match: formula(match[1]), escaped(text)).replace(
        "\n", "<br>")


def formula(text: str) -> str:
    """One formula (already escaped) as characters a browser shows without a library, with indices
    and exponents: \\lambda_0 as λ<sub>0</sub>. Good for a line, not for a display."""
    text = re.sub(r"\\[,;!: ]|~", " ", text)
    text = re.sub(r"\\t?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))", _fraction, text)
    text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", lambda match: f"√{_grouped(match[1])}", text)
    text = re.sub(rf"\\(?:{'|'.join(SILENT)})(?![A-Za-z])", "", text)
    text = re.sub(r"\\(?:hat|tilde|bar|widehat|widetilde)\s*", "", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda match: LETTERS.get(match[1], match[1]), text)
    for mark, tag in (("_", "sub"), (r"\^", "sup")):
        text = re.sub(
            rf"{mark}(?:\{{([^{{}}]*)\}}|([^\s{{}}]))", lambda match, tag=tag: _raised(match, tag),
            text)
    return text.replace("{", "").replace("}", "").replace("\\", "")


def _fraction(match: "re.Match[str]") -> str:
    above, below = match[1] or match[2] or "", match[3] or match[4] or ""
    return f"{_grouped(above)}/{_grouped(below)}"


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"\w+|\\\w+", text) else f"({text})"


def _raised(match: "re.Match[str]", tag: str) -> str:
    return f"<{tag}>{match[1] or match[2] or ''}</{tag}>"
