"""The claims on softmax attention, and what they share."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from saccade.lab.claim import Citation, Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.studies.softmax_location.theory import Setting

ORDER = ("risk", "definitions", "drawn", "landscape", "training", "oracle", "limits", "questions")
OURS = Citation("none: our own statement", "", "ours")


def answers(place: str, words: str) -> Citation:
    """A statement of ours that answers a sentence of Marion et al."""
    return Citation(f"Marion et al. (2025), {place}", words, "ours")


claim = partial(Claim, source="ours", citation=OURS)


def quick(
    parameters: Mapping[str, Any] | None = None, repetitions: int = 1, seconds: float = 1.0
) -> dict[str, Scale]:
    """The scales of a claim that has only this one."""
    return {"quick": Scale(parameters or {}, repetitions, seconds)}


def changed(name: str, says: str, **parameters: Any) -> Sabotage:
    """A sabotage that changes parameters of the experiment."""
    return Sabotage(name, says, parameters=parameters)


def setting(run: Run) -> Setting:
    """The run's setting, without noise."""
    p = run.parameters
    return Setting(float(p.dim), float(p.length), p.inverse_temperature, p.gamma)
