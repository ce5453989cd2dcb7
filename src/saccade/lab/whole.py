"""Files that are there whole or not at all: written to a temporary sibling and renamed. Whatever
goes wrong on the way (a full disk, Ctrl-C, a crash), the older file stays."""

import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from saccade.errors import InvalidInput

TRIES = 20


@contextmanager
def whole(path: str | os.PathLike, what: str = "output") -> Iterator[Path]:
    """A place to write a file or a folder to, which takes that of `path` when the block ends well.

    It has the same ending, for libraries that go by that. Folders above are made. What the system
    says against it is one sentence about `what`. A pipe or a device is written to directly.
    """
    target = Path(os.path.realpath(path))  # a link stays one; what it points to is replaced
    try:
        if target.exists() and not (target.is_file() or target.is_dir()):
            yield target
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.stem[:100]}-{uuid.uuid4().hex[:8]}{target.suffix}")
        with unfinished(part):
            yield part
            _put_in_place(part, target)
    except OSError as problem:
        raise unwritable(path, problem, what) from None


_UNFINISHED: set[Path] = set()


@contextmanager
def unfinished(path: Path) -> Iterator[None]:
    """What stands at `path` at the end of the block is removed, and also if the program is left in
    the middle (`discard_unfinished`)."""
    _UNFINISHED.add(path)
    try:
        yield
    finally:
        _discard(path)
        _UNFINISHED.discard(path)


def discard_unfinished() -> None:
    """For a program that leaves without unwinding."""
    for path in list(_UNFINISHED):
        _discard(path)


def write_whole(path: str | os.PathLike, text: str, what: str = "output") -> None:
    with whole(path, what) as part:
        part.write_text(text, encoding="utf-8")


def unwritable(path: str | os.PathLike, problem: Exception, what: str = "output") -> InvalidInput:
    # HDF5 and Arrow tell long stories around what the system said.
    told = re.search(r"error message = '([^']*)'|Detail: \[errno \d+\] (.*)", str(problem))
    said = (told[1] or told[2]) if told else getattr(problem, "strerror", None)
    reason = said or str(problem)
    return InvalidInput(
        f"{what} = {os.fspath(path)!r} cannot be written ({' '.join(reason.split()).lower()}).")


def _put_in_place(part: Path, target: Path) -> None:
    """Rename; a folder that is there already is moved aside first, and back if that fails."""
    if not part.is_dir():
        _settle(part, target)
        os.replace(part, target)
    elif not target.exists():
        os.rename(part, target)
    else:
        aside = target.with_name(f".{target.stem[:100]}-old-{uuid.uuid4().hex[:8]}")
        os.rename(target, aside)
        try:
            os.rename(part, target)
        except BaseException:
            os.rename(aside, target)
            raise
        _discard(aside)


def _settle(part: Path, target: Path) -> None:
    """On the disk before it has the name, with the rights that the older file had."""
    with open(part, "rb") as handle:
        os.fsync(handle.fileno())
    if target.exists():
        shutil.copymode(target, part)


def _discard(path: Path) -> None:
    if path.is_dir():
        for _ in range(TRIES):  # threads of a library may still be writing into it
            shutil.rmtree(path, ignore_errors=True)
            if not path.exists():
                break
            time.sleep(0.05)
    else:
        with suppress(OSError):  # such as a path below a file, where nothing was ever written
            path.unlink()
