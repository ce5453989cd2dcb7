"""Calculators: every prediction and elementary step by name, from Python, from the shell, and so
from any other language.

    saccade.calc("single-location.zeta", t=1.0, variance=0.5)

Inputs are pydantic models: a missing, unknown or out-of-range input is refused with one sentence
that names it.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationInfo, create_model, field_validator

from saccade.errors import Diverged, InvalidInput
from saccade.lab import registry
from saccade.lab.broadcasting import arrays_for_numbers, over
from saccade.lab.experiment import validated

LARGEST_EXACT = 2**53  # beyond it not every whole number is a float

Whole = int
"""A field that takes a whole number, also when it is written 10.0 (other languages may know no
other way)."""


class Inputs(BaseModel):
    """Refuses unknown names; numbers must be finite, and neither words nor true or false."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True, strict=True)

    @field_validator("*", mode="before")
    @classmethod
    def _take_whole_floats(cls, value: Any, info: ValidationInfo) -> Any:
        """10.0 is a whole number too, where one is asked for; 10.5 is left to be refused."""
        asked = str(cls.model_fields[info.field_name or ""].annotation)
        return _as_whole(value) if re.search(r"\bint\b", asked) else value


def _as_whole(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_whole(item) for item in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_EXACT
    return int(value) if whole else value


@dataclass(frozen=True)
class Calculator:
    """A named function from validated inputs to a dictionary of numbers, words and nested lists."""

    id: str
    inputs: type[BaseModel]
    function: Callable[..., Mapping[str, Any]]
    about: str
    outputs: Mapping[str, str]
    status: str
    source: str
    example: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, type[BaseModel]] = field(default_factory=dict)
    """parameters of the function that are whole groups of inputs"""

    @property
    def study(self) -> str:
        return self.id.split(".")[0]

    def __call__(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Validate, compute, and return plain Python values; arrays where arrays were given for
        single numbers (`lab/broadcasting.py`)."""
        arrays = arrays_for_numbers(self.inputs, values)
        if arrays:
            rest = {name: value for name, value in values.items() if name not in arrays}
            return over(arrays, lambda entry: self({**rest, **entry}))
        given = {str(name): as_json(value) for name, value in values.items()}
        return self.answer(validated(self.inputs, given, self.id))

    def answer(self, given: BaseModel) -> dict[str, Any]:
        """The outputs for validated inputs, in plain Python values."""
        names = inspect.signature(self.function).parameters
        with np.errstate(all="ignore"):  # what is not finite is refused with a sentence by `plain`
            answer = self.function(
                **{name: given if name in self.groups else getattr(given, name) for name in names})
        return {name: plain(value, f"{self.id}: {name}") for name, value in answer.items()}

    def describe(self) -> dict[str, Any]:
        fields = self.inputs.model_fields
        return {
            "id": self.id, "study": self.study, "about": self.about, "status": self.status,
            "source": self.source,
            "inputs": {name: _field_text(info) for name, info in fields.items()},
            "outputs": dict(self.outputs), "example": dict(self.example)}


def calculator(
    id: str, *, outputs: Mapping[str, str], source: str, example: Mapping[str, Any],
    status: str = "exact",
) -> Callable[[Callable[..., Mapping[str, Any]]], Calculator]:
    """Register a typed function as the calculator `id`; its signature declares the inputs.

        Dim = Annotated[float, Field(ge=2, description="dimension d of a token, ...")]

        @calculator("my-study.risk", outputs={"risk": "..."}, source="...", example={...})
        def risk(at: At, dim: Dim, noise: Noise = 0.0) -> dict[str, Any]:
            '''What it gives, in one sentence.'''

    A parameter whose type is a subclass of `Inputs` stands for all its fields: they become inputs
    by their own names, and the function is handed an object that has them.
    """

    def register(function: Callable[..., Mapping[str, Any]]) -> Calculator:
        given = inspect.signature(function, eval_str=True).parameters.values()
        groups = {p.name: p.annotation for p in given if _is_group(p.annotation)}
        fields: dict[str, Any] = {
            p.name: (p.annotation, ... if p.default is p.empty else p.default) for p in given
            if p.name not in groups}
        inputs = create_model(id, __base__=tuple(groups.values()) or Inputs, **fields)
        about = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")
        return Calculator(id, inputs, function, about, outputs, status, source, example, groups)

    return register


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Inputs)


def _field_text(info: Any) -> str:
    text = info.description or ""
    return text if info.is_required() else f"{text} [{info.default}]".strip()


def as_json(value: Any) -> Any:
    """What Python users may hand in, as JSON writes it: arrays as lists, scalars as Python's."""
    if hasattr(value, "__array__"):
        return as_json(np.asarray(value).tolist())
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    return [as_json(item) for item in value] if isinstance(value, list | tuple | range) else value


def plain(value: Any, owner: str) -> Any:
    """Arrays to lists, numpy scalars to Python's; not finite is an error, never a silent NaN."""
    if isinstance(value, Mapping):
        return {str(name): plain(item, f"{owner}.{name}") for name, item in value.items()}
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, list | tuple):
        return [plain(item, owner) for item in value]
    array = np.asarray(value)
    if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
        raise Diverged(
            f"{owner} is not a finite number for these inputs; move them away from the edge of"
            " their range.")
    return array.tolist()


def find(name: str) -> Calculator:
    """The calculator called `name`; only its own study is imported."""
    if not isinstance(name, str):
        raise InvalidInput(f"name = {name!r} must be the name of a calculator.")
    return registry.one("calculator", name, registry.of_study(name, registry.calculators))


def calc(name: str, /, **inputs: Any) -> dict[str, Any]:
    """Ask the calculator `name`, e.g. `calc("single-location.zeta", t=1.0, variance=0.5)`. Arrays
    in place of numbers are broadcast and give arrays."""
    return find(name)(inputs)
