"""Find runs in a store by experiment, status or the beginning of their name."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from saccade.errors import InvalidInput, shown
from saccade.lab.layout import DAMAGE, RUN_NAME
from saccade.lab.store import Store

DAMAGED = "damaged"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Entry(NamedTuple):
    """One run: its name, its record (empty if it cannot be read), and what is wrong with it."""

    name: str
    record: dict[str, Any]
    problem: str = ""

    @property
    def status(self) -> str:
        return DAMAGED if self.problem else str(self.record["status"])

    @property
    def experiment(self) -> str:
        return "" if self.problem else str(self.record["request"]["experiment"])


def entries(store: Store, pattern: str = "*", status: str | None = None) -> Iterator[Entry]:
    """Runs whose experiment matches `pattern` (shell wildcards), in the order of their names."""
    for name in sorted(store.names()):
        entry = entry_of(store, name)
        if (entry.problem or fnmatchcase(entry.experiment, pattern)) and status in (
            None, entry.status,
        ):
            yield entry


def entry_of(store: Store, name: str) -> Entry:
    try:
        return Entry(name, store.record(name))
    except DAMAGE as problem:
        return Entry(name, {}, printable(str(problem)))


def find(store: Store, beginning: str) -> str:
    """The one run whose name begins so."""
    if not re.fullmatch(r"[0-9a-f]{4,32}(\.failed)?", beginning):
        raise InvalidInput(
            f"run = {shown(beginning)} must be the name of a run: four or more of 0-9 and a-f.")
    found = [name for name in store.names() if name.startswith(beginning)]
    if beginning in found or len(found) == 1:
        return beginning if beginning in found else found[0]
    if not found:
        raise InvalidInput(
            f"There is no run that begins with {beginning!r} in the store {store.address!r}.")
    raise InvalidInput(
        f"run = {beginning!r} is the beginning of {len(found)} names; give more of it.")


def printable(text: Any) -> str:
    """Text from a store as a terminal may show it: without control characters."""
    return CONTROL.sub("?", str(text))


def is_name(text: str) -> bool:
    return RUN_NAME.fullmatch(text) is not None
