"""Look after stores: verify every checksum, copy what another store has, remove what killed writers
left."""

from typing import NamedTuple

from saccade.lab.archive.listing import is_name, printable
from saccade.lab.backend import DAMAGED
from saccade.lab.layout import DAMAGE, FAILED, RECORD, decode
from saccade.lab.store import Store

STALE = 3600.0  # seconds; a writer that still works touches its files more often


class Checked(NamedTuple):
    """`damaged` maps the names of runs to what is wrong with them; `strange` lists what no store
    has put there."""

    good: int
    damaged: dict[str, str]
    strange: list[str]
    leftovers: int


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
    return Checked(good, damaged, strange, sum(1 for _ in store.backend.leftovers()))


class Merged(NamedTuple):
    """Runs copied, runs that were there, conflicts (same name, other numbers: the destination's
    stays), and runs not copied for damage."""

    copied: int
    present: int
    conflicts: list[str]
    damaged: dict[str, str]


def merge(source: Store, into: Store) -> Merged:
    """Copy every verified run that `into` does not have. A failure is copied only where there is no
    result."""
    into.check_writable()
    copied, present, conflicts, damaged = 0, 0, [], {}
    for name in sorted(source.names()):
        assert is_name(name)  # the backend lists nothing else, and only such names become paths
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


class Cleaned(NamedTuple):
    """Names of what was removed, and of what was left because it may still be in use."""

    removed: list[str]
    kept: list[str]


def clean(store: Store, older_than: float = STALE, damaged: bool = False) -> Cleaned:
    """Remove temporaries that nobody has touched for `older_than` seconds; damaged runs that were
    set aside only if asked for."""
    removed, kept = [], []
    for leftover in list(store.backend.leftovers()):
        wanted = damaged or not leftover.name.startswith(DAMAGED)
        # A clock that was set back makes files of the future: they have no age, and go only when
        # everything may go.
        if wanted and (leftover.age >= older_than or older_than <= 0):
            store.backend.discard(leftover.name)
            removed.append(printable(leftover.name))
        else:
            kept.append(printable(leftover.name))
    return Cleaned(sorted(removed), sorted(kept))
