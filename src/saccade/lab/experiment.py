"""Experiments: named functions of a key and parameters that return a labelled dataset. They are
what is stored, swept and resumed.

An experiment is written as an ordinary function and registered with `experiment`:

    @experiment("single-location.descent", scales={"paper": {"repetitions": 30}})
    def descent(key, *, dim: int = 400, repetitions: int = 8) -> xarray.Dataset:
        \"\"\"Projected descent from random starts.\"\"\"

The signature is the validated parameter list: unknown names and wrong types are refused before
anything runs.
"""

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from saccade.errors import InvalidInput, require, unknown
from saccade.lab.fingerprint import joint_version, version_of
from saccade.lab.messages import message

if TYPE_CHECKING:
    import xarray

SCALES = ("quick", "standard", "paper")
LARGEST_SEED = 2**63 - 1
COUNTS = ("dim", "dims", "length", "lengths", "samples", "repetitions", "steps", "batch", "trials")
LARGEST_SIZE = 10**8  # dimensions, samples, steps: beyond it XLA would end the process, not refuse


class Run(NamedTuple):
    """One evaluated experiment: its data, and the parameters it was made with."""

    data: "xarray.Dataset"
    parameters: Any


class Batch(NamedTuple):
    """How cells that differ only in `varying` are computed at once: `compute(keys, parameters)`."""

    varying: frozenset[str]
    width: int
    compute: Callable[[Sequence[Any], Sequence[Any]], "list[xarray.Dataset]"]


@dataclass(frozen=True)
class Experiment:
    """`scales` holds what differs from the defaults, which are the quick scale. One that looks for
    what it computes with by name says which modules those are: `finds(parameters)`."""

    id: str
    function: Callable[..., "xarray.Dataset"]
    model: type[BaseModel]
    scales: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    batch: Batch | None = None
    finds: Callable[[Any], Iterable[str]] | None = None

    def code(self, parameters: Any) -> str:
        """The version of the code that a run with these parameters computes with."""
        if self.finds is None:
            return version_of(self.function)
        return joint_version(frozenset({self.function.__module__, *self.finds(parameters)}))

    @property
    def study(self) -> str:
        return self.id.split(".")[0]

    @property
    def about(self) -> str:
        return (inspect.getdoc(self.function) or "").split("\n\n")[0].replace("\n", " ")

    def describe(self) -> dict[str, Any]:
        """What it runs, and its parameters: types, defaults, and what larger scales change."""
        values = self.model.model_construct().model_dump(mode="json")
        return {
            "id": self.id, "study": self.study, "about": self.about,
            "parameters": {
                name: {
                    "type": type_text(info.annotation), "default": values[name],
                    "scales": {
                        scale: changes[name] for scale, changes in self.scales.items()
                        if name in changes}}
                for name, info in self.model.model_fields.items()}}

    def parameters(
        self, scale: str = "quick", changes: Mapping[str, Any] | None = None
    ) -> BaseModel:
        """The validated parameters at `scale`, with `changes` on top."""
        if scale not in SCALES:
            raise unknown("scale", scale, SCALES)
        made = validated(self.model, {**self.scales.get(scale, {}), **(changes or {})}, self.id)
        for name in self.model.model_fields:
            check_size(name, getattr(made, name))
        return made

    def compute(self, key: Any, parameters: BaseModel) -> "xarray.Dataset":
        return self.function(
            key, **{name: getattr(parameters, name) for name in self.model.model_fields})


def experiment(
    id: str, scales: Mapping[str, Mapping[str, Any]] | None = None,
    finds: Callable[[Any], Iterable[str]] | None = None,
) -> Callable[[Callable], Experiment]:
    """Register a function `f(key, *, name: type = default, ...) -> Dataset` as experiment `id`."""

    def register(function: Callable) -> Experiment:
        given = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        fields: dict[str, Any] = {p.name: (p.annotation, p.default) for p in given}
        model = create_model(id, __config__=ConfigDict(extra="forbid", frozen=True), **fields)
        return Experiment(id, function, model, scales or {}, finds=finds)

    return register


def type_text(annotation: Any) -> str:
    """A type as people write it: int, tuple[float, ...], sphere | manifold."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_text(arguments[0])
    if origin is Literal:
        return " | ".join(map(str, arguments))
    if origin in (Union, UnionType):
        return " | ".join(map(type_text, arguments))
    if annotation is type(None):
        return "none"
    return (
        annotation.__name__ if isinstance(annotation, type) and not arguments else str(annotation))


def validated(model: type[BaseModel], values: Mapping[str, Any], owner: str) -> BaseModel:
    """`model(**values)`, or `InvalidInput` with one sentence about what is wrong first."""
    try:
        return model(**values)
    except ValidationError as error:
        raise InvalidInput(message(error.errors(include_url=False), model, owner)) from None


def check_size(name: str, value: Any) -> None:
    """Refuse whole numbers that no array and no loop could follow, and counts below 0: alone, in
    lists, and in the fields of cases."""
    if isinstance(value, tuple | list):
        names = getattr(value, "_fields", [name] * len(value))
        for field_name, one in zip(names, value):
            check_size(field_name, one)
    elif isinstance(value, int):
        require(
            abs(value) <= LARGEST_SIZE, name, value,
            f"must be at most {LARGEST_SIZE}: nothing larger can be computed in one piece")
    if isinstance(value, int | float) and name in COUNTS:
        require(value >= 0, name, value, "must not be below 0")


def check_seed(seed: Any, name: str = "seed") -> int:
    """A whole number from 0 to 2^63 - 1, NumPy's too; other languages and files hold no more."""
    whole = isinstance(seed, Integral) and not isinstance(seed, bool)
    number = int(seed) if whole else -1
    require(
        0 <= number <= LARGEST_SEED, name, seed, f"must be a whole number from 0 to {LARGEST_SEED}")
    return number


def number_for(label: str, repetition: int, seed: int) -> int:
    """The 63 bits behind a random key: the same alone, in the full ledger, or on a cluster."""
    digest = hashlib.sha256(f"{label}/{repetition}/{seed}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def key_for(label: str, repetition: int, seed: int) -> Any:
    """The JAX key of (label, repetition, seed)."""
    import jax

    return jax.random.key(number_for(label, repetition, seed))
