"""The ledger: claims judged at a scale, sequentially, with their sabotages, here or in several
processes. One claim gives the same row alone or in the full run."""

import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from saccade.errors import InvalidInput, unknown
from saccade.lab import registry
from saccade.lab.claim import Claim, Sabotage, Scale, columns
from saccade.lab.controls import broken, empty, mirror, trivial, unbroken
from saccade.lab.experiment import SCALES, Run
from saccade.lab.precisions import DOUBLE
from saccade.lab.provenance import judged_now
from saccade.lab.run import run
from saccade.lab.settings import Changes, applied, mark, refusal
from saccade.lab.slack import slack
from saccade.lab.store import Store, StoreUnwritable
from saccade.lab.verdict import HOLDS, REFUTED, UNDECIDED, Judgement, judge
from saccade.lab.workers import Died, Piece, Watcher, carry_out

WAITING = "waiting"
MOST_PARTS = 24  # a row with more shows only the one that decided


class Conditions(NamedTuple):
    """Under which conditions a ledger is judged."""

    scale: str = "quick"
    seed: int = 0
    sabotage: bool = False
    fresh: bool = False
    folder: str | None = None
    changes: Changes = ()
    """parameters of the experiments that are not as published"""
    precision: str = DOUBLE

    @property
    def store(self) -> Store:
        return Store(self.folder)


def scale_for(claim: Claim, scale: str) -> tuple[str, Scale] | None:
    """The claim's largest scale not above the asked one, or None: then the claim waits."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    allowed = [name for name in SCALES[: SCALES.index(scale) + 1] if name in claim.scales]
    return (allowed[-1], claim.scales[allowed[-1]]) if allowed else None


def evaluate(claim: Claim, conditions: Conditions) -> dict[str, Any]:
    """One row of the ledger."""
    row = _unjudged(claim, conditions)
    chosen = scale_for(claim, conditions.scale)
    try:
        waits = _waits(claim, chosen is None)
    except InvalidInput as problem:
        return row | _crashed(problem)
    if waits or chosen is None:
        return row | _no_numbers(WAITING) | {"needs": waits}
    row["judged"] = judged_now(claim.experiment.function)
    start = time.perf_counter()
    row |= {"needs": None, "scale": chosen[0]} | _judged(claim, None, chosen, conditions)
    row["seconds"] = time.perf_counter() - start
    row["sabotages"] = [_control(claim, item, chosen, conditions) for item in claim.sabotages]
    row["repairs"] = [_control(claim, item, chosen, conditions) for item in claim.repairs]
    row["as_expected"] = row["verdict"] == claim.expected
    row["sabotages_refuted"] = all(item["verdict"] in (REFUTED, None) for item in row["sabotages"])
    row["repairs_hold"] = all(item["verdict"] in (HOLDS, None) for item in row["repairs"])
    names = [part["part"] for part in row["parts"]]
    row["unbroken"] = unbroken(names, claim.expected, row["sabotages"])
    return _shortened(row | mark(claim, conditions.changes, conditions.precision))


def _unjudged(claim: Claim, conditions: Conditions) -> dict[str, Any]:
    """A row before anything of it is known."""
    row = claim.describe() | {"scale": conditions.scale, "seed": conditions.seed, "error": None}
    for controls in ("sabotages", "repairs"):
        row[controls] = [item | _no_numbers(None) for item in row[controls]]
    return row | dict.fromkeys(
        ("needs", "judged", "as_expected", "sabotages_refuted", "repairs_hold", "unbroken"))


def _waits(claim: Claim, too_small: bool) -> dict[str, Any] | None:
    """What a claim waits for: a larger scale (with its minutes), a package or a data set."""
    if too_small:
        name, scale = next((name, claim.scales[name]) for name in SCALES if name in claim.scales)
        return {"scale": name, "minutes": round(scale.seconds / 60, 2)}
    return registry.lacking(claim.requires)


def _control(
    claim: Claim, sabotage: Sabotage, chosen: tuple[str, Scale], conditions: Conditions
) -> dict[str, Any]:
    """A sabotage or a repair, judged as the claim is."""
    row: dict[str, Any] = {"name": sabotage.name, "says": sabotage.says}
    if not conditions.sabotage:
        return row | _no_numbers(None)
    start = time.perf_counter()
    row |= _judged(claim, sabotage, chosen, conditions)
    row["broke"] = broken(row["parts"])
    row["trivial"] = row["trivial"] or empty(claim.kind, row)
    # What it broke says enough of its parts: a ledger is to be sent around.
    return row | {"parts": [], "seconds": time.perf_counter() - start}


def _shortened(row: dict[str, Any]) -> dict[str, Any]:
    """Without its parts, if they are too many to be shown."""
    return row if len(row["parts"]) <= MOST_PARTS else row | {"parts": []}


def _no_numbers(verdict: str | None) -> dict[str, Any]:
    names = (
        "prediction", "measurement", "interval", "resolution", "part", "seconds", "slack",
        "trivial")
    return dict.fromkeys(names) | {
        "verdict": verdict, "replicates": 0, "looks": 0, "parts": [], "broke": []}


def _judged(
    claim: Claim, sabotage: Sabotage | None, chosen: tuple[str, Scale], conditions: Conditions
) -> dict[str, Any]:
    """Look after look, doubling the repetitions, until decided or out of budget; or the crash. A
    claim that cannot be judged at somebody's own parameters is refused: the fault is theirs."""
    try:
        if nothing_said := mirror(claim):
            raise InvalidInput(f"the claim is a mirror: {nothing_said}.")
        with np.errstate(all="ignore"), warnings.catch_warnings():
            if conditions.changes:  # what they would say becomes a refusal
                warnings.simplefilter("ignore", RuntimeWarning)
            return _sequential(claim, sabotage, chosen, conditions)
    except StoreUnwritable:
        raise  # no fault of the claim, and every other one would meet it too
    except Exception as problem:
        if conditions.changes and sabotage is None:
            raise refusal(f"claim {claim.id!r}", "judged", conditions.changes, problem) from problem
        return _crashed(problem)


def _crashed(problem: Exception) -> dict[str, Any]:
    """What a row says instead of numbers; to be called where the problem was caught."""
    reason = f"{type(problem).__name__}: {problem}".splitlines()[0]
    return _no_numbers(UNDECIDED) | {"error": reason, "traceback": traceback.format_exc()}


def _sequential(
    claim: Claim, sabotage: Sabotage | None, chosen: tuple[str, Scale], conditions: Conditions
) -> dict[str, Any]:
    measure = (sabotage and sabotage.measure) or claim.measure
    predict = (sabotage and sabotage.predict) or claim.predict
    samples: list[np.ndarray] = []
    proves_nothing = None
    for look, wanted in enumerate(_looks(chosen[1].repetitions)):
        runs = [
            _repetition(claim, sabotage, chosen, conditions, number)
            for number in range(len(samples), wanted)]
        measured = [columns(measure(item)) for item in runs]
        if conditions.changes and not any(np.isfinite(one).any() for one in measured):
            raise InvalidInput("nothing finite is measured there.")
        parts = measured[0].shape[1]
        predicted = [_per_part(predict(item), parts) for item in runs]
        if look == 0:
            predictions, resolutions = predicted[0], _resolution(claim, runs[0], parts)
            if sabotage:
                proves_nothing = trivial(claim, sabotage, runs[0], measured[0], predictions)
        samples += [
            _from_first(predictions, own, sample, claim.statistic)
            for own, sample in zip(predicted, measured)]
        judgement = judge(
            claim.kind, np.concatenate(samples), predictions, resolutions, claim.statistic, look)
        if judgement.verdict != UNDECIDED:
            break
    return _numbers(claim, judgement, predictions, resolutions) | {"trivial": proves_nothing}


def _resolution(claim: Claim, run: Run, parts: int) -> np.ndarray:
    """One for each part. A share of a broken prediction may be negative or NaN; that must refute
    the claim, not stop the ledger."""
    resolution = claim.resolution(run) if callable(claim.resolution) else claim.resolution
    return np.abs(np.nan_to_num(_per_part(resolution, parts)))


def _from_first(
    prediction: np.ndarray, own: np.ndarray, sample: np.ndarray, statistic: str
) -> np.ndarray:
    """What a repetition with a prediction of its own (from its own start, say) would have measured
    under the first one's: distances to the prediction are what is judged. The resolution is that of
    the first repetition."""
    if np.array_equal(own, prediction, equal_nan=True):
        return sample
    if statistic == "fraction":
        raise InvalidInput("a fraction needs one prediction for all repetitions, and this differs.")
    return sample - own + prediction


def _per_part(values: Any, parts: int) -> np.ndarray:
    """One number for each part; a single number serves them all."""
    return np.broadcast_to(np.asarray(values, float).ravel(), (parts,))


def _looks(repetitions: int) -> Iterator[int]:
    """Total repetitions drawn at each look: 1, 2, 4, ... up to the budget."""
    wanted = 1
    while wanted < repetitions:
        yield wanted
        wanted *= 2
    yield repetitions


def _repetition(
    claim: Claim, sabotage: Sabotage | None, chosen: tuple[str, Scale], conditions: Conditions,
    number: int,
) -> Run:
    own = applied(claim.experiment, chosen[0], chosen[1].parameters, conditions.changes)
    changes = {**own, **(sabotage.parameters if sabotage else {})}
    return run(
        claim.experiment, changes, scale=chosen[0], repetition=number, seed=conditions.seed,
        store=conditions.store, fresh=conditions.fresh, precision=conditions.precision)


def _numbers(
    claim: Claim, judgement: Judgement, predictions: np.ndarray, resolutions: np.ndarray
) -> dict[str, Any]:
    """The row's numbers: every part, and the part that decided (the worst one) on top."""
    names = claim.parts or tuple(str(number) for number in range(len(predictions)))
    parts = [
        {
            "part": names[number] if number < len(names) else str(number),
            "verdict": judgement.verdicts[number], "prediction": plain(predictions[number]),
            "measurement": plain(interval.estimate),
            "interval": [plain(interval.low), plain(interval.high)],
            "resolution": plain(resolutions[number])}
        for number, interval in enumerate(judgement.intervals)]
    for part in parts:
        room = slack(claim.kind, part)
        part["slack"] = room and room._asdict()
    worst = min(range(len(parts)), key=lambda number: _health(parts[number], claim))
    top = {key: value for key, value in parts[worst].items() if key != "verdict"}
    return top | {
        "verdict": judgement.verdict, "replicates": judgement.replicates, "looks": judgement.looks,
        "parts": parts, "error": None}


def _health(part: dict[str, Any], claim: Claim) -> tuple[int, float]:
    """Small for the part that matters most: refuted, undecided, holds; then nearest to failing."""
    order = (REFUTED, UNDECIDED, HOLDS).index(part["verdict"])
    predicted, low, high = part["prediction"], *part["interval"]
    if predicted is None or low is None or high is None:
        return order, -np.inf
    distance = claim.kind.excess(low - predicted, high - predicted)
    return order, -distance / (part["resolution"] or 1.0)


def plain(value: Any) -> float | None:
    """A finite Python float, or None: JSON knows neither NaN nor infinity."""
    number = float(value)
    return number if np.isfinite(number) else None


def judge_all(
    claims: Sequence[Claim], conditions: Conditions, jobs: int = 1, watch: Watcher | None = None,
    costs: Mapping[str, float] | None = None,
) -> list[dict[str, Any]]:
    """Rows in the order of `claims`; with `jobs` > 1 in as many processes."""
    parts = pieces(claims, conditions, costs or {}, apart=jobs > 1)
    results = carry_out(parts, jobs if jobs > 1 else 0, watch)
    return rows_of(claims, conditions, parts, results)


def pieces(
    claims: Sequence[Claim], conditions: Conditions, costs: Mapping[str, float], *, apart: bool
) -> list[Piece]:
    """The claims as pieces of work, each of which gives rows. For processes `apart`, claims that
    read the same experiment are one piece, so that no run is computed twice."""
    if not apart:
        return [
            Piece(claim.id, _evaluate_one, (claim, conditions), costs.get(claim.id, 1.0))
            for claim in claims]
    groups: dict[str, list[str]] = {}
    for claim in claims:
        groups.setdefault(claim.experiment.id, []).append(claim.id)
    return [
        Piece(
            f"claims on {experiment}", _evaluate_group, (ids, conditions),
            sum(costs.get(name, 1.0) for name in ids), frozenset({experiment}))
        for experiment, ids in groups.items()]


def rows_of(
    claims: Sequence[Claim], conditions: Conditions, parts: Sequence[Piece], results: Sequence[Any]
) -> list[dict[str, Any]]:
    """The rows in the order of `claims`; a process that died leaves the reason in its rows."""
    if all(part.function is _evaluate_one for part in parts):
        return [row for rows in results for row in rows]
    by_id = {row["id"]: row for rows in results if not isinstance(rows, Died) for row in rows}
    lost = _no_numbers(UNDECIDED) | {"error": Died().reason}
    return [by_id.get(claim.id) or _unjudged(claim, conditions) | lost for claim in claims]


def _evaluate_one(claim: Claim, conditions: Conditions) -> list[dict[str, Any]]:
    return [evaluate(claim, conditions)]


def _evaluate_group(ids: list[str], conditions: Conditions) -> list[dict[str, Any]]:
    """Of one experiment, so of one study: the others are not imported for it."""
    known = registry.of_study(ids[0], registry.claims)
    return [evaluate(registry.one("claim", name, known), conditions) for name in ids]


def reasons(row: Mapping[str, Any]) -> list[str]:
    """Why a judged row is not as it must be, one sentence each."""
    said = []
    if row.get("error"):
        said.append(row["error"])
    elif row.get("as_expected") is False:
        said.append(f"{row['verdict']}, expected: {row['expected']}")
    for control, wanted in ((row["sabotages"], REFUTED), (row.get("repairs", []), HOLDS)):
        for item in control:
            if item["verdict"] not in (wanted, None):
                why = item.get("error") or f"{item['verdict']}, must be {wanted}"
                said.append(f"{item['name']}: {why}")
            if item.get("trivial"):
                said.append(f"{item['name']} proves nothing: {item['trivial']}")
    if row.get("unbroken"):
        said.append(f"no sabotage breaks: {'; '.join(row['unbroken'])}")
    return said


def verdict_is_expected(row: dict[str, Any]) -> bool:
    """Whether a row passes; a waiting claim neither passes nor fails."""
    return row["verdict"] == WAITING or not reasons(row)
