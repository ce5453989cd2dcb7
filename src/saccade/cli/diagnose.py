"""`saccade diagnose FILE`: is attention worth it on these bags?"""

from typing import Annotated

import typer

from saccade.cli.console import check_file, print_json
from saccade.cli.options import AsJson
from saccade.cli.progress import progress


def diagnose(
    file: Annotated[
        str,
        typer.Argument(
            help="FILE.npz (X, y; or tokens, lengths, y), or FILE.csv, .parquet (a row a token).")],
    bag: Annotated[str, typer.Option(help="The column that tells bags apart.")] = "bag",
    label: Annotated[str, typer.Option(help="The column with the label of the bag.")] = "label",
    positive: Annotated[
        str | None,
        typer.Option(
            help="The label of bags that hold what is looked for [the later in the alphabet].",
            show_default=False)] = None,
    page: Annotated[
        str | None, typer.Option("--page", "-p", help="Also write a page with pictures: FILE.html.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation, at least 2.")] = 5,
    repeats: Annotated[int, typer.Option(help="Times that all folds are drawn anew.")] = 2,
    seed: Annotated[int, typer.Option(help="Another seed draws other folds.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Pooling or attention? Fits both and others to the same folds, compares them with intervals,
    estimates the signal, asks theory, and says in one sentence what to use.

    Examples:

        saccade diagnose bags.npz

        saccade diagnose molecules.csv --bag molecule --label musk --positive yes --page musk.html
    """
    from saccade.api import advise
    from saccade.errors import require
    from saccade.estimators.advise.reading import read_file

    if page is not None:
        require(page.lower().endswith((".html", ".htm")), "page", page, "must end in .html")
        check_file(page)
    require(seed >= 0, "seed", seed, "must be at least 0")
    X, y, mask = read_file(file, bag, label)
    with progress(1.0, f"comparing on {file}") as advance:
        advice = advise(
            X, y, mask, positive=positive, folds=folds, repeats=repeats, seed=seed, progress=advance
        )
    if as_json:
        print_json(advice.to_dict())
    else:
        typer.echo(str(advice))
    if page is not None:
        typer.echo(f"Page: {advice.page(page)}", err=as_json)
