"""Outcomes that an experiment stores as numbers (0, 1, 3) carry their words, as the CF conventions
for netCDF write it: the attributes `flag_values` and `flag_meanings` (words joined by blanks)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from saccade.errors import InvalidInput, shown


def coded(dims: Any, codes: Any, words: Sequence[str]) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """A variable of a dataset whose entry c means words[c]."""
    return dims, np.asarray(codes), flags(words)


def flags(words: Sequence[str]) -> dict[str, Any]:
    """The attributes that say what the numbers 0, 1, ... mean."""
    meanings = " ".join(word.replace(" ", "_") for word in words)
    return {"flag_values": list(range(len(words))), "flag_meanings": meanings}


def in_words(variable: Any) -> Any:
    """The same with its words in place of the numbers: `in_words(data.outcome)`, or of all outcomes
    of a dataset: `in_words(data)`."""
    if not isinstance(getattr(variable, "attrs", None), dict):
        raise InvalidInput(f"variable = {shown(variable)} must be an outcome of a run, or a run.")
    if hasattr(variable, "data_vars"):
        names = [name for name, one in variable.items() if "flag_meanings" in one.attrs]
        if not names:
            raise InvalidInput("The dataset has no words: it holds no outcome by number.")
        return variable.assign({name: in_words(variable[name]) for name in names})
    if "flag_meanings" not in variable.attrs:
        raise InvalidInput(f"{variable.name} = ... has no words: it is not an outcome by number.")
    known = dict(zip(variable.attrs["flag_values"], variable.attrs["flag_meanings"].split()))
    words = [known.get(code, "") for code in variable.values.ravel().tolist()]
    return variable.copy(data=np.array(words, dtype=str).reshape(variable.shape)).drop_attrs()
