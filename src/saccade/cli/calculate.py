"""`saccade calc`: ask a formula by name."""

import json
import re
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from saccade.cli.completion import calculators
from saccade.cli.console import print_table
from saccade.errors import InvalidInput, require, shown

NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
RANGE = re.compile(
    rf"(?P<low>{NUMBER})\.\.(?P<high>{NUMBER})(?::(?P<count>\d{{1,9}})(?P<log>log)?)?")
MOST, LARGEST = 100_000, 1e300  # values in a range, and what they may be


class Explaining(TyperCommand):
    """`saccade calc NAME --help` explains that calculator; without a name, the command itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and {"-h", "--help"} & set(args):
            args = [args[0], "--explain"]
        return super().parse_args(ctx, args)


def calc(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A calculator, e.g. single-location.risk; none lists them.",
            autocompletion=calculators)] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(help=(
            "name=value, values as JSON (numbers, words, nested lists). For a number also many:"
            " [0.1,0.5], 5..9 (whole numbers), 0.1..1:10 (ten), 1..100:3log."))] = None,
    json_text: Annotated[
        str | None,
        typer.Option(
            "--json", help="Inputs as one JSON object ('-': from standard input); JSON out."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Explain this calculator: inputs, outputs, status, source."),
    ] = False,
) -> None:
    """Compute a prediction or an elementary step by name.

    Examples:

        saccade calc

        saccade calc single-location.risk --help

        saccade calc single-location.risk kappa=0.3 nu=0.5 dim=80 length=10 inverse_temperature=0.6

        saccade calc single-location.zeta --json '{"t": [0, 1], "variance": [0.5, 0.5]}'

        saccade calc single-location.critical-inverse-temperature dim=100..400:4 length=10

        saccade calc single-location.critical-inverse-temperature dim=[[50],[400]] length=5..9
    """
    from saccade.lab.broadcasting import lists_as_arrays
    from saccade.lab.calculator import as_json, find

    if name is None:
        _list(json_text)
        return
    calculator = find(name)
    if explain:
        _explain(calculator.describe())
        return
    given = {name: _range(name, value) for name, value in pairs(inputs or []).items()}
    values = _together(_object(json_text) if json_text is not None else {}, given)
    found = _finite(as_json(calculator(lists_as_arrays(calculator.inputs, values))))
    if json_text is not None:
        typer.echo(json.dumps(found, allow_nan=False))
        return
    for key, value in found.items():
        typer.echo(f"{key} = {value if isinstance(value, str) else json.dumps(value)}")


def _range(name: str, value: Any) -> Any:
    """The values of a range (`Span`'s grid), or what is none as it is."""
    found = RANGE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    from saccade.lab.sweep.design import Span

    low, high = float(found["low"]), float(found["high"])
    whole = found["count"] is None
    require(
        -LARGEST <= low <= high <= LARGEST and not (whole and (low % 1 or high % 1)), name, value,
        "must go up; between whole numbers, or with how many: 0.1..1:10")
    require(not found["log"] or low > 0, name, value, "must begin above 0 to be even in logarithms")
    count = int(high - low + 1 if whole else found["count"])
    require(1 <= count <= MOST, name, value, f"must have 1 to {MOST} values")
    spacing = "log" if found["log"] else "linear"
    return Span(low=low, high=high, count=count, whole=whole, spacing=spacing).values()


def _finite(value: Any) -> Any:
    """JSON has no NaN: what an entry of an array does not have is null."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if value != value else value


def _list(json_text: str | None) -> None:
    from saccade.lab import registry

    if json_text is not None:
        raise InvalidInput(
            "--json needs the name of a calculator before it; saccade calc lists them.")
    rows = [(item.id, item.status, item.about) for item in registry.calculators()]
    print_table("Calculators", ("calculator", "status", "gives"), rows)


def _explain(about: dict[str, Any]) -> None:
    typer.echo(
        f"{about['id']}: {about['about']}\nStatus: {about['status']}. Source: {about['source']}.\n")
    for part in ("inputs", "outputs"):
        typer.echo(f"{part.capitalize()}:")
        for name, text in about[part].items():
            typer.echo(f"  {name:24} {text}")
    typer.echo(
        "Where one number is asked for, many may be given and give as many answers: [0.1,0.5],\n"
        "5..9 (whole numbers), 0.1..1:10 (ten), 1..100:3log (three, even in logarithms).")
    if about["example"]:
        pairs = " ".join(
            f"{name}={json.dumps(value, separators=(',', ':'))}"
            for name, value in about["example"].items())
        typer.echo(f"Example:\n  saccade calc {about['id']} {pairs}")


def _object(text: str) -> dict[str, Any]:
    try:
        text = sys.stdin.read() if text == "-" else text
        value = json.loads(text, object_pairs_hook=_once)
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(f"--json = {shown(text)} is not valid JSON ({problem}).") from None
    if not isinstance(value, dict):
        raise InvalidInput(
            f"--json = {shown(text)} must be one JSON object with the inputs by name.")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which no name may come twice (Python would silently keep the last)."""
    together: dict[str, Any] = {}
    for name, value in pairs:
        together = _together(together, {name: value})
    return together


def _together(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both sets of inputs; none may be in both."""
    for name in second:
        if name in first:
            raise InvalidInput(f"Input {name!r} is given twice; give it once.")
    return {**first, **second}


def pairs(given: list[str]) -> dict[str, Any]:
    """Inputs written as name=value."""
    values: dict[str, Any] = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InvalidInput(f"input = {shown(pair)} must have the form name=value.")
        values = _together(values, {name.strip(): _value(text)})
    return values


def _value(text: str) -> Any:
    """JSON where it is JSON, else a number as shells write them (.5, +2), else the word itself."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        pass
    try:
        return float(text) if "_" not in text else text
    except ValueError:
        return text
