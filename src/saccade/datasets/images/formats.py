"""Readers of the usual image formats; none of them unpickles anything. Each names the file that is
missing or damaged."""

import gzip
import json
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from saccade.errors import InvalidInput

CIFAR_SIDE = 32
CIFAR_PIXELS = CIFAR_SIDE * CIFAR_SIDE * 3


def damaged(path: Path, reason: str) -> InvalidInput:
    return InvalidInput(f"The file {str(path)!r} is damaged: {reason}.")


def one_of(folder: Path, names: Sequence[str]) -> Path:
    """The first of `names` that is a file in `folder`."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InvalidInput(f"The folder {str(folder)!r} lacks {' or '.join(names)}.")


def read_png_rows(path: Path) -> np.ndarray:
    """A PNG with one 32 x 32 colour image a row (1024 wide, channels interleaved) as (n, 32, 32,
    3)."""
    from PIL import Image

    limit, Image.MAX_IMAGE_PIXELS = (
        Image.MAX_IMAGE_PIXELS, None)  # ten thousand small images are one very tall one
    try:
        with Image.open(path) as opened:
            rows = np.asarray(opened.convert("RGB") if opened.mode == "RGBA" else opened)
    except (OSError, SyntaxError, ValueError, zlib.error) as problem:
        raise damaged(path, f"it cannot be read as a PNG ({_first_line(problem)})") from None
    finally:
        Image.MAX_IMAGE_PIXELS = limit
    if rows.ndim != 3 or rows.shape[1:] != (CIFAR_SIDE**2, 3):
        raise damaged(path, f"its shape {rows.shape} is not (images, 1024, 3)")
    return rows.reshape(-1, CIFAR_SIDE, CIFAR_SIDE, 3)


def read_json_labels(path: Path) -> np.ndarray:
    """A JSON list of whole numbers."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise damaged(path, f"it cannot be read as JSON ({_first_line(problem)})") from None
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise damaged(path, "it is not a list of whole numbers")
    return np.array(values, dtype=np.int64)


def read_cifar_binary(paths: Sequence[Path], label_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """CIFAR's binary records: `label_bytes` labels (the last one is meant), then 3072 pixels,
    channel by channel."""
    length = label_bytes + CIFAR_PIXELS
    parts = []
    for path in paths:
        raw = _bytes(path)
        if raw.size == 0 or raw.size % length:
            raise damaged(
                path, f"its {raw.size} bytes are not a whole number of records of {length} bytes")
        parts.append(raw.reshape(-1, length))
    records = np.concatenate(parts)
    pixels = records[:, label_bytes:].reshape(-1, 3, CIFAR_SIDE, CIFAR_SIDE).transpose(0, 2, 3, 1)
    return pixels, records[:, label_bytes - 1].astype(np.int64)


def read_idx(path: Path) -> np.ndarray:
    """An IDX file of bytes (the format of MNIST), gzipped or not."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as problem:
        raise damaged(path, f"it cannot be decompressed ({_first_line(problem)})") from None
    if len(raw) < 4 or raw[:3] != b"\0\0\x08" or len(raw) < 4 + 4 * raw[3]:
        raise damaged(path, "it does not begin like an IDX file of bytes")
    shape = tuple(int(size) for size in np.frombuffer(raw, ">u4", raw[3], 4))
    body = np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3])
    if body.size != np.prod(shape):
        raise damaged(path, f"it holds {body.size} bytes where its header says {shape}")
    return body.reshape(shape)


def read_svhn(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """SVHN's cropped digits: a MATLAB file with X (32, 32, 3, n) and y (n, 1), where 10 stands for
    the digit 0."""
    from scipy.io import loadmat

    try:
        held = loadmat(path)
    except Exception as problem:  # scipy raises many kinds on a broken file
        raise damaged(
            path, f"it cannot be read as a MATLAB file ({_first_line(problem)})") from None
    if "X" not in held or "y" not in held or held["X"].ndim != 4:
        raise damaged(path, "it lacks X (32, 32, 3, n) or y")
    return held["X"].transpose(3, 0, 1, 2), held["y"].ravel().astype(np.int64) % 10


def read_image_folder(folder: Path, side: int) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """One subfolder a class, image files inside; each image is scaled and cropped at its middle to
    side x side."""
    from PIL import Image, ImageOps

    classes = tuple(sorted(path.name for path in folder.iterdir() if path.is_dir()))
    endings = {".png", ".jpg", ".jpeg", ".bmp", ".webp", ".ppm"}
    pixels, labels = [], []
    for number, name in enumerate(classes):
        for path in sorted(
            path for path in (folder / name).iterdir() if path.suffix.lower() in endings
        ):
            try:
                with Image.open(path) as opened:
                    fitted = ImageOps.fit(
                        opened.convert("RGB"), (side, side), Image.Resampling.BICUBIC)
            except (OSError, SyntaxError, ValueError) as problem:
                raise damaged(
                    path, f"it cannot be read as an image ({_first_line(problem)})") from None
            pixels.append(np.asarray(fitted))
            labels.append(number)
    if not pixels:
        raise InvalidInput(
            f"The folder {str(folder)!r} holds no images in subfolders, one subfolder a class.")
    return np.stack(pixels), np.array(labels), classes


def _bytes(path: Path) -> np.ndarray:
    try:
        return np.fromfile(path, np.uint8)
    except OSError as problem:
        raise damaged(path, _first_line(problem)) from None


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0].rstrip(".")[:120] or type(problem).__name__
