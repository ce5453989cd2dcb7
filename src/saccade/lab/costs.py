"""What work will cost, in seconds: as the ledger of record measured it, else as its author says it;
next to nothing for a run that is stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from saccade.errors import InvalidInput
from saccade.lab import record
from saccade.lab.claim import Claim
from saccade.lab.experiment import Experiment
from saccade.lab.figure import Figure
from saccade.lab.ledger import Conditions, scale_for
from saccade.lab.registry import lacking
from saccade.lab.settings import applied
from saccade.lab.store import Request

JUDGING = 0.1  # seconds: a verdict on a run that is stored, or that another claim has made
DRAWING = 1.0  # seconds: a figure whose runs are stored


def of_claims(claims: Sequence[Claim], conditions: Conditions) -> dict[str, float]:
    """Seconds by claim. Of the claims on one run the first pays for it, the others only judge."""
    paid: set[str] = set()
    costs: dict[str, float] = {}
    for claim in claims:
        chosen = scale_for(claim, conditions.scale)
        if chosen is None or _waits(claim.requires):
            costs[claim.id] = 0.0
            continue
        scale, plan = chosen
        changes = applied(claim.experiment, scale, plan.parameters, conditions.changes)
        run = _name(claim.experiment, scale, changes, conditions)
        usual = JUDGING if run in paid else plan.seconds
        costs[claim.id] = (
            JUDGING if _is_stored(run, conditions)
            else _measured(claim.id, scale, conditions) or usual * (1 + conditions.sabotage))
        paid.add(run)
    return costs


def _measured(claim: str, scale: str, conditions: Conditions) -> float | None:
    """Seconds of the published row and, if asked for, of what breaks and mends it."""
    row = record.published(claim, scale)
    if row is None or row["seconds"] is None:
        return None
    controls = [*row["sabotages"], *row["repairs"]] if conditions.sabotage else []
    return row["seconds"] + sum(item["seconds"] or 0.0 for item in controls)


def of_figures(figures: Sequence[Figure], conditions: Conditions) -> dict[str, float]:
    """Seconds by figure, the same way."""
    measured = {
        item["id"]: item["seconds"] for item in record.figures()
        if item["scale"] == conditions.scale}
    costs = {}
    for figure in figures:
        if _waits(figure.requires):
            costs[figure.id] = 0.0
            continue
        changes = figure.scales.get(conditions.scale, {})
        runs = [
            _name(item, conditions.scale, {**fixed, **changes.get(name, {})}, conditions)
            for name, (item, fixed) in figure.runs.items()]
        usual = measured.get(figure.id) or figure.seconds.get(conditions.scale, DRAWING)
        costs[figure.id] = DRAWING if all(_is_stored(run, conditions) for run in runs) else usual
    return costs


def _name(
    experiment: Experiment, scale: str, changes: Mapping[str, Any], conditions: Conditions
) -> str:
    """The name of a run in the store; none that is there if it cannot be asked for."""
    try:
        parameters = experiment.parameters(scale, changes)
    except InvalidInput:
        return ""
    return Request(
        experiment.id, parameters.model_dump(mode="json"), 0, conditions.seed,
        experiment.code(parameters), conditions.precision).name


def _waits(requires: str | None) -> bool:
    """Whether a package or a data set is not here: what needs it takes no time."""
    try:
        return bool(lacking(requires))
    except InvalidInput:
        return True  # its row will say so


def _is_stored(run: str, conditions: Conditions) -> bool:
    return bool(run) and not conditions.fresh and conditions.store.backend.has(run)
