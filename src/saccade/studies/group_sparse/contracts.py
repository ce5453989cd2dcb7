"""Small tasks and models of this study, as the shared contracts see them (`saccade.contracts`)."""

from collections.abc import Callable, Mapping
from typing import Any

from saccade.contracts import Model, Symmetry, Task
from saccade.studies.group_sparse.dynamics.reduced_gradient import selecting_parameters
from saccade.studies.group_sparse.experiments.descent import VARIANTS
from saccade.studies.group_sparse.models.encodings import encoding
from saccade.studies.group_sparse.models.layer import Architecture, Transformer, xavier
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

GROUPS, DIM, RELEVANT = 5, 3, 1


def _task(**options: Any) -> GroupSparseTask:
    return group_sparse_task(GROUPS, DIM, relevant=RELEVANT, direction=[0.6, -0.8, 1.0], **options)


def _model(key: Any, architecture: Architecture, kind: str = "sine") -> Transformer:
    matrix = encoding(kind, GROUPS).matrix
    return Transformer(xavier(key, DIM + len(matrix), architecture), matrix, architecture)


def _selector(key: Any) -> Transformer:
    """Attention 0.9 on the relevant group by position alone; the value reads the features."""
    matrix = encoding("sine", GROUPS).matrix
    chosen = selecting_parameters(0.9, _task(), matrix)
    return Transformer(chosen._replace(value=chosen.value.at[:DIM].set(1.0)), matrix)


TASKS: Mapping[str, Callable[[Any], Task]] = {
    "paper": lambda key: _task(), "margin": lambda key: _task(margin=0.5),
    "split": lambda key: _task(split=3, split_weight=0.7)}

MODELS: Mapping[str, Callable[[Any], Model]] = {
    **{name: lambda key, shape=shape: _model(key, shape) for name, shape in VARIANTS.items()},
    "no encoding": lambda key: _model(key, Architecture(), "none"), "selector": _selector}

SYMMETRIES: Mapping[str, Symmetry] = {
    **dict.fromkeys(VARIANTS, Symmetry("none")), "no encoding": Symmetry("invariant"),
    "selector": Symmetry("within-groups", [int(group == RELEVANT) for group in range(GROUPS)])}
