"""Calculators over arrays: where an input is one number (or word) and an array of NumPy or JAX is
given, the calculator is evaluated at each of its entries, and arrays come back.

    calc("single-location.risk", inverse_temperature=np.linspace(0.1, 1, 50), ...)["risk"]

Several such inputs are broadcast against each other as NumPy does. An input that is an array by
nature (a matrix, a list of steps) is taken whole. Lists are not arrays: in Python they are refused
where one number is asked for; the command line, which knows no arrays, makes arrays of them.
"""

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel

from saccade.errors import InvalidInput, require, shown
from saccade.lab.telling import Telling

SINGLE = (int, float, str, bool, type(None))


def arrays_for_numbers(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The values that are arrays where the model asks for one number."""
    found = {
        name: value for name, value in values.items() if name in model.model_fields
        and getattr(value, "ndim", 0) > 0 and is_single(model.model_fields[name].annotation)}
    for name, value in found.items():
        require(
            not np.ma.is_masked(value), name, value,
            "must have no masked entries: leave them out, or fill them")
    return {name: np.asarray(value) for name, value in found.items()}


def lists_as_arrays(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, with arrays in place of lists where the model asks for one number."""
    fields = model.model_fields
    return {
        name: _array(name, value)
        if isinstance(value, list) and name in fields and is_single(fields[name].annotation)
        else value for name, value in values.items()}


def _array(name: str, value: list[Any]) -> np.ndarray:
    """It keeps what it holds: NumPy would make one kind of numbers, words and truth values."""
    array = np.array(value, dtype=object)
    if any(isinstance(entry, list) for entry in array.flat):
        raise InvalidInput(
            f"{name} = {shown(value)} must be one value, or lists of values of equal lengths.")
    return array


def is_single(annotation: Any) -> bool:
    """Whether a field holds one number or word: no list, no array, no group of values."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return is_single(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return all(is_single(item) for item in typing.get_args(annotation))
    return origin is typing.Literal or annotation in SINGLE


def over(
    arrays: Mapping[str, np.ndarray], answer: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """What `answer` gives for the entries of `arrays`, broadcast, as arrays of their shape."""
    try:
        together = np.broadcast_arrays(*arrays.values())
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InvalidInput(f"The arrays do not fit together: {shapes}.") from None
    shape = together[0].shape
    if not together[0].size:
        raise InvalidInput(f"{next(iter(arrays))} = [] must have at least one entry.")
    columns = [array.ravel().tolist() for array in together]
    answers = []
    with Telling("saccade.calc", together[0].size) as telling:
        for entry in zip(*columns):
            answers.append(answer(dict(zip(arrays, entry))))
            telling(1, f"{len(answers)} of {together[0].size} entries")
    return _joined(answers, shape)


def _joined(answers: Sequence[Mapping[str, Any]], shape: tuple[int, ...]) -> dict[str, Any]:
    """Answers of the same form as one, each of whose values is an array."""
    joined: dict[str, Any] = {}
    for name, first in answers[0].items():
        values = [answer[name] for answer in answers]
        if isinstance(first, Mapping):
            joined[name] = _joined(values, shape)
            continue
        try:
            array = np.asarray([np.nan if value is None else value for value in values])
        except ValueError:  # lists whose lengths depend on the entry
            array = np.empty(len(values), object)
            array[:] = values
        joined[name] = array.reshape(*shape, *array.shape[1:])
    return joined
