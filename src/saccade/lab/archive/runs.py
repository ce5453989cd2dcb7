"""The runs in a store, one by one: find them by experiment, status or the beginning of their name,
verify every checksum, copy what another store has, remove what killed writers left."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from saccade.errors import InvalidInput, shown
from saccade.lab import backend
from saccade.lab.layout import DAMAGE, FAILED, RECORD, RUN_NAME, decode
from saccade.lab.store import Store

DAMAGED = "damaged"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
STALE = 3600.0  # seconds; a writer that still works touches its files more often


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


class Checked(NamedTuple):
    """`damaged` says what is wrong with which run; `strange` lists what no store has put there;
    `leftovers` are counted by what `clean` would do with them."""

    good: int
    damaged: dict[str, str]
    strange: list[str]
    leftovers: dict[str, int]


def check(store: Store) -> Checked:
    """Verify every file of every run; changes nothing."""
    damaged: dict[str, str] = {}
    good = 0
    for name in sorted(store.names()):
        try:
            store.contents(name)
            good += 1
        except DAMAGE as problem:
            damaged[name] = printable(problem)
    strange = sorted(printable(name) for name in store.backend.strange())
    fates = [fate(leftover) for leftover in store.backend.leftovers()]
    return Checked(good, damaged, strange, {word: fates.count(word) for word in FATES})


class Merged(NamedTuple):
    """Runs copied, runs that were there, conflicts (same name, other numbers: the destination's
    stays), and runs not copied for damage."""

    copied: int
    present: int
    conflicts: list[str]
    damaged: dict[str, str]


def merge(source: Store, into: Store) -> Merged:
    """Copy every verified run that `into` lacks; a failure only where there is no result."""
    into.check_writable()
    copied, present, conflicts, damaged = 0, 0, [], {}
    for name in sorted(source.names()):
        assert RUN_NAME.fullmatch(name)  # only such names become paths, and nothing else is listed
        try:
            files = _files(source, name)
        except DAMAGE as problem:
            damaged[name] = printable(problem)
            continue
        if not into.backend.has(name) and not into.backend.has(name.removesuffix(FAILED)):
            into.put(name, files, durable=False)
            copied += 1
        else:
            present += 1
            if into.backend.has(name) and not _same(source, into, name):
                conflicts.append(name)
        if not name.endswith(FAILED):
            into.remove(name + FAILED)
    into.flush()
    return Merged(copied, present, conflicts, damaged)


def _files(store: Store, name: str) -> dict[str, bytes]:
    """The files of a run, the very bytes that were verified; the record last."""
    files: dict[str, bytes] = {}

    def read(file: str) -> bytes:
        files[file] = store.backend.read(name, file)
        return files[file]

    decode(name, read)
    return {file: files[file] for file in sorted(files, key=lambda file: file == RECORD)}


def _same(source: Store, into: Store, name: str) -> bool:
    """Whether two runs hold the same numbers (the seconds they took may differ)."""
    try:
        arrays = [
            {key: entry["sha256"] for key, entry in store.record(name)["arrays"].items()}
            for store in (source, into)]
    except DAMAGE:
        return False
    return arrays[0] == arrays[1]


REMOVED, IN_USE, SET_ASIDE = FATES = ("removed", "perhaps in use", "set aside")


def fate(leftover: backend.Leftover, older_than: float = STALE, damaged: bool = False) -> str:
    """What `clean` does with a leftover: a damaged run that was set aside goes only if asked for, a
    temporary if nobody can be at work on it any more.

    A clock that was set back makes files of the future: they have no age, and go only when
    everything may go."""
    if leftover.name.startswith(backend.DAMAGED) and not damaged:
        return SET_ASIDE
    return REMOVED if leftover.age >= older_than or older_than <= 0 else IN_USE


class Cleaned(NamedTuple):
    """Names of what was removed, and of what was left, with the reason."""

    removed: list[str]
    kept: dict[str, str]


def clean(store: Store, older_than: float = STALE, damaged: bool = False) -> Cleaned:
    """Remove temporaries untouched for `older_than` seconds; damaged runs only if asked for."""
    removed, kept = [], {}
    for leftover in sorted(store.backend.leftovers()):
        name, word = printable(leftover.name), fate(leftover, older_than, damaged)
        if word == REMOVED:
            store.backend.discard(leftover.name)
            removed.append(name)
        else:
            kept[name] = word
    return Cleaned(removed, kept)
