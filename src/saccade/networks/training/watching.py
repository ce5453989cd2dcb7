"""Who watches a training: a callback for its progress and a folder for its checkpoints, set from
outside by whoever started it.

Experiments are functions of a key and parameters alone; that they are watched, or resumed, does not
change their numbers. So it is not a parameter but a surrounding:

    with watching(progress=print, folder="checkpoints", resume=True):
        run(experiment)
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

Progress = Callable[[str, int, int, float], None]
"""progress(name, step, steps, loss)"""


class Watch(NamedTuple):
    """Whom to tell, where checkpoints go (None: nowhere), and whether to go on from one that is
    there."""

    progress: Progress | None = None
    folder: Path | None = None
    resume: bool = False


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(
    progress: Progress | None = None, folder: str | Path | None = None, resume: bool = False
) -> Iterator[None]:
    """Every training inside reports to `progress` and keeps its checkpoint in `folder` under its
    own name."""
    token = _WATCH.set(Watch(progress, None if folder is None else Path(folder), resume))
    try:
        yield
    finally:
        _WATCH.reset(token)


def current() -> Watch:
    """Who watches now."""
    return _WATCH.get() or Watch()
