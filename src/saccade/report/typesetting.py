"""Formulas in the plain sentences of claims: found where they stand, and typeset.

Claims are written for terminals, `gamma^2 = 1/2` and `sqrt(2 log L) + 3`. `typeset` reads a
sentence from left to right, takes the longest expression that begins where a word may begin, and
leaves everything else as it is. Relations stay in the text, so that a line can break there.
"""

import re
from typing import NamedTuple

from markupsafe import Markup, escape

from saccade.report.formulas import FUNCTIONS, GREEK, joined, mathml

WORD = re.compile(r"[A-Za-z]+")
# "2k" is a product, "7b" the name of a figure
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?(?![A-Za-z]{2}|[abc]\b|\d)")
GAP = re.compile(r" ?")
OPERATOR = re.compile(r" ?(\+|-|/|×|·|(?<=\d) ?x(?= ?\d)) ?")
RELATION = re.compile("[=<>≤≥]")
CALLED = re.compile(r"(?:Lemma|Figure|Table|Section|Appendix|Theorem|Corollary|Part|Eq) ?$", re.I)
BEFORE = frozenset(' \n\t([{“"|=<>+/,;:±~≤≥→−')
ARTICLES = frozenset("aAI")
NOT_ARTICLES = re.compile(r"[\^_(]| (?:=|<|>|≤|≥|→) ")
NAMES = {"eps": "varepsilon", "infinity": "infty"}
LONGEST = 40  # characters of one piece: it must fit on a phone


class Piece(NamedTuple):
    """An expression that ends at `end`, in LaTeX; `strong` if it is certainly a formula."""

    end: int
    latex: str
    strong: bool


def typeset(text: str) -> Markup:
    """The sentence as safe HTML, its formulas as MathML."""
    parts, place, plain = [], 0, 0
    while place < len(text):
        piece = _expression(text, place) if _may_begin(text, place) else None
        if piece and piece.strong:
            parts += [escape(text[plain:place]), Markup(mathml(piece.latex))]
            place = plain = piece.end
        else:
            place = max(place + 1, piece.end if piece else 0)
    return Markup(joined(Markup("").join([*parts, escape(text[plain:])])))


def _may_begin(text: str, place: int) -> bool:
    return (place == 0 or text[place - 1] in BEFORE) and not CALLED.search(text[:place][-12:])


def _expression(text: str, place: int, inside: bool = False) -> Piece | None:
    """Terms joined by + - / and the like."""
    minus = text[place : place + 1] == "-"
    whole = _term(text, place + minus)
    while whole:
        sign = OPERATOR.match(text, whole.end)
        more = _term(text, sign.end()) if sign else None
        if not sign or not more or (more.end - place > LONGEST and not inside):
            break
        joined = {"x": r"\times", "×": r"\times", "·": r"\cdot"}.get(sign[1].strip(), sign[1])
        whole = Piece(more.end, f"{whole.latex} {joined} {more.latex}", whole.strong or more.strong)
    return whole and whole._replace(latex="-" * minus + whole.latex)


def _term(text: str, place: int) -> Piece | None:
    """Factors side by side, as in "2 log L"; a number does not begin a second factor."""
    whole = _factor(text, place)
    while whole:
        gap = GAP.match(text, whole.end)
        start = gap.end() if gap else whole.end
        more = _factor(text, start) if not NUMBER.match(text, start) else None
        bracket = text[start : start + 1] in ("(", "|")
        if not more or (start > whole.end and not more.strong) or (bracket and start > whole.end):
            break
        if start > whole.end and _next_equation(text, place, more.end):
            break
        whole = Piece(more.end, f"{whole.latex} {more.latex}", True)
    return whole


def _next_equation(text: str, place: int, end: int) -> bool:
    """Whether what ends at `end` begins an equation of its own: "d=400 L=10" is no product."""
    return bool(RELATION.search(text[:place][-2:]) and RELATION.search(text[end : end + 2]))


def _factor(text: str, place: int) -> Piece | None:
    """A base with its indices and exponents; `k*` is the true k."""
    whole = _base(text, place)
    while whole and text[whole.end : whole.end + 1] in ("^", "_"):
        script = _script(text, whole.end + 1)
        if not script:
            break
        mark = text[whole.end]
        whole = Piece(script.end, f"{whole.latex}{mark}{{{script.latex}}}", True)
    if whole and whole.strong and re.match(r"\*(?![\w(])", text[whole.end :]):
        return whole._replace(end=whole.end + 1, latex=rf"{{{whole.latex}}}^\star")
    return whole


def _base(text: str, place: int) -> Piece | None:
    if number := NUMBER.match(text, place):
        return Piece(number.end(), _scientific(number[0]), False)
    if text[place : place + 1] in ("(", "|"):
        return _bracketed(text, place)
    word = WORD.match(text, place)
    if not word:
        return None
    name, end = word[0], word.end()
    if name in FUNCTIONS or name == "sqrt":
        return _called(text, name, end)
    if name in GREEK or name in NAMES or (name == "sum" and text[end : end + 1] == "_"):
        index = re.match(r"\d(?![\d.])", text[end:])  # alpha0
        below = f"_{{{index[0]}}}" if index else ""
        return Piece(
            end + len(index[0] if index else ""), rf"\{NAMES.get(name, name)}{below} ", True)
    if len(name) > 1 or (name in ARTICLES and not NOT_ARTICLES.match(text, end)):
        return None
    if re.match(r"'|\.g\.|\.e\.|\.\d|-[A-Za-z]{2}", text[end:]):
        return None
    digits = re.match(r"\d{1,2}(?![\d.]*[A-Za-z])", text[end:])
    index = f"_{{{digits[0]}}}" if digits else ""
    return Piece(end + (digits.end() if digits else 0), name + index, True)


def _scientific(number: str) -> str:
    digits, _, power = number.partition("e")
    return rf"{digits} \cdot 10^{{{power}}}" if power else digits


def _called(text: str, name: str, end: int) -> Piece | None:
    """`sqrt(...)`, `log L`, `exp(-x)`; the word alone is a word."""
    gap = GAP.match(text, end)
    start = end if name == "sqrt" or not gap else gap.end()
    inside = _factor(text, start)
    if not inside:
        return None
    if name == "sqrt":
        bare = re.sub(r"^\((.*)\)$", r"\1", inside.latex)
        return Piece(inside.end, rf"\sqrt{{{bare}}}", True)
    return Piece(inside.end, rf"\{name} {inside.latex}", True)


def _bracketed(text: str, place: int) -> Piece | None:
    """An expression in brackets or bars."""
    open, close = text[place], {"(": ")", "|": "|"}[text[place]]
    inside = _expression(text, place + 1, inside=True)
    while inside and text[inside.end : inside.end + 1] == "," and open == "(":
        more = _expression(text, inside.end + 2, inside=True)
        if not more:
            return None
        inside = Piece(more.end, f"{inside.latex}, {more.latex}", inside.strong or more.strong)
    if not inside or text[inside.end : inside.end + 1] != close:
        return None
    return Piece(inside.end + 1, f"{open}{inside.latex}{close}", inside.strong)


def _script(text: str, place: int) -> Piece | None:
    """An index or an exponent: a word, a number, or something in brackets, which are left out."""
    if text[place : place + 1] in ("(", "{"):
        close = {"(": ")", "{": "}"}[text[place]]
        inside = _expression(text, place + 1, inside=True)
        return (
            inside._replace(end=inside.end + 1)
            if inside and text[inside.end : inside.end + 1] == close else None)
    if plain := re.match(r"-?\d+(?:\.\d+)?|[A-Z](?![A-Za-z])", text[place:]):
        return Piece(place + plain.end(), plain[0], True)
    word = WORD.match(text, place)
    if not word:
        return Piece(place + 1, r"\star", True) if text[place : place + 1] == "*" else None
    name = word[0]
    shown = rf"\{name} " if name in GREEK else name if len(name) == 1 else rf"\mathrm{{{name}}}"
    return Piece(word.end(), shown, True)
