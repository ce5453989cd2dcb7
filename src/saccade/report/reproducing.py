"""The whole ledger and every figure, by one crew of processes, and the report of both."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from saccade.errors import InvalidInput
from saccade.lab import costs, ledger, record
from saccade.lab.claim import Claim
from saccade.lab.figure import Figure
from saccade.lab.registry import lacking
from saccade.lab.workers import Watcher, carry_out
from saccade.report import earlier, pictures
from saccade.report.entries import read_rows
from saccade.report.site import Site
from saccade.report.writing import building, write_pages


class Work(NamedTuple):
    """What is to be judged and drawn, with the seconds that each claim and figure should take."""

    claims: Sequence[Claim]
    figures: Sequence[Figure]
    problems: dict[str, str]
    conditions: ledger.Conditions
    costs: Mapping[str, float]
    folder: Path
    kept: Sequence[pictures.Picture]
    pdf: bool = False


def plan(
    claims: Sequence[Claim], conditions: ledger.Conditions, folder: str | Path, pdf: bool = False
) -> Work:
    """All of `claims`, and the figures of their studies, in `pdf` too if wanted; pictures of an
    earlier report in `folder` are kept where nothing that makes them changed."""
    place = Path(folder).expanduser().resolve()
    figures, problems = pictures.registered_figures({claim.study for claim in claims})
    drawing = _drawing(claims, conditions, pdf)
    kept = [] if conditions.fresh else earlier.unchanged(figures, place, drawing)
    seconds = costs.of_claims(claims, conditions) | costs.of_figures(figures, conditions)
    seconds |= {picture.id: 0.0 for picture in kept}
    return Work(claims, figures, problems, conditions, seconds, place, kept, pdf)


def _drawing(
    claims: Sequence[Claim], conditions: ledger.Conditions, pdf: bool
) -> pictures.Conditions:
    return pictures.Conditions(
        conditions.scale, conditions.seed, conditions.folder, _needs(claims), pdf)


def _needs(claims: Sequence[Claim]) -> dict[str, dict[str, Any]]:
    """What is lacking here, by the figure of the claims that need it (its study may be left
    out)."""
    named = [(claim, lacks) for claim in claims if claim.figure and (lacks := _lacking(claim))]
    return {
        name: lacks for claim, lacks in named
        for name in (claim.figure or "", f"{claim.study}/{claim.figure}")}


def _lacking(claim: Claim) -> dict[str, Any] | None:
    try:
        return lacking(claim.requires)
    except InvalidInput:  # becomes the claim's row
        return None


def reproduce(work: Work, jobs: int, watch: Watcher) -> tuple[list[dict[str, Any]], Path]:
    """The rows of the ledger and the first page of its report. Pieces of both kinds go to the same
    `jobs` processes, the dearest first; none waits for the other kind."""
    drawing = _drawing(work.claims, work.conditions, work.pdf)
    kept = {picture.id: picture for picture in work.kept}
    wanted = [figure for figure in work.figures if figure.id not in kept]
    with building(work.folder) as place:
        earlier.copy(work.kept, work.folder, place)
        judging = ledger.pieces(work.claims, work.conditions, work.costs, apart=True)
        painting = pictures.pieces(wanted, place, drawing, work.costs, apart=True)
        results = carry_out([*judging, *painting], jobs, watch)
        rows = record.with_published(
            ledger.rows_of(work.claims, work.conditions, judging, results[: len(judging)]))
        drawn = pictures.pictures_of(wanted, drawing, results[len(judging) :])
        by_id = kept | {picture.id: picture for picture in drawn}
        shown = [by_id[figure.id] for figure in work.figures]
        site = Site(read_rows(rows), shown, drawing.scale, drawing.seed, work.problems)
        write_pages(site, place)
    return rows, work.folder / "index.html"
