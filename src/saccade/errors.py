"""What saccade says when it is asked for something it cannot do: one sentence, naming the parameter, the value and the range."""

from difflib import get_close_matches
from typing import Iterable


class InvalidInput(ValueError):
    """Input refused at the door. The text is one sentence that names the parameter, its value and the allowed range."""


class Diverged(ArithmeticError):
    """A computation left the finite numbers. The text says where and what to change."""


def require(condition: bool, name: str, value: object, rule: str) -> None:
    """Raise `InvalidInput("name = value rule.")` unless `condition` holds, e.g. `require(gamma > 0, "gamma", gamma, "must be above 0")`."""
    if not condition:
        raise InvalidInput(f"{name} = {value!r} {rule}.")


def unknown(kind: str, name: str, known: Iterable[str]) -> InvalidInput:
    """The refusal of an unknown name, with the nearest known one when there is any."""
    known = sorted(known)
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(known) or 'none'}."
    return InvalidInput(f"There is no {kind} named {name!r}; {hint}")
