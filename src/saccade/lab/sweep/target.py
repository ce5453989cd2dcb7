"""What a sweep evaluates: a study's experiment or calculator, or your own as `module:name`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from saccade.errors import InvalidInput, unknown
from saccade.lab import registry
from saccade.lab.calculator import Calculator, as_json
from saccade.lab.experiment import Batch, Experiment, key_for, validated
from saccade.lab.fingerprint import version_of
from saccade.lab.layout import Request
from saccade.studies import STUDIES

if TYPE_CHECKING:
    import xarray

CALCULATOR = "calc:"


@dataclass(frozen=True)
class Target:
    """`label` names it in the store; `compute(key, parameters)` evaluates one cell."""

    label: str
    model: type[BaseModel]
    code: str
    defaults: Callable[[str], Mapping[str, Any]]
    """what a scale changes"""
    compute: Callable[[Any, BaseModel], "xarray.Dataset"]
    random: bool = True
    batch: Batch | None = None
    code_at: Callable[[BaseModel], str] | None = None
    """the code version of one cell, where cells compute with different code"""

    def parameters(self, values: Mapping[str, Any], scale: str = "quick") -> BaseModel:
        given = {**self.defaults(scale), **{name: as_json(value) for name, value in values.items()}}
        return validated(self.model, given, self.label)

    def request(self, parameters: BaseModel, repetition: int, seed: int) -> Request:
        code = self.code if self.code_at is None else self.code_at(parameters)
        return Request(self.label, parameters.model_dump(mode="json"), repetition, seed, code)

    def key(self, repetition: int, seed: int) -> Any:
        return _key(self.label, repetition, seed) if self.random else None


_key = lru_cache(maxsize=1024)(key_for)


@cache
def resolve(name: str, folder: str | None = None) -> Target:
    """The target called `name`; modules of your own are looked for in `folder` too."""
    if ":" in name and not name.startswith(CALCULATOR):
        return _own(name, folder)
    bare = name.removeprefix(CALCULATOR)
    study = bare.split(".")[0]
    known = study if study in STUDIES else None
    calculators = {item.id: item for item in registry.calculators(known)}
    experiments = (
        {} if name.startswith(CALCULATOR)
        else {item.id: item for item in registry.experiments(known)})
    if bare in experiments:
        return _of_experiment(experiments[bare])
    if bare in calculators:
        return _of_calculator(calculators[bare])
    raise unknown("experiment or calculator", bare, [*experiments, *calculators])


def _of_experiment(item: Experiment) -> Target:
    def defaults(scale: str) -> Mapping[str, Any]:
        item.parameters(scale)  # refuses an unknown scale
        return item.scales.get(scale, {})

    code = version_of(item.function)
    return Target(
        item.id, item.model, code, defaults, item.compute, batch=item.batch,
        code_at=item.code if item.finds else None)


def _own(name: str, folder: str | None) -> Target:
    module_name, _, attribute = name.partition(":")
    if folder and folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = import_module(module_name)
    except ImportError as problem:
        raise InvalidInput(f"run = {name!r} cannot be imported ({problem}).") from None
    item = getattr(module, attribute, None)
    if not isinstance(item, Experiment):
        known = [key for key, value in vars(module).items() if isinstance(value, Experiment)]
        raise unknown(f"experiment in {module_name}", attribute, known)
    return _of_experiment(item)


def _of_calculator(item: Calculator) -> Target:
    def compute(key: Any, parameters: BaseModel) -> "xarray.Dataset":
        return tabulated(item.answer(parameters))

    code = version_of(item.function)
    return Target(CALCULATOR + item.id, item.inputs, code, lambda scale: {}, compute, random=False)


def tabulated(values: Mapping[str, Any], prefix: str = "") -> "xarray.Dataset":
    """An answer as a dataset: regular lists as arrays, nested names joined by points."""
    import numpy as np
    import xarray

    columns: dict[str, Any] = {}
    for name, value in values.items():
        label = prefix + name
        if isinstance(value, Mapping):
            columns.update(
                {str(key): item for key, item in tabulated(value, f"{label}.").variables.items()})
            continue
        array = np.asarray(np.nan if value is None else value)
        if array.dtype.kind == "O":
            raise InvalidInput(f"The output {label!r} is a ragged list, which a run cannot hold.")
        columns[label] = ([f"{label}_{axis}" for axis in range(array.ndim)], array)
    return xarray.Dataset(columns)


def varied(target: Target, parameters: Sequence[BaseModel]) -> list[list[int]]:
    """Groups of cell numbers computed at once: they differ only in what the target can vary."""
    if target.batch is None:
        return [[number] for number in range(len(parameters))]
    fixed = [name for name in target.model.model_fields if name not in target.batch.varying]
    together: dict[tuple[Any, ...], list[int]] = {}
    for number, one in enumerate(parameters):
        together.setdefault(tuple(getattr(one, name) for name in fixed), []).append(number)
    width = target.batch.width
    return [
        whole[start : start + width] for whole in together.values()
        for start in range(0, len(whole), width)]
