"""`saccade calc`: ask a formula by name."""

import json
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand


class Explaining(TyperCommand):
    """`saccade calc NAME --help` explains that calculator; without a name, the command itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and {"-h", "--help"} & set(args):
            args = [args[0], "--explain"]
        return super().parse_args(ctx, args)


def calc(
    name: Annotated[str | None, typer.Argument(help="A calculator, e.g. single-location.risk; none lists them.")] = None,
    inputs: Annotated[list[str] | None, typer.Argument(help="name=value, values as JSON (numbers, words, nested lists).")] = None,
    json_text: Annotated[str | None, typer.Option("--json", help="Inputs as one JSON object ('-': read standard input); prints JSON.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Explain this calculator: inputs, outputs, status, source.")] = False,
) -> None:
    """Compute a prediction or an elementary step by name.

    Examples:

        saccade calc

        saccade calc single-location.risk --help

        saccade calc single-location.risk kappa=0.3 nu=0.5 dim=80 length=10 inverse_temperature=0.6

        saccade calc single-location.zeta --json '{"t": [0, 1], "variance": [0.5, 0.5]}'
    """
    from saccade.lab import registry

    if name is None:
        _list()
        return
    calculator = registry.one("calculator", name, registry.calculators())
    if explain:
        _explain(calculator.describe())
        return
    if json_text is not None:
        typer.echo(json.dumps(calculator({**_object(json_text), **_pairs(inputs or [])})))
        return
    for key, value in calculator(_pairs(inputs or [])).items():
        typer.echo(f"{key} = {value if isinstance(value, str) else json.dumps(value)}")


def _list() -> None:
    from saccade.cli.manners import console
    from saccade.cli.tables import simple_table
    from saccade.lab import registry

    rows = [(item.id, item.status, item.about) for item in registry.calculators()]
    console().print(simple_table("Calculators", ("calculator", "status", "gives"), rows))


def _explain(about: dict[str, Any]) -> None:
    typer.echo(f"{about['id']}: {about['about']}\nStatus: {about['status']}. Source: {about['source']}.\n\nInputs:")
    for name, text in about["inputs"].items():
        typer.echo(f"  {name:24} {text}")
    typer.echo("Outputs:")
    for name, text in about["outputs"].items():
        typer.echo(f"  {name:24} {text}")
    if about["example"]:
        pairs = " ".join(f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in about["example"].items())
        typer.echo(f"Example:\n  saccade calc {about['id']} {pairs}")


def _object(text: str) -> dict[str, Any]:
    from saccade.errors import InvalidInput

    text = sys.stdin.read() if text == "-" else text
    try:
        value = json.loads(text)
    except ValueError as problem:
        raise InvalidInput(f"--json is not valid JSON ({problem}).") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"--json = {text!r} must be one JSON object with the inputs by name.")
    return value


def _pairs(pairs: list[str]) -> dict[str, Any]:
    from saccade.errors import InvalidInput

    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InvalidInput(f"input = {pair!r} must have the form name=value.")
        if name in values:
            raise InvalidInput(f"input {name!r} is given twice.")
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return values
