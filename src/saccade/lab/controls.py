"""What a control proves: which parts of a claim a sabotage broke, and why one may prove nothing.

A sabotage that leaves everything as it is, measures nothing or nothing finite, turns a sign round,
multiplies all that is measured or predicted, or writes down another number for it would be refuted
whatever the claim says; a repair that measures nothing, or writes down a bound that is wide enough,
would hold whatever it says. Such a control is called trivial when it is judged, and a row with one
is not as expected. A claim that measures what it predicts, or a number that is written down, is a
mirror, and is not judged at all.
"""

from collections.abc import Callable, Iterable, Mapping
from inspect import getclosurevars
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from saccade.lab.claim import Claim, Repair, Sabotage, columns, nothing
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY, Kind
from saccade.lab.verdict import HOLDS, REFUTED

WRITTEN = "it measures a number that is written down, not the run"
ANOTHER = "it only writes another number in place of one that nothing computes"

TELLING = 3
"""From so many parts on one common factor is no accident; a formula for one number always has
one."""

ROUNDING = 1e-9  # of what a number is compared with: smaller is zero

SAME = 1e-6  # factors nearer than this are one: measurements may be in single precision


def trivial(
    claim: Claim, control: Sabotage, first: Run, measured: np.ndarray, predicted: np.ndarray
) -> str | None:
    """Why a control proves nothing, or None. `measured` and `predicted` are what it made of its
    `first` run; the claim's own measure and prediction are asked of the same run."""
    said = None
    if not isinstance(control, Repair):
        said = _disguised(claim, control, first, measured, predicted)
    if control.measure is not None and _is_written_down(control.measure):
        return said or WRITTEN
    alone = control.predict is not None and not (control.parameters or control.measure)
    return said or (ANOTHER if alone and _writes_another(claim, control) else None)


def _disguised(
    claim: Claim, control: Sabotage, first: Run, measured: np.ndarray, predicted: np.ndarray
) -> str | None:
    """What a sabotage does to the claim's own numbers if it does it to all of them alike."""
    if control.measure is not None:
        if np.all(measured == 0):
            return "it measures nothing but zeros"
        factor = _only_multiplies(measured, _asked(claim.measure, first))
        if factor is not None:
            return f"it only multiplies what is measured by {factor:.4g}"
    own = None if control.predict is None else _asked(claim.predict, first, predicted.shape)
    factor = _only_multiplies(predicted, own)
    return None if factor is None else f"it only multiplies what is predicted by {factor:.4g}"


def mirror(claim: Claim) -> str | None:
    """Why a claim says nothing, whatever it measures, or None."""
    return WRITTEN if _is_written_down(claim.measure) else None


def _writes_another(claim: Claim, control: Sabotage) -> bool:
    """Whether a control compares what is measured with another number than the claim does, and that
    is all: neither asks the run. The measurement being near the one, it is far from the other."""
    return _is_written_down(claim.predict) and _asked(control.predict or nothing, None) is not None


def _is_written_down(predict: Callable[[Any], Any]) -> bool:
    """Whether a prediction is a number in the source: it asks no run, and calls NumPy at most."""
    code = getattr(predict, "__code__", None)
    if code is None or any(isinstance(item, CodeType) for item in code.co_consts):
        return False
    used = getclosurevars(predict)
    computes = [
        item for item in (*used.globals.values(), *used.nonlocals.values())
        if item is not np and (callable(item) or isinstance(item, ModuleType))]
    return not computes and _asked(predict, None) is not None


def _asked(
    function: Callable[[Any], Any], run: Run | None, shape: tuple[int, ...] | None = None
) -> np.ndarray | None:
    """What a function says of a run, or without one; None where it has nothing to say."""
    try:
        value = function(run)
        return np.broadcast_to(np.ravel(value), shape) if shape else columns(value)
    except Exception:
        return None


def _only_multiplies(changed: np.ndarray, own: np.ndarray | None) -> float | None:
    """The one factor between all numbers and those of the claim, if that is no accident. (That all
    move by as much is none: a formula may well be linear in what a control changes.)"""
    factor = _common_factor(changed, own)
    return factor if factor in (1.0, -1.0) or changed.size >= TELLING else None


def _common_factor(changed: np.ndarray, own: np.ndarray | None) -> float | None:
    """The one factor by which all numbers differ, if there is one."""
    if own is None or own.shape != changed.shape:
        return None
    own, changed = np.nan_to_num(own).ravel(), np.nan_to_num(changed).ravel()
    if not own.any() or np.any((own == 0) != (changed == 0)):
        return None
    ratios = changed[own != 0] / own[own != 0]
    factor = float(np.round(np.median(ratios), 6))
    return factor if np.allclose(ratios, factor, rtol=SAME, atol=0) else None


def empty(kind: Kind, judged: Mapping[str, Any]) -> str | None:
    """Why the numbers of a judged control prove nothing, or None: a sabotage is refuted by numbers,
    and a repair that holds measures something (the residual of an identity may well be zero)."""
    if judged["verdict"] == REFUTED and not judged["broke"]:
        return "it has no finite number to compare"
    if judged["verdict"] == HOLDS and kind is not IDENTITY and all(map(_rounds, judged["parts"])):
        return "it measures nothing but zeros"
    return None


def _rounds(part: Mapping[str, Any]) -> bool:
    """Whether all of a part's interval is zero, up to rounding of what it is compared with. The
    interval of a fraction never is."""
    size = max(abs(part["prediction"]), part["resolution"])
    return max(map(abs, part["interval"])) <= ROUNDING * size


def broken(parts: Iterable[Mapping[str, Any]]) -> list[str]:
    """The parts that a control refuted by numbers: where nothing finite was measured or predicted
    the verdict is refuted whatever the claim says."""
    return [
        part["part"] for part in parts
        if part["verdict"] == REFUTED and None not in (part["prediction"], part["measurement"])]


def unbroken(
    parts: Iterable[str], expected: str, controls: Iterable[Mapping[str, Any]]
) -> list[str]:
    """The parts of a claim expected to hold that none of its judged sabotages refuted."""
    judged = [control for control in controls if control["verdict"] is not None]
    if expected != "holds" or not judged:
        return []
    broken = {part for control in judged for part in control["broke"]}
    return [part for part in parts if part not in broken]
