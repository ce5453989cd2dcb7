"""Trainings: experiments long enough to be started by name, with their cost said first and
checkpoints to resume from.

They stand beside a study's experiments. What `saccade train` makes is the ordinary run of the
experiment: claims and figures at that scale then find it in the store.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saccade.errors import InvalidInput, unknown
from saccade.lab import registry
from saccade.lab.experiment import SCALES, Experiment, Run
from saccade.lab.run import run
from saccade.lab.store import Request, Store

Report = Callable[[str, int, int, float], None]


@dataclass(frozen=True)
class Training:
    """`scales`: where it is offered, with what differs; `cost(parameters)`: seconds, timed."""

    name: str
    says: str
    experiment: Experiment
    scales: Mapping[str, Mapping[str, Any]]
    cost: Callable[[Any], float]
    steps_of: Callable[[Any], int] = field(
        default=lambda parameters: parameters.steps * getattr(parameters, "seeds", 1))

    @property
    def study(self) -> str:
        return self.experiment.study

    @property
    def id(self) -> str:
        return f"{self.study}/{self.name}"

    def parameters(self, scale: str) -> Any:
        return self.experiment.parameters(scale, self.scales[scale])

    def seconds(self, scale: str) -> float:
        """About how long it takes here, from a few timed steps."""
        return self.cost(self.parameters(scale))

    def steps(self, scale: str) -> int:
        """Optimiser steps over all networks it trains."""
        return self.steps_of(self.parameters(scale))

    def request(self, scale: str, seed: int) -> Request:
        asked = self.parameters(scale)
        return Request(
            self.experiment.id, asked.model_dump(mode="json"), 0, seed, self.experiment.code(asked))

    def is_stored(self, scale: str, seed: int, store: Store) -> bool:
        return store.has(self.request(scale, seed))

    def run(self, scale: str, seed: int, store: Store, resume: bool, report: Report) -> Run:
        """Train, or go on from checkpoints; they are removed once the run is in the store."""
        import shutil

        from saccade.networks.training import watching

        folder = checkpoint_folder() / self.request(scale, seed).name
        with watching(report, folder, resume):
            made = run(self.experiment, self.scales[scale], scale=scale, seed=seed, store=store)
        shutil.rmtree(folder, ignore_errors=True)
        return made


def checkpoint_folder() -> Path:
    """`$SACCADE_CHECKPOINTS`, or the platform's data folder for saccade."""
    from platformdirs import user_data_path

    return Path(os.environ.get("SACCADE_CHECKPOINTS") or user_data_path("saccade") / "checkpoints")


def find_trainings(study: str, names: Sequence[str], scale: str) -> list[Training]:
    """The named trainings of a study, or all it has at this scale."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    known = {item.name: item for item in registry.trainings(study)}
    for name in names:
        if name not in known:
            raise unknown(f"training of {study}", name, known)
        if scale not in known[name].scales:
            there = ", ".join(known[name].scales)
            raise InvalidInput(f"scale = {scale!r} is not offered for {name}; it has: {there}.")
    chosen = [known[name] for name in names] or [
        item for item in known.values() if scale in item.scales]
    if not chosen:
        raise InvalidInput(f"study = {study!r} has nothing to train at scale {scale}.")
    return chosen
