"""Evaluate an experiment once: from the store if it is there and nothing changed, else compute."""

import time
from collections.abc import Mapping
from typing import Any

from saccade.lab.experiment import Experiment, Run, check_seed, key_for
from saccade.lab.precisions import DOUBLE, check_precision, computing_in
from saccade.lab.programs import let_go_of_programs
from saccade.lab.store import Request, Store

PRECIOUS = 5.0
"""Seconds from which on a run must survive a power cut: a ledger has thousands of cheaper ones, the
disk's word for each costs milliseconds, and one that a power cut damaged is told by its checksums
and computed again."""


def run(
    experiment: Experiment, changes: Mapping[str, Any] | None = None, *, scale: str = "quick",
    repetition: int = 0, seed: int = 0, store: Store | None = None, fresh: bool = False,
    precision: str = DOUBLE,
) -> Run:
    """At `scale`, with `changes`; `repetition` numbers independent ones of the whole experiment. At
    `precision` float32 what JAX computes is in single precision, and stored apart."""
    seed = check_seed(seed)
    check_precision(precision)
    repetition = check_seed(repetition, "repetition")
    parameters = experiment.parameters(scale, changes)
    store = store or Store()
    request = Request(
        experiment.id, parameters.model_dump(mode="json"), repetition, seed,
        experiment.code(parameters), precision)
    data = None if fresh else store.load(request)
    if data is None:
        data = _compute(experiment, parameters, request, store, fresh)
    return Run(data, parameters)


def _compute(
    experiment: Experiment, parameters: Any, request: Request, store: Store, fresh: bool
) -> Any:
    start = time.perf_counter()
    key = key_for(experiment.id, request.repetition, request.seed)
    with computing_in(request.precision):
        data = experiment.compute(key, parameters)
    if fresh:
        store.remove(request.name)
    seconds = time.perf_counter() - start
    store.save(request, data, seconds, durable=seconds >= PRECIOUS)
    let_go_of_programs()
    return data
