"""Claims of the map (reading: ours): no paper asked one layer about another's task."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from saccade.lab.claim import Citation, Claim, Scale
from saccade.studies.attention_atlas.experiments import aligned, meetings

ORDER = ("floor", "blind", "looking", "samples", "pooling", "structure", "real", "external")


def ours(words: str) -> Citation:
    return Citation("saccade's atlas; no paper has it", words, "ours")


def of_map(
    spec: str, name: str, statement: str, tasks: Sequence[str], learners: Sequence[str],
    samples: Sequence[int], *, seconds: float, draws: int = 32, figure: str = "map", **fields: Any,
) -> Claim:
    """A claim about meetings, whose lists are as `meetings` takes them, judged by up to four times
    as many draws; it is about means unless `fields` say otherwise."""
    asked = {
        "tasks": tuple(tasks), "learners": tuple(learners), "samples": tuple(samples),
        "draws": draws}
    met = aligned(tasks=tasks, learners=learners)
    words = ", ".join(dict.fromkeys(f"{learner} on {task}" for task, learner in met))
    usual: dict[str, Any] = {"statistic": "mean", "status": "measured", "source": "saccade's atlas"}
    return Claim(
        id=f"attention-atlas.{name}", spec=spec, statement=statement, experiment=meetings,
        scales={"quick": Scale(asked, repetitions=4, seconds=seconds)},
        figure=f"attention-atlas/{figure}", citation=ours(words), **(usual | fields))


def of(run: Any, quantity: str, meeting: int) -> np.ndarray:
    """A quantity by draw, of the meeting of this number."""
    return run.data[quantity].values[meeting]


def columns(*values: np.ndarray) -> np.ndarray:
    """Quantities side by side, a draw a row."""
    return np.stack(values, axis=1)


def each(run: Any, quantity: str = "excess") -> np.ndarray:
    """A quantity of every meeting, side by side."""
    return run.data[quantity].values.T
