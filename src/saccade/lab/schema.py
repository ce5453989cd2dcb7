"""The ledger as other programs read it: one versioned schema, and a rubric for graders.

`FORMAT` and `RUBRIC` name the versions; they change when a field is taken away or changes its
meaning, not when one is added. `ledger.schema.json` beside this file is `model_schema()`; a test
holds the two together, and the ledger of record to both.
"""

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from saccade.errors import InvalidInput
from saccade.lab.compare import FORMAT
from saccade.lab.verdict import HOLDS, REFUTED

RUBRIC = "saccade-rubric/1"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
Verdict = Literal["holds", "refuted", "undecided", "waiting"]
WEIGHTS = {"exact": 4, "scaled": 3, "proxy": 2, "ours": 1}
"""Weight of a claim in the rubric: the nearer to the paper's own sentence, the more."""


class _Open(BaseModel):
    """Fields may be added in a later release; readers should not mind."""

    model_config = ConfigDict(extra="allow")


class Slack(_Open):
    """How far the prediction of a part that holds could be moved; null: without limit, or not to be
    said. Older ledgers have only the first four."""

    low: float | None = Field(None, description="the least factor under which it still holds")
    high: float | None = Field(None, description="the largest")
    share: float | None = Field(None, description="measured / predicted")
    loose: bool = Field(False, description="a bound or ordering whose prediction moves tenfold")
    factor: float | None = Field(
        None, description="by which a bound or ordering could be sharper; null near zero")
    room: float | None = Field(None, description="how far the prediction could be moved")
    resolutions: float | None = Field(None, description="the room in resolutions")


class Part(_Open):
    """One quantity of a claim."""

    part: str = Field(description="its name")
    verdict: Verdict = Field(description="of this part; the worst one is the row's")
    prediction: float | None = Field(None, description="what theory says")
    measurement: float | None = Field(None, description="what was measured")
    interval: list[float | None] = Field(description="low and high end about the measurement")
    resolution: float | None = Field(None, description="the difference that is told apart")
    slack: Slack | None = Field(None, description="its room, if it holds")


class Numbers(_Open):
    """What was judged; the numbers are those of the part that decided. Absent or null: not judged,
    or infinite."""

    verdict: Verdict | None = Field(None, description="null: a control that was not run")
    part: str | None = Field(None, description="the part that decided")
    prediction: float | None = Field(None, description="what theory says")
    measurement: float | None = Field(None, description="what was measured")
    interval: list[float | None] | None = Field(
        None, description="low and high end about the measurement, at the ledger's levels")
    resolution: float | None = Field(None, description="the difference that is told apart")
    replicates: int = Field(description="how many were measured; 1 where there is no chance")
    looks: int = Field(description="how often the sequential test looked")
    seconds: float | None = Field(None, description="what judging took, stored runs included")
    parts: list[Part] = Field(
        description="every part of a claim; empty where there are more than 24")
    slack: Slack | None = Field(None, description="of the part that decided, if it holds")


class Control(Numbers):
    """A sabotage, whose verdict must be refuted, or a repair, whose verdict must be holds."""

    name: str = Field(description="unique within its claim")
    says: str = Field(description="what it changes, in words")
    broke: list[str] = Field([], description="the parts it refuted")
    trivial: str | None = Field(None, description="why it proves nothing, if it does")


class Source(_Open):
    """Where a sentence stands and how it was read."""

    place: str = Field(description="theorem, figure, table or page; 'none: ...' without a source")
    words: str = Field(description="the source's words or number")
    reading: Literal["exact", "scaled", "proxy", "ours"] = Field(
        description="the statement at its own parameters, at stated smaller sizes, by something"
        " that stands in, or of our own; only the first two can refute a paper")


class Row(Numbers):
    """One claim."""

    id: str = Field(description="study.name, unique in a ledger")
    study: str = Field(description="the study that brings it")
    spec: str = Field(description="the row of the study's page")
    statement: str = Field(description="the sentence that is judged")
    source: str = Field(description="the source in short, for people")
    status: str = Field(
        description="what kind of truth it is (exact, quadrature, asymptotic, bound, heuristic,"
        " measured, trained), and what qualifies that")
    kind: str = Field(description="estimate, slope, identity, bound or ordering: how it is decided")
    side: str | None = Field(None, description="below or above, for a bound")
    statistic: str = Field(description="what is judged: exact, mean, median or fraction")
    experiment: str = Field(description="the experiment whose stored runs it reads")
    expected: Literal["holds", "refuted"] = Field(description="the verdict it should get")
    argued: str = Field(description="why the resolution is what it is")
    scale: Literal["quick", "standard", "paper"] = Field(description="at which it was judged")
    scales: list[str] = Field(description="at which it can be judged")
    seed: int = Field(description="of all its random keys")
    citation: Source | None = Field(None, description="where its sentence stands")
    finding: str = Field(description="what was learnt, in a sentence; empty for nothing to add")
    corrected: str | None = Field(
        None, description="the claim that holds instead of one that is refuted")
    figure: str | None = Field(None, description="a figure that shows it")
    needs: dict[str, Any] | None = Field(None, description="what a claim that waits needs")
    error: str | None = Field(None, description="why it could not be judged, if so")
    judged: dict[str, Any] | None = Field(None, description="date, commit, code version, libraries")
    as_expected: bool | None = Field(
        None, description="whether the verdict is the expected one; says nothing of controls")
    sabotages: list[Control] = Field(description="each must be refuted")
    repairs: list[Control] = Field([], description="each must hold")
    unbroken: list[str] | None = Field(None, description="parts that no sabotage broke")
    sabotages_refuted: bool | None = Field(None, description="whether all that ran were refuted")
    repairs_hold: bool | None = Field(None, description="whether all that ran hold")
    setting: str | None = Field(
        None, description="in words, the parameters that are not as published, and the precision")
    changes: dict[str, Any] | None = Field(None, description="those parameters by name")
    precision: str | None = Field(None, description="float32, where it is not float64")


class Ledger(_Open):
    """A judged ledger, as `saccade verify --json FILE` and `saccade ledger` write it."""

    format: Literal["saccade-ledger/1"] = Field(description="this version of the form")
    claims: list[Row] = Field(description="one row for each claim")
    summary: dict[str, int] = Field({}, description="rows by verdict; a report's ledger has none")


def model_schema() -> dict[str, Any]:
    """The JSON Schema of `Ledger`, with its dialect and its name."""
    name = f"urn:{FORMAT.replace('/', ':')}"
    return {"$schema": DIALECT, "$id": name} | Ledger.model_json_schema()


def json_schema() -> dict[str, Any]:
    """The JSON Schema that travels with saccade."""
    return json.loads((files("saccade.lab") / "ledger.schema.json").read_text("utf-8"))


def checked(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The rows themselves, or a sentence about the first that the schema does not allow."""
    try:
        Ledger.model_validate({"format": FORMAT, "claims": rows})
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidInput(
            f"ledger = {name!r} does not fit {FORMAT}: {place}: {first['msg'].lower()}.") from None
    return rows


def refutes_paper(row: Mapping[str, Any]) -> bool:
    """Whether a refuted row speaks against the paper: only where its sentence was read as it
    stands, at its own or at stated smaller sizes."""
    reading = (row.get("citation") or {}).get("reading")
    return row["verdict"] == REFUTED and reading in ("exact", "scaled")


def rubric(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The ledger as a tree of weighted requirements: studies, and below each its claims as leaves
    with the sentence, how it was read, and whether it came out as expected."""
    by_study: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_study.setdefault(row["study"], []).append(_leaf(row))
    return {
        "format": RUBRIC, "id": "saccade", "weight": 1,
        "requirements": "Every statement of the studies is judged, with the expected verdict.",
        "sub_tasks": [_branch(study, leaves) for study, leaves in by_study.items()]}


def _branch(study: str, leaves: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": study, "weight": sum(leaf["weight"] for leaf in leaves),
        "requirements": f"The statements of the study {study} are judged.", "sub_tasks": leaves}


def _leaf(row: Mapping[str, Any]) -> dict[str, Any]:
    """A claim; one that waits is told by its published row, if there is one, and marked so."""
    from saccade.lab.ledger import WAITING, reasons
    from saccade.lab.record import published

    waits = row["verdict"] == WAITING
    elsewhere = (row.get("published") or published(row["id"])) if waits else None
    told = elsewhere or row
    citation = row.get("citation") or {"place": row["source"], "words": "", "reading": "ours"}
    wanted = "holds" if row["expected"] == HOLDS else "is refuted as written"
    return {
        "id": row["id"], "weight": WEIGHTS[citation["reading"]], "sub_tasks": [],
        "requirements": f"{row['statement']} (expected: {wanted})", "source": dict(citation),
        "verdict": told["verdict"], "scale": told["scale"], "published": elsewhere is not None,
        "score": None if told["verdict"] == WAITING else float(not reasons(told))}
