"""Small tasks and models of this study that `tests/test_contracts.py` holds to the contracts: the
task split between place and mark, and learners of the map fitted to it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax

from saccade.contracts import Model, Symmetry
from saccade.studies.attention_atlas.learners.erf import ERF
from saccade.studies.attention_atlas.learners.lasso import LASSO
from saccade.studies.attention_atlas.learners.linear import FLAT, LARGEST, NULL, POOLED
from saccade.studies.attention_atlas.learners.positional import PLACES
from saccade.studies.attention_atlas.learners.softmax import SOFTMAX
from saccade.studies.attention_atlas.task import Split

LENGTH, DIM = 5, 4
ORDERLESS = (NULL, POOLED, LARGEST, ERF, *SOFTMAX[:2])
PLACED = (FLAT, LASSO, PLACES, SOFTMAX[3])


def _fitted(learner: Any, key: Any) -> Model:
    sample = Split.create(key, LENGTH, DIM, 0.5).sample(jax.random.fold_in(key, 1), 80)
    return learner.of("regression").fit(sample.X, sample.y, key=key)


TASKS: dict[str, Callable[[Any], Any]] = {
    f"split {share:g}": partial(Split.create, length=LENGTH, dim=DIM, share=share)
    for share in (0.0, 0.5, 1.0)}
MODELS: dict[str, Callable[[Any], Model]] = {
    one.id: partial(_fitted, one) for one in (*ORDERLESS, *PLACED)}
SYMMETRIES = {one.id: Symmetry("invariant") for one in ORDERLESS} | {
    one.id: Symmetry("none") for one in PLACED}
