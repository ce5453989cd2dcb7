"""How a formula is altered: one expression of a source text at a time, by rule.

    constant       1.5 -> 1.65, 3 -> 4
    sign           a + b -> a - b, -a -> a
    factor         a * b -> a / b and the other way round
    dropped        a + b -> a, a - b -> a, a * b -> a, a / b -> a (a missing term or normalisation)
    power          a ** 2 -> a ** 3
    off by one     length -> (length - 1), for the names of sizes
    swapped        f(a, b) -> f(b, a)
    axis           axis=-1 -> axis=0, and the other way round
    sum for mean   x.mean() -> x.sum(), and the other way round

What says nothing of mathematics is left alone: docstrings, types, defaults, decorators, messages,
and the checks of input.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

SIZES = frozenset(
    {"dim", "length", "d", "L", "groups", "patches", "set_size", "informative", "heads", "layers"})
OTHER_NAME = {"mean": "sum", "sum": "mean"}
OTHER_SIGN = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
LEFT_ALONE = frozenset({
    "require", "unknown", "InvalidInput", "range", "reshape", "zeros", "ones", "empty",
    "arange", "split", "isinstance", "len", "ndim", "squeeze", "expand_dims", "moveaxis",
    "swapaxes", "asarray", "astype", "partial", "jit", "vmap"})
SMALLEST = 1e-3  # a smaller constant is a tolerance or a guard, not part of a formula


class Alteration(NamedTuple):
    """`before` at `start`..`end` (bytes) of a file becomes `after`; `line` and `function` tell a
    reader where."""

    rule: str
    function: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def applied(self, text: bytes) -> bytes:
        return text[: self.start] + self.after.encode() + text[self.end :]


class _Source:
    """A source text in which the places of nodes are bytes."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.lines = [0]
        for line in text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.lines[node.lineno - 1] + node.col_offset, self.lines[end_line - 1] + end

    def words(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self.text[start:end].decode()


def alterations(text: bytes) -> list[Alteration]:
    """Every alteration of a source text, in the order of its lines."""
    source = _Source(text)
    collected = [
        Alteration(rule, function, node.lineno, *source.span(node), source.words(node), after)
        for function, node in _expressions(ast.parse(text))
        for rule, after in _altered(node, source)]
    changes = {item for item in collected if item.before != item.after}
    return sorted(changes, key=lambda item: (item.start, item.end, item.rule, item.after))


def function_at(text: bytes, line: int) -> str:
    """The dotted name of the function or class around a line; empty at the top of a module."""
    names, body = [], ast.parse(text).body
    while around := [
        node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and node.lineno <= line <= (node.end_lineno or 0)
    ]:
        names.append(around[0].name)
        body = around[0].body
    return ".".join(names)


def _expressions(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Expressions that compute, with the function around them. Limits at the top of a module and
    the defaults of fields are left alone: a caller gives its own."""
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield from _of_statement(statement, "")


def _of_statement(node: ast.AST, function: str) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        name = f"{function}.{node.name}".lstrip(".")
        checks = node.name.lstrip("_").startswith("check") or node.name == "__post_init__"
        for child in [] if checks else node.body:
            if not (isinstance(node, ast.ClassDef) and isinstance(child, ast.AnnAssign)):
                yield from _of_statement(child, name)
    elif isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.Global)):
        return
    elif isinstance(node, ast.expr):
        yield from _of_expression(node, function)
    else:
        for name, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            for child in children if name not in ("annotation", "type_comment") else []:
                if isinstance(child, (ast.expr, ast.stmt, ast.excepthandler, ast.withitem)):
                    yield from _of_statement(child, function)


def _of_expression(node: ast.expr, function: str) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Call) and _called(node) in LEFT_ALONE:
        return
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        return
    yield function, node
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.Subscript) and child is node.slice:
            continue  # a place in an array, not a number
        inside = child.value if isinstance(child, ast.keyword) else child
        if isinstance(inside, ast.Lambda):
            inside = inside.body
        if isinstance(inside, ast.expr) and not (
            isinstance(child, ast.keyword) and (child.arg or "").endswith(("axis", "axes"))
        ):
            yield from _of_expression(inside, function)


def _called(node: ast.Call) -> str:
    target = node.func
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def _altered(node: ast.expr, source: _Source) -> Iterator[tuple[str, str]]:
    """(rule, new text) for one expression; parentheses keep the text around it as it was."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value == 0 or abs(value) >= SMALLEST:
            yield (
                "constant",
                repr(value * 1.1 or 0.1) if isinstance(value, float) else str(value + 1))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", f"({source.words(node.operand)})"
    elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
        if (node.id if isinstance(node, ast.Name) else node.attr) in SIZES:
            yield "off by one", f"({source.words(node)} - 1)"
    elif isinstance(node, ast.BinOp):
        yield from _operation(node, source)
    elif isinstance(node, ast.Call):
        yield from _call(node, source)


def _operation(node: ast.BinOp, source: _Source) -> Iterator[tuple[str, str]]:
    left, right = source.words(node.left), source.words(node.right)
    if type(node.op) in OTHER_SIGN:
        rule = "sign" if isinstance(node.op, (ast.Add, ast.Sub)) else "factor"
        yield rule, f"(({left}) {OTHER_SIGN[type(node.op)]} ({right}))"
        yield "dropped", f"({left})"
    elif isinstance(node.op, ast.Pow):
        yield "power", f"(({left}) ** (({right}) + 1))"


def _call(node: ast.Call, source: _Source) -> Iterator[tuple[str, str]]:
    words, (start, _) = source.words(node), source.span(node)
    name = _called(node)
    if name in OTHER_NAME and isinstance(node.func, ast.Attribute):
        place = source.span(node.func)[1] - start - len(name)
        yield "sum for mean", words[:place] + OTHER_NAME[name] + words[place + len(name) :]
    first = node.args[:2]
    if len(first) == 2 and all(isinstance(item, (ast.Name, ast.Attribute)) for item in first):
        (a, a_end), (b, b_end) = (source.span(item) for item in first)
        text = source.text
        swapped = text[start:a] + text[b:b_end] + text[a_end:b] + text[a:a_end]
        yield "swapped", (swapped + text[b_end : start + len(words.encode())]).decode()
    for keyword in node.keywords:
        if keyword.arg == "axis" and source.words(keyword.value) in ("0", "-1"):
            a, b = (place - start for place in source.span(keyword.value))
            other = "0" if words[a:b] == "-1" else "-1"
            yield "axis", words[:a] + other + words[b:]
