"""`saccade list`: what there is to judge, draw and compute."""

import json
from typing import Annotated, Any

import typer

from saccade.cli.completion import studies


def list_(
    study: Annotated[
        str | None,
        typer.Argument(help="Only this study, e.g. single-location.", autocompletion=studies),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Machine-readable: claims, figures, calculators, experiments."),
    ] = False,
) -> None:
    """List claims, figures, calculators and experiments.

    Examples:

        saccade list single-location

        saccade list --json
    """
    found = offered(study)
    if as_json:
        typer.echo(json.dumps(found, indent=1))
        return
    _show(found)


def offered(study: str | None = None) -> dict[str, list[dict[str, Any]]]:
    from saccade.lab import registry

    return {
        "claims": [claim.describe() for claim in registry.claims(study)],
        "figures": [figure.describe() for figure in registry.figures(study)],
        "calculators": [calculator.describe() for calculator in registry.calculators(study)],
        "experiments": [
            {"id": item.id, "study": item.study, "about": item.about}
            for item in registry.experiments(study)]}


def _show(found: dict[str, list[dict[str, Any]]]) -> None:
    from saccade.cli.console import console
    from saccade.cli.tables import simple_table

    out = console()
    claims = [
        (row["id"], row["spec"], row["kind"], row["expected"], row["statement"])
        for row in found["claims"]]
    out.print(simple_table("Claims", ("claim", "row", "kind", "expected", "says"), claims))
    out.print(simple_table(
        "Figures", ("figure", "title"), [(row["id"], row["title"]) for row in found["figures"]]))
    calculators = [(row["id"], row["status"], row["about"]) for row in found["calculators"]]
    out.print(simple_table("Calculators", ("calculator", "status", "gives"), calculators))
    out.print(simple_table(
        "Experiments", ("experiment", "runs"),
        [(row["id"], row["about"]) for row in found["experiments"]]))
