"""The map of all learners and all tasks as a sweep: which cells it has, and what came of them."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from saccade.errors import InvalidInput, require, unknown
from saccade.lab import registry
from saccade.lab.chart import ChartedLearner, ChartedTask

if TYPE_CHECKING:
    import xarray

SAMPLES = (50, 200, 800)
LEVEL = 0.05
"""An interval of the map misses its mean that often: it is for reading, no verdict."""
FAILS = 0.75
"""Below this AUROC a learner is said not to look where the truth lies; guessing has 0.5."""
Charted = ChartedTask | ChartedLearner


def chosen(kind: str, names: Sequence[str], items: Sequence[Any], scale: str) -> list[Any]:
    """The items that names or patterns mean; without any those of the quick map, or all."""
    if not names:
        here = [one for one in items if not registry.lacking(getattr(one, "requires", None))]
        return [one for one in here if one.quick or scale != "quick"]
    for name in names:
        if not any(fnmatchcase(one.id, name) for one in items):
            raise unknown(f"{kind} of the atlas", name, [one.id for one in items])
    return [one for one in items if any(fnmatchcase(one.id, name) for name in names)]


def left_out(names: Sequence[str], tasks: Sequence[ChartedTask], scale: str) -> str | None:
    """A sentence about the tasks of this map whose data are not here."""
    wanted = [one for one in tasks if not names and (one.quick or scale != "quick")]
    absent = [one.id for one in wanted if registry.lacking(one.requires)]
    if not absent:
        return None
    listed = ", ".join(absent)
    return f"Not on this map, since their data are not here (saccade data list): {listed}."


def sizes(text: str) -> list[int]:
    """Numbers of samples from "50,200,800"."""
    try:
        numbers = [int(word) for word in text.split(",")]
    except ValueError:
        raise InvalidInput(f"samples = {text!r} must be whole numbers joined by commas.") from None
    for number in numbers:
        require(8 <= number <= 10**6, "samples", number, "must lie from 8 to 1000000")
    require(len(set(numbers)) == len(numbers), "samples", text, "names a number twice")
    return numbers


class Laid(NamedTuple):
    """The cells of a map, and a sentence for each reason why others are not among them."""

    cells: list[dict[str, Any]]
    refused: list[str]


def laid(
    tasks: Sequence[ChartedTask], learners: Sequence[ChartedLearner], samples: Sequence[int],
    length: int, dim: int,
) -> Laid:
    """Every meeting that can be: a learner that cannot take a task's samples is left out, and so is
    a number of samples that real data do not have; refused if nothing else was asked for."""
    import jax

    cells, refused = [], {}
    for task in tasks:
        kind = task.make(jax.random.key(0), *(task.size or (length, dim))).kind
        for learner, count in product(learners, samples):
            try:
                learner.of(kind, task.ragged)
                task.check(count)
            except InvalidInput as problem:
                refused.setdefault(str(problem), {})[task.id] = True
            else:
                cells.append({"task": task.id, "learner": learner.id, "samples": count})
    if not cells:
        raise InvalidInput(next(iter(refused), "No task of the atlas was asked for."))
    return Laid(cells, [_sentence(why, list(names)) for why, names in refused.items()])


def _sentence(why: str, tasks: list[str]) -> str:
    """Why, and on which tasks, unless that is said already."""
    return why if repr(tasks[0]) in why else f"{why} Left out: {', '.join(tasks)}."


def summaries(data: "xarray.Dataset") -> list[dict[str, Any]]:
    """Of every cell: means over draws with half the width of a 95 % interval, or its word."""
    rows = []
    for number in range(data.sizes["cell"]):
        one = data.isel(cell=number)
        row = {name: one[name].item() for name in ("task", "learner", "samples")}
        row["word"] = str(one.status.item())
        if row["word"] == "finished":
            row |= _means(one)
        rows.append(row)
    return rows


def _means(one: "xarray.Dataset") -> dict[str, Any]:
    diverged = int((one.word == 1).sum())
    row: dict[str, Any] = {"word": f"{diverged} diverged" if diverged else "finished"}
    for name in ("excess", "error", "best", "null", "auroc", "top1", "seconds"):
        values = one[name].values
        values = values[np.isfinite(values)]
        row[name] = float(values.mean()) if len(values) else None
        if name in ("excess", "auroc", "top1"):
            row[f"{name}_width"] = half_width(values)
    return row


def half_width(values: np.ndarray) -> float | None:
    """Of Student's interval for the mean."""
    if len(values) < 2:
        return None
    from scipy.special import stdtrit

    reach = float(stdtrit(len(values) - 1, 1 - LEVEL / 2))
    return reach * float(values.std(ddof=1)) / len(values) ** 0.5
