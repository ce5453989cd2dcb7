"""The form of the code: `ruff format`, and then as many items on a line as fit, instead of one item
a line.

    python tools/format.py             format src, tests, tools and examples
    python tools/format.py --check     say which files are not in that form; exit code 1 if any
    python tools/format.py FILE ...    the same for some files

A signature of ten parameters is a paragraph, not a page. Names that are imported stay one a line,
as ruff sorts them.
"""

import argparse
import ast
import io
import shutil
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "tools", "examples", "docs")
WIDTH = 100
OPEN, CLOSE = "([{", ")]}"
# A line that begins with one of these goes on with the expression of the line before.
CONTINUES = (
    "for ", "if ", "else ", "and ", "or ", "+ ", "- ", "* ", "/ ", "@ ", "| ", "& ", "== ", "< ",
    "> ", "<= ", ">= ", "in ", "not in ")


def opened(text: str) -> tuple[dict[int, int], set[int]]:
    """Which line closes the bracket that ends a line, and the lines that must stay as they are
    (comments, long strings)."""
    pairs: dict[int, int] = {}
    fixed: set[int] = set()
    stack: list[tuple[int, bool]] = []
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline)]
    for token, after in zip(tokens, [*tokens[1:], tokens[-1]]):
        if token.type == tokenize.COMMENT or (
            token.start[0] != token.end[0] and token.type != tokenize.NEWLINE
        ):
            fixed |= set(range(token.start[0], token.end[0] + 1))
        if token.type == tokenize.OP and token.string in OPEN:
            stack.append((token.start[0], after.type == tokenize.NL))
        elif token.type == tokenize.OP and token.string in CLOSE:
            line, ends_line = stack.pop()
            if ends_line and not token.line[: token.start[1]].strip():
                pairs[line] = token.start[0]
    return pairs, fixed


def filled(text: str) -> str:
    """The text with the items between brackets joined into full lines."""
    pairs, fixed = opened(text)
    lines = ["", *text.split("\n")]
    out: list[str] = []
    number = 1
    while number < len(lines):
        number = _take(lines, number, pairs, fixed, out)
    return "\n".join(out)


def _take(
    lines: list[str], number: int, pairs: dict[int, int], fixed: set[int], out: list[str]
) -> int:
    """Write one line and, if it opens a bracket, all up to its end; returns the next line's
    number."""
    line = lines[number]
    out.append(line)
    end = pairs.get(number)
    if end is None:
        return number + 1
    if line.lstrip().startswith(("from ", "import ")):
        out += lines[number + 1 : end]
        return _take(lines, end, pairs, fixed, out)
    body, items = _body(lines, number + 1, end, pairs, fixed)
    single = pairs.get(number + 1) == end - 1 and not fixed & set(range(number, end))
    if single and len(body) > 1 and len(line) + len(body[0].strip()) <= WIDTH:
        # One item that is a bracket itself: both open on one line.
        out[-1] = line + body[0].strip()
        body = [text[4:] for text in body[1:]]
    rest: list[str] = []
    after = _take(lines, end, pairs, fixed, rest)
    out += body if end - 1 in fixed else _closed(line, body, items, rest)
    out += rest
    return after


def _closed(line: str, body: list[str], items: int, rest: list[str]) -> list[str]:
    """The items with the closing bracket behind the last of them, taken from `rest`, where it fits.

    A signature keeps its closing bracket on a line of its own, so that it stands apart from what
    follows.
    """
    last, closing = body[-1], rest[0].strip()
    call = line[-1] == "(" and (line[-2:-1].isalnum() or line[-2:-1] in ("_", ")", "]"))
    if last.endswith(",") and (call or items > 1):  # the comma of (x,) means something
        last = last[:-1]
    if closing.endswith(":") or len(last) + len(closing) > WIDTH:
        return body
    rest.pop(0)
    return [*body[:-1], last + closing]


def _body(
    lines: list[str], number: int, end: int, pairs: dict[int, int], fixed: set[int]
) -> tuple[list[str], int]:
    """The items of a bracket, several to a line where they are short, and how many there are."""
    out: list[str] = []
    joinable, items = False, 0
    while number < end:
        item: list[str] = []
        first, number = number, _take(lines, number, pairs, fixed, item)
        alone = len(item) == 1 and first not in fixed
        text = item[0].strip()
        follows = out and (out[-1].endswith(",") or text.startswith(CONTINUES))
        if alone and joinable and follows and len(out[-1]) + 1 + len(text) <= WIDTH:
            out[-1] += " " + text
        else:
            out += item
        joinable = alone
        items += item[-1].endswith(",")
    return out, items


def in_form(folder: Path, files: list[Path]) -> None:
    """Format copies in `folder`."""
    command = [
        sys.executable, "-m", "ruff", "format", "--quiet", "--config", str(ROOT / "pyproject.toml"),
        str(folder)]
    subprocess.run(command, check=True)
    for path in files:
        before = path.read_text()
        after = filled(before)
        if ast.dump(ast.parse(before)) != ast.dump(ast.parse(after)):
            raise AssertionError(f"{path}: formatting must not change what the code says")
        path.write_text(after)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    files = asked.files or [
        path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py"))]
    with tempfile.TemporaryDirectory() as name:
        copies = {path: Path(name) / f"{number}" / path.name for number, path in enumerate(files)}
        for path, copy in copies.items():
            copy.parent.mkdir()
            shutil.copyfile(path, copy)
        in_form(Path(name), list(copies.values()))
        changed = [path for path, copy in copies.items() if path.read_text() != copy.read_text()]
        for path in changed:
            if asked.check:
                print(f"not in form: {path}")
            else:
                path.write_text(copies[path].read_text())
    print(f"{len(changed)} of {len(files)} files {'are not in form' if asked.check else 'changed'}")
    return int(asked.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
