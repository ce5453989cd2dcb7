"""Claims and figures at somebody's own parameters: which of them have such a parameter, and the
words that mark what came out as not the published setting."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from saccade.errors import InvalidInput, unknown
from saccade.lab.calculator import as_json
from saccade.lab.claim import Claim
from saccade.lab.experiment import SCALES, Experiment
from saccade.lab.precisions import DOUBLE

if TYPE_CHECKING:
    from saccade.lab.figure import Figure

Changes = tuple[tuple[str, Any], ...]
LONGEST_REASON = 200  # characters: libraries may say much


def as_changes(values: Mapping[str, Any] | None) -> Changes:
    """Plain values by name, in a form that crosses processes and can be compared."""
    return tuple((name, as_json(value)) for name, value in (values or {}).items())


def check_claims(claims: Sequence[Claim], scale: str, changes: Changes) -> None:
    """Refuse, before anything runs, a parameter that a claim's experiment does not have, and a
    value that it does not take."""
    for name, _ in changes:
        without = [claim for claim in claims if name not in names(claim.experiment)]
        if without:
            first, others = without[0], len(claims) - len(without)
            rest = f"; {others} of the {len(claims)} claims asked for do" if others else ""
            raise InvalidInput(
                f"The claim {first.id!r} has no parameter {name!r} (experiment"
                f" {first.experiment.id}; {_near(name, names(first.experiment))}){rest}.")
    for claim in claims if changes else ():
        own = [name for name in SCALES[: SCALES.index(scale) + 1] if name in claim.scales]
        for name in own[-1:]:
            published = claim.scales[name].parameters
            claim.experiment.parameters(name, applied(claim.experiment, name, published, changes))


def _near(name: str, known: Sequence[str]) -> str:
    return str(unknown("parameter", name, known)).split("; ", 1)[1].rstrip(".")


def names(experiment: Experiment) -> list[str]:
    """Its parameters, and what its cases consist of."""
    inside = [name for case in _cases(experiment).values() for name in case._fields]
    return [*experiment.model.model_fields, *inside]


def _cases(experiment: Experiment) -> dict[str, Any]:
    """The parameters that are tuples of cases, each a NamedTuple, and of which."""
    return {
        name: item for name, info in experiment.model.model_fields.items()
        for item in get_args(info.annotation)[:1] if hasattr(item, "_fields")}


def applied(
    experiment: Experiment, scale: str, published: Mapping[str, Any], changes: Changes
) -> dict[str, Any]:
    """The published parameters with the changes on top; what cases consist of is changed in each of
    them."""
    made = dict(published)
    for name, value in changes:
        inside = {field: case for field, case in _cases(experiment).items() if name in case._fields}
        if name in experiment.model.model_fields or not inside:
            made[name] = value
            continue
        for field, case in inside.items():
            before = getattr(experiment.parameters(scale, made), field)
            made[field] = tuple(case(*one)._replace(**{name: value}) for one in before)
    return made


def mark(claim: Claim, changes: Changes, precision: str = DOUBLE) -> dict[str, Any]:
    """What a row says of its setting; nothing where it is the published one."""
    if not changes and precision == DOUBLE:
        return {}
    says = f"not the published setting: {words(changes, precision)}"
    if not callable(claim.resolution):
        says += "; the resolution was argued for the published one"
    if claim.parts and changes:
        says += "; its parts bear their published names"
    return {"changes": dict(changes), "precision": precision, "setting": says}


def words(changes: Changes, precision: str = DOUBLE) -> str:
    """`dim = 50, start = "manifold"`."""
    said = [f"{name} = {json.dumps(value)}" for name, value in changes]
    return ", ".join(said + ([f"in {precision}"] if precision != DOUBLE else []))


def refusal(what: str, done: str, changes: Changes, problem: Exception) -> InvalidInput:
    """Why something cannot be `done` at somebody's own parameters, in one sentence."""
    kind = "" if isinstance(problem, InvalidInput) else f"{type(problem).__name__}: "
    reason = (str(problem).splitlines() or [""])[0].rstrip(".")[:LONGEST_REASON]
    return InvalidInput(f"The {what} cannot be {done} with {words(changes)} ({kind}{reason}).")


def changed_figure(figure: "Figure", changes: Changes) -> "Figure":
    """The same figure with other parameters in each of its runs that has them."""
    known = {run: names(item) for run, (item, _) in figure.runs.items()}
    for name, _ in changes:
        if not any(name in own for own in known.values()):
            near = _near(name, [key for own in known.values() for key in own])
            raise InvalidInput(f"The figure {figure.id!r} has no parameter {name!r} ({near}).")

    def own(run: str, scale: str, fixed: Mapping[str, Any]) -> dict[str, Any]:
        fitting = tuple(one for one in changes if one[0] in known[run])
        return applied(figure.runs[run][0], scale, fixed, fitting)

    scales = {
        scale: {run: own(run, scale, fixed) for run, fixed in runs.items()}
        for scale, runs in figure.scales.items()}
    runs = {run: (item, own(run, "quick", fixed)) for run, (item, fixed) in figure.runs.items()}
    return replace(figure, runs=runs, scales=scales)
