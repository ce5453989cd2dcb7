"""Which functions a claim can reach, and in how many steps: from its own functions to those they
name, and so on through the source.

A name is looked up as Python does, in its module and what that imports; what kind of thing a method
is called of is not known, so every class that is reached and has it counts. So too much is reached
rather than too little, but for what is found by other means than a name (`READS_ROOMS`).
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from inspect import ismodule
from itertools import permutations
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from saccade.lab.claim import Claim

METHOD = "any class"  # in the place of a module, for a method of whatever class
Place = tuple[str, str]  # module and name


class Module(NamedTuple):
    """What the names at the top of a module use, and where imported names come from."""

    uses: Mapping[str, frozenset[Place]]
    methods: frozenset[str]


@cache
def read(name: str, path: Path) -> Module:
    tree = ast.parse(path.read_bytes())
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    imports = dict(_imports(tree, package))
    uses: dict[str, frozenset[Place]] = {}
    for owner, node in _definitions(tree.body, ""):
        uses[owner] = uses.get(owner, frozenset()) | _used(node, name, imports)
    methods = frozenset(owner for owner in uses if "." in owner)
    for alias, place in imports.items():
        uses[alias] = uses.get(alias, frozenset()) | {place}
    return Module(uses, methods)


def _imports(tree: ast.Module, package: str) -> Iterator[tuple[str, Place]]:
    """Alias -> where it is from; a module imported whole has no name there. `from a import b` may
    name a module a.b: both are looked up."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((item.asname or item.name, (item.name, "")) for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            home = ".".join([*around, *([node.module] if node.module else [])])
            yield from ((item.asname or item.name, (home, item.name)) for item in node.names)


def _definitions(body: Iterable[ast.stmt], owner: str) -> Iterator[tuple[str, ast.AST]]:
    """What stands at the top of a module, and the methods of its classes. A class uses its special
    methods and its fields; f uses what it decorates, as by @f.defjvp, and what it is told, as by
    f.defvjp(g, h)."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, node.name)
            yield from ((node.name, around) for around in [*node.bases, *node.decorator_list])
        elif isinstance(node, ast.FunctionDef):
            special = not owner or node.name.startswith("__")
            yield (owner or node.name) if special else f"{owner}.{node.name}", node
            for item in (item for around in node.decorator_list for item in ast.walk(around)):
                if isinstance(item, ast.Name):
                    yield item.id, ast.Name(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for item in (item for target in targets for item in ast.walk(target)):
                if isinstance(item, ast.Name):
                    yield owner or item.id, node
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if isinstance(told := node.value.func, ast.Attribute) and isinstance(
                told.value, ast.Name
            ):
                yield told.value.id, node
        elif isinstance(node, (ast.If, ast.With, ast.For, ast.Try)):
            yield from _definitions(node.body, owner)


def _used(node: ast.AST, module: str, imports: Mapping[str, Place]) -> frozenset[Place]:
    """The places that the names in a definition may mean; its own variables mean none."""
    inside = list(ast.walk(node))
    own = {item.arg for item in inside if isinstance(item, ast.arg)}
    if isinstance(node, ast.FunctionDef):
        own |= {
            item.id for item in inside
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    places = {
        (module, item.id) for item in inside if isinstance(item, ast.Name) and item.id not in own}
    for item in inside:
        if isinstance(item, ast.Attribute):
            base = imports.get(item.value.id) if isinstance(item.value, ast.Name) else None
            places.add((METHOD, item.attr))
            if base:
                places.add((".".join(filter(None, base)), item.attr))
    return frozenset(places)


def steps(claim: Claim, files: Mapping[str, Path]) -> dict[Place, int]:
    """Every place that a claim reaches in these modules, with the number of steps to it. A method
    is reached where its name and its class are."""
    modules = {name: read(name, path) for name, path in files.items()}
    methods = [(name, method) for name, module in modules.items() for method in module.methods]
    needs: dict[Place, list[tuple[Place, Place]]] = {}
    for home, method in methods:
        owner, _, name = method.partition(".")
        for one, other in permutations(((home, owner), (METHOD, name))):
            needs.setdefault(one, []).append((other, (home, method)))
    reached = dict.fromkeys(roots(claim), 0)
    waiting = list(reached)
    for place in waiting:  # grows while it is read: breadth first
        home, name = place
        used = modules[home].uses.get(name, frozenset()) if home in modules else frozenset()
        complete = {method for other, method in needs.get(place, ()) if other in reached}
        for new in (used | complete) - reached.keys():
            reached[new] = reached[place] + 1
            waiting.append(new)
    return reached


def roots(claim: Claim) -> set[Place]:
    """The places that a claim begins with."""
    functions = [claim.experiment.function, claim.measure, claim.predict, claim.resolution]
    return set().union(*(_begun(item) for item in functions if callable(item)))


def _begun(function: Any) -> set[Place]:
    """Where a function is defined and, as far as it was made by others, where those are."""
    if isinstance(function, partial):
        made_with = (function.func, *function.args, *function.keywords.values())
        return set().union(*(_begun(item) for item in made_with if callable(item)))
    home = getattr(function, "__module__", "")
    code = getattr(function, "__code__", None)
    places = {(home, getattr(function, "__qualname__", type(function).__name__).split(".")[0])}
    if code is not None:
        names = _names(code)
        held = [function.__globals__.get(name) for name in names]
        modules = [item.__name__ for item in held if ismodule(item)]
        places |= {(place, name) for name in names for place in (home, METHOD, *modules)}
        places |= _held(function)
    return places


def _held(function: Callable) -> set[Place]:
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    held = [item for item in cells if callable(item) and item is not function]
    return set().union(*map(_begun, held))


def _names(code: CodeType) -> set[str]:
    inside = (_names(item) for item in code.co_consts if isinstance(item, CodeType))
    return set(code.co_names).union(*inside)
