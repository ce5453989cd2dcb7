"""Drawings of the map. All read cells of the map, those that `saccade atlas` computes and keeps."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from saccade.lab import registry
from saccade.lab.charting import half_width
from saccade.lab.experiment import Run
from saccade.studies.attention_atlas.experiments import cell

ORDER = ("whole", "curves", "mixtures")
TASKS = (
    "single-location-1", "single-location-4", "sparse-token-1", "sparse-token-3", "group-sparse",
    "spatial", "moving-50", "split-50")
LEARNERS = (
    "pooled", "flattened", "erf", "softmax", "place", "content-place", "place-sets", "two-step")
LABELS_ONLY = ("place-sets", "two-step")
NUMBERS = ("single-location", "moving", "split")
"""Tasks whose targets are numbers."""
SAMPLES = (50, 200, 800)


class Entry(NamedTuple):
    """Means over draws of one cell."""

    excess: float
    width: float
    auroc: float
    word: str = ""
    """of a cell that failed, or that has draws that diverged"""


Entries = Mapping[tuple[str, str, int], Entry]


def entry(data: Any) -> Entry:
    """Of the dataset of one cell."""
    excess, auroc = data.excess.values, data.auroc.values
    known = excess[np.isfinite(excess)]
    return Entry(
        float(known.mean()) if len(known) else np.nan, half_width(known) or np.nan,
        float(auroc[np.isfinite(auroc)].mean()) if np.isfinite(auroc).any() else np.nan,
        "div" if (data.word.values == 1).any() else "")


def wanted(
    tasks: Iterable[str], learners: Iterable[str], samples: Iterable[int]
) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The runs of a figure; learners of labels are not asked about numbers."""
    learners, samples = tuple(learners), tuple(samples)
    return {
        f"{task}|{learner}|{count}": (cell, {"task": task, "learner": learner, "samples": count})
        for task in tasks for learner in learners for count in samples
        if not (learner in LABELS_ONLY and task.startswith(NUMBERS))}


def entries(runs: Mapping[str, Run]) -> Entries:
    made = {}
    for run in runs.values():
        asked = run.parameters
        made[asked.task, asked.learner, asked.samples] = entry(run.data)
    return made


def distinct(found: Entries, axis: int) -> list[Any]:
    """Tasks (0) or numbers of samples (2) as they came, learners (1) as they are listed."""
    came = list(dict.fromkeys(key[axis] for key in found))
    if axis != 1:
        return came
    return [one.id for one in registry.charted_learners() if one.id in came]
