"""Small tasks and models of this study, as the shared contracts see them (`saccade.contracts`)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from saccade.contracts import Model, Symmetry, Task
from saccade.studies.group_sparse.dynamics.reduced_gradient import selector
from saccade.studies.group_sparse.experiments.descent import VARIANTS
from saccade.studies.group_sparse.models import Transformer, encoding, xavier
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

GROUPS, DIM, RELEVANT = 5, 3, 1
SINE = encoding("sine", GROUPS)


def _task(**options: Any) -> GroupSparseTask:
    return group_sparse_task(GROUPS, DIM, relevant=RELEVANT, direction=[0.6, -0.8, 1.0], **options)


def _selector(key: Any) -> Transformer:
    """Attention 0.9 on the relevant group by position alone; the value reads the features."""
    model = selector(0.9, _task(), SINE)
    return model.at(model.parameters._replace(value=model.parameters.value.at[:DIM].set(1.0)))


TASKS: Mapping[str, Callable[[Any], Task]] = {
    "paper": lambda key: _task(), "margin": lambda key: _task(margin=0.5),
    "split": lambda key: _task(split=3, split_weight=0.7)}

MODELS: Mapping[str, Callable[[Any], Model]] = {
    **{
        name: partial(xavier, group_dim=DIM, matrix=SINE, architecture=shape)
        for name, shape in VARIANTS.items()},
    "no encoding": partial(xavier, group_dim=DIM, matrix=encoding("none", GROUPS)),
    "selector": _selector}

SYMMETRIES: Mapping[str, Symmetry] = {
    **dict.fromkeys(VARIANTS, Symmetry("none")), "no encoding": Symmetry("invariant"),
    "selector": Symmetry("within-groups", [int(group == RELEVANT) for group in range(GROUPS)])}
