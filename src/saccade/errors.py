"""What saccade says when it is asked for something it cannot do: one sentence, naming the
parameter, the value and the range."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral, Real

LONGEST_VALUE = 80
MOST_NAMES = 25


class InvalidInput(ValueError):
    """Input that is refused. The text is one sentence that names the parameter, its value and
    the allowed range."""


class Diverged(ArithmeticError):
    """A computation left the finite numbers. The text says where and what to change."""


def require(condition: bool, name: str, value: object, rule: str) -> None:
    """Raise `InvalidInput("name = value rule.")` unless `condition` holds, e.g. `require(gamma > 0,
    "gamma", gamma, "must be above 0")`."""
    if not condition:
        raise InvalidInput(f"{name} = {shown(value)} {rule}.")


def require_word(name: str, value: object, meaning: str) -> None:
    """Raise `InvalidInput` unless `value` is text; `meaning` says which."""
    require(isinstance(value, str), name, value, f"must be a word: {meaning}")


def require_number(name: str, value: object) -> None:
    """Raise `InvalidInput` unless `value` is one real number."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    require(is_number, name, value, "must be a number")


def require_names(name: str, value: object) -> None:
    """Raise `InvalidInput` unless `value` holds values by name, or is nothing."""
    by_name = value is None or isinstance(value, Mapping)
    require(by_name, name, value, 'must hold values by name, as in {"dim": 50}')


def require_whole(name: str, value: object, least: int) -> None:
    """Raise `InvalidInput` unless `value` is a whole number of at least `least`."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    require(whole, name, value, f"must be a whole number of at least {least}")
    require(value >= least, name, value, f"must be at least {least}")  # type: ignore[operator]


def shown(value: object) -> str:
    """A value as a sentence can carry it: on one line, without the type names of array libraries,
    cut when long."""
    if hasattr(value, "tolist"):
        value = value.tolist()  # type: ignore[union-attr]
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python refuses to write out whole numbers of thousands of digits
        text = "a number of thousands of digits"
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def unknown(kind: str, name: str, known: Iterable[str]) -> InvalidInput:
    """The refusal of an unknown name, with the nearest known one when there is any."""
    names = sorted(set(known))
    spoken = {_tail(item).lower(): item for item in reversed(names)} | {
        item.lower(): item for item in names}
    near = get_close_matches(str(name).lower(), spoken, n=1, cutoff=0.4)
    hint = f"did you mean {spoken[near[0]]!r}?" if near else f"known are: {_listed(names)}."
    return InvalidInput(f"There is no {kind} named {shown(name)}; {hint}")


def _tail(name: str) -> str:
    """The name without its study, which people leave out: `single-location/4a` is also meant by
    `4a`."""
    return name.replace("/", ".").split(".", 1)[-1]


def _listed(names: list[str]) -> str:
    """The names, or the first of them when they would fill the screen."""
    more = len(names) - MOST_NAMES
    return (", ".join(names[:MOST_NAMES]) or "none") + (f" and {more} more" if more > 0 else "")
