"""Reading files of data sets: a file that is missing or damaged is named in one sentence."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from saccade.errors import InvalidInput


def one_of(folder: Path, names: Sequence[str]) -> Path:
    """The first of `names` that is a file in `folder`."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InvalidInput(f"The folder {str(folder)!r} lacks {' or '.join(names)}.")


def damaged(path: Path, reason: str) -> InvalidInput:
    return InvalidInput(f"The file {str(path)!r} is damaged: {reason}.")


@contextmanager
def readable(path: Path, verb: str, *problems: type[Exception]) -> Iterator[None]:
    """Says in one sentence that the file cannot be `verb`, with the first line of the problem."""
    try:
        yield
    except problems as problem:
        line = str(problem).strip().partition("\n")[0].rstrip(".")[:120] or type(problem).__name__
        raise damaged(path, f"it cannot be {verb} ({line})") from None


def read_idx(path: Path) -> np.ndarray:
    """An IDX file of bytes (the format of MNIST), gzipped or not."""
    with readable(path, "decompressed", OSError, EOFError, zlib.error):
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if len(raw) < 4 or raw[:3] != b"\0\0\x08" or len(raw) < 4 + 4 * raw[3]:
        raise damaged(path, "it does not begin like an IDX file of bytes")
    shape = tuple(int(size) for size in np.frombuffer(raw, ">u4", raw[3], 4))
    body = np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3])
    if body.size != np.prod(shape):
        raise damaged(path, f"it holds {body.size} bytes where its header says {shape}")
    return body.reshape(shape)
