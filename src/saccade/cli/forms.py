"""`saccade ledger`: a judged ledger for graders and other programs."""

from typing import Annotated, Any

import typer

from saccade.cli import options
from saccade.cli.console import check_file, give
from saccade.errors import unknown

FORMS = ("json", "rubric", "schema")


def ledger(
    file: Annotated[
        str | None,
        typer.Argument(
            help="A ledger written by saccade verify --json; the one of record if none.")] = None,
    form: Annotated[
        str,
        typer.Option(
            help="json (all fields), rubric (a tree of weighted leaves) or schema (JSON Schema).",
            autocompletion=lambda: list(FORMS))] = "json",
    output: options.JsonFile = "-",
) -> None:
    """Write a judged ledger in a documented form: all of it, as a rubric, or its JSON Schema.

    Examples:

        saccade ledger --json record.json

        saccade ledger mine.json --form rubric --json rubric.json

        saccade ledger --form schema
    """
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    check_file(None if output == "-" else output)
    value = _value(file, form)
    give("Ledger", value, output, lambda: None)


def _value(file: str | None, form: str) -> Any:
    from saccade.cli.judge import summary
    from saccade.lab import schema
    from saccade.lab.compare import read_ledger
    from saccade.report.recorded import recorded_rows

    if form == "schema":
        return schema.json_schema()
    rows = schema.checked(read_ledger(file), file) if file else recorded_rows()
    if form == "rubric":
        return schema.rubric(rows)
    return {"format": schema.FORMAT, "claims": rows, "summary": summary(rows)}
