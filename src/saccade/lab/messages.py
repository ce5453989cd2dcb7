"""What a validator found wrong, in a sentence: the parameter, its value, its rule and meaning."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from saccade.errors import InvalidInput, shown, unknown

# pydantic's names of problems -> our words, filled in with the problem's own context.
RULES = {
    "greater_than": "must be above {gt}", "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}", "less_than_equal": "must be at most {le}",
    "float_type": "must be a number", "float_parsing": "must be a number",
    "finite_number": "must be a finite number", "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of reasonable size",
    "int_from_float": "must be a whole number", "bool_type": "must be true or false",
    "bool_parsing": "must be true or false", "string_type": "must be a word",
    "list_type": "must be a list", "tuple_type": "must be a list",
    "dict_type": "must hold values by name", "model_type": "must hold values by name",
    "literal_error": "must be {expected}", "too_short": "must have {min_length} or more entries",
    "too_long": "must have {max_length} or fewer entries"}
TYPE_NAMES = ("float", "int", "str", "bool")


def message(problems: Sequence[Mapping[str, Any]], model: type[BaseModel], owner: str) -> str:
    """One sentence on the worst of `problems`: an unknown name first (the missing one is often its
    misspelling), then the missing names, then the first value that is wrong."""
    extra = [item for item in problems if item["type"] == "extra_forbidden"]
    missing = [_path(item["loc"]) for item in problems if item["type"] == "missing"]
    if extra:
        return str(unknown(f"input of {owner}", _path(extra[0]["loc"]), model.model_fields))
    if missing:
        names = ", ".join(repr(name) for name in missing)
        return (
            f"{owner} needs the {'inputs' if missing[1:] else 'input'} {names}, which"
            f" {'are' if missing[1:] else 'is'} missing.")
    return _wrong_value(_deepest(problems), model)


def _deepest(problems: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Of the first refused input's problems, the one furthest in: a union has one per choice."""
    same = [item for item in problems if item["loc"][:1] == problems[0]["loc"][:1]]
    return max(same, key=lambda item: len(_parts(item["loc"])))


def _wrong_value(problem: Mapping[str, Any], model: type[BaseModel]) -> str:
    return wrong_value(_path(problem["loc"]), problem, _meaning(problem["loc"], model))


def wrong_value(name: str, problem: Mapping[str, Any], meaning: str = "") -> str:
    """`name = value is refused: it must be a whole number (meaning).`"""
    context = {
        name: f"{value:g}" if isinstance(value, float) else value
        for name, value in problem.get("ctx", {}).items()}
    if isinstance(context.get("error"), InvalidInput):
        return str(context["error"])
    template = RULES.get(problem["type"])
    if problem["type"] == "float_type" and type(problem["input"]) is int:
        template = "must be a number below 1e308"
    rule = template.format(**context) if template else _foreign(problem["msg"])
    return f"{name} = {shown(problem['input'])} is refused: it {rule}{meaning}."


def _foreign(message: str) -> str:
    """A rule that we have no words for, in the validator's."""
    text = (
        message.removeprefix("Value error, ")
        .removeprefix("Assertion failed, ")
        .removeprefix("Input ")
        .rstrip("."))
    return text.replace("should be", "must be", 1)


def _meaning(loc: Sequence[int | str], model: type[BaseModel]) -> str:
    """The description of the field, which states its range, in brackets."""
    info = model.model_fields.get(str(loc[0])) if loc else None
    return f" ({info.description})" if info is not None and info.description else ""


def _parts(loc: Sequence[int | str]) -> list[int | str]:
    """The path without the names of types that a union puts in it."""
    return [
        part for part in loc if isinstance(part, int)
        or (part.isidentifier() and part not in TYPE_NAMES) or part == loc[0]]


def _path(loc: Sequence[int | str]) -> str:
    """`X[0][2]`, `heads[1].Q`: where in the input a problem is."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in _parts(loc))
    return text.removeprefix(".") or "input"
