"""Formulas as MathML, written when the report is: no script, no font and no network is needed.

`mathml` knows the part of LaTeX that the studies' pages use: letters, indices and exponents,
fractions, roots, sums, accents, calligraphic letters and small tables. What it does not know is
shown as its name.
"""

import re
from collections.abc import Callable

from saccade.report.signs import LETTERS, escaped

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[^\s]")
GREEK = frozenset(name for name, sign in LETTERS.items() if "Α" <= sign <= "ω")
IDENTIFIERS = GREEK | {"ell", "infty", "nabla", "partial", "top", "perp", "star", "ast", "prime"}
FUNCTIONS = frozenset({
    "arccos", "arcsin", "arctan", "argmax", "argmin", "cos", "cosh", "cot", "det", "dim", "erf",
    "exp", "inf", "lim", "ln", "log", "max", "min", "mod", "Pr", "sign", "sin", "sinh",
    "softmax", "sup", "tan", "tanh", "tr"})
SPACES = {",": 0.17, ";": 0.28, ":": 0.22, " ": 0.3, "quad": 1.0, "qquad": 2.0}
ACCENTS = {"hat": "^", "widehat": "^", "tilde": "~", "widetilde": "~", "bar": "¯", "dot": "˙"}
UPRIGHT = frozenset({"mathrm", "text", "operatorname", "mathtt", "mathbf"})
SKIPPED = frozenset({"left", "right", "big", "Big", "bigl", "bigr", "limits", "displaystyle"})
SIGNS = {
    "-": "−", "*": "∗", "|": "|", "'": "′", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊",
    "rfloor": "⌋", "parallel": "∥", "Vert": "‖", "star": "⋆"}
PLANES = {"mathcal": 0x1D49C, "mathscr": 0x1D49C, "mathbb": 0x1D538}
ELSEWHERE = {  # letters that Unicode has put in another place
    "mathcal": dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True)),
    "mathbb": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
}
CLOSE = frozenset("/|‖")
FOLLOWED = re.compile(r"(<math>(?:(?!</math>).)*</math>[,.;:!?)\]’']+)")
# a minus after an opening bracket belongs to what follows it
SIGNED = re.compile(r'(<mo stretchy="false">[(\[{]</mo>)<mo>−</mo>')
STRETCHING = frozenset("()[]{}|‖⟨⟩⌈⌉⌊⌋")


def joined(html: str) -> str:
    """The page's text, in which no line begins with the comma after a formula."""
    return FOLLOWED.sub(r'<span class="tight">\1</span>', str(html))


def mathml(latex: str) -> str:
    """One formula as a `<math>` element; every text in it is escaped."""
    return f"<math>{_Reader(latex).row()}</math>"


class _Reader:
    """Reads a formula from left to right; each method gives MathML."""

    def __init__(self, latex: str) -> None:
        self.tokens = TOKEN.findall(latex)
        self.place = 0

    def next(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        token = self.next()
        self.place += 1
        return token

    def row(self, *ends: str) -> str:
        """Everything up to one of `ends`, or the end of the formula."""
        parts = []
        while self.next() and self.next() not in ends:
            parts.append(self.with_scripts())
        return SIGNED.sub(r"\1<mo form='prefix'>−</mo>", "".join(parts))

    def with_scripts(self) -> str:
        base, below, above = self.atom(), "", ""
        while self.next() in ("_", "^", "'"):
            mark = self.take()
            if mark == "_":
                below = self.argument()
            else:
                above += "<mo>′</mo>" if mark == "'" else self.argument()
        above = above if above.count("<mo>′</mo>") < 1 else f"<mrow>{above}</mrow>"
        if below and above:
            return f"<msubsup>{base or _row('')}{below}{above}</msubsup>"
        if below or above:
            tag = "msub" if below else "msup"
            return f"<{tag}>{base or _row('')}{below or above}</{tag}>"
        return base

    def argument(self) -> str:
        """One argument of a command: what stands in braces, or the next sign."""
        if self.next() == "{":
            return self.atom()
        return self.atom() or _row("")

    def atom(self) -> str:
        token = self.take()
        if token == "{":
            inside = self.row("}")
            self.take()
            return _row(inside)
        if token.startswith("\\"):
            return self.command(token[1:])
        if token[:1].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        return _operator(SIGNS.get(token, token)) if token not in ("", "}", "&", "~") else ""

    def command(self, name: str) -> str:
        special: dict[str, Callable[[], str]] = {
            "frac": self.fraction, "tfrac": self.fraction, "dfrac": self.fraction,
            "sqrt": lambda: f"<msqrt>{self.argument()}</msqrt>", "begin": self.table}
        if name in special:
            return special[name]()
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}em"/>'
        if name in SKIPPED or name == "!":
            return ""
        if name in ACCENTS:
            accent = f'<mo stretchy="false">{ACCENTS[name]}</mo>'
            return f'<mover accent="true">{self.argument()}{accent}</mover>'
        if name in UPRIGHT:
            return f"<mtext>{escaped(self.words())}</mtext>"
        if name in PLANES:
            return f"<mi>{''.join(_in_plane(letter, name) for letter in self.words())}</mi>"
        if name in FUNCTIONS:
            apart = "" if self.next() in ("(", "^", "_") else '<mspace width="0.17em"/>'
            return f"<mi>{name}</mi>{apart}"
        return self.symbol(name)

    def symbol(self, name: str) -> str:
        sign = SIGNS.get(name) or LETTERS.get(name) or {"|": "‖"}.get(name, name)
        return f"<mi>{escaped(sign)}</mi>" if name in IDENTIFIERS else _operator(sign)

    def fraction(self) -> str:
        return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"

    def words(self) -> str:
        """The plain text of an argument."""
        first = self.take()
        if first != "{":
            return first
        start = self.place
        while self.next() not in ("}", ""):
            self.take()
        self.take()
        text = " ".join(self.tokens[start : self.place - 1])
        return re.sub(r"(?<=\w) (?=\w)", "", text).replace("\\ ", " ")

    def table(self) -> str:
        """`cases` and the matrices: rows end with two backslashes, cells with &."""
        kind, rows, cells = self.words(), [], []
        while self.next() and self.next() != "\\end":
            cells.append(f"<mtd>{self.row('&', chr(92) * 2, chr(92) + 'end')}</mtd>")
            if self.next() == "\\\\" or self.next() == "\\end":
                rows.append(f"<mtr>{''.join(cells)}</mtr>")
                cells = []
            if self.next() != "\\end":
                self.take()
        self.take()
        self.words()
        left, right = {"cases": "{", "pmatrix": "()", "bmatrix": "[]"}.get(kind, " ").ljust(2)
        return f"<mrow><mo>{left}</mo><mtable>{''.join(rows)}</mtable><mo>{right}</mo></mrow>"


def _row(inside: str) -> str:
    return f"<mrow>{inside}</mrow>"


def _operator(sign: str) -> str:
    """A sign; brackets keep the height of their line, which reads better in running text, and bars
    and strokes stand close."""
    calm = ' stretchy="false"' if sign in STRETCHING else ""
    close = ' lspace="0" rspace="0"' if sign in CLOSE else ""
    return f"<mo{calm}{close}>{escaped(sign)}</mo>"


def _in_plane(letter: str, name: str) -> str:
    other = ELSEWHERE.get(name, {}).get(letter)
    return other or (chr(PLANES[name] + ord(letter) - ord("A")) if letter.isupper() else letter)
