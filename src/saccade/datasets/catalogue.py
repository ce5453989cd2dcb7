"""All data sets by name, whatever their kind: is it here, how to get it, fetch it, check it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from saccade.datasets import bags, images
from saccade.datasets.bags import catalogue as bag_catalogue
from saccade.datasets.bags import fetching as bag_fetching
from saccade.datasets.images import catalogue as image_catalogue
from saccade.datasets.images import fetching as image_fetching
from saccade.datasets.packages import Say
from saccade.errors import InvalidInput, unknown


class Check(NamedTuple):
    """What reading a set told: the checksums of its parts, the shapes, and both in words."""

    checksums: dict[str, str]
    shapes: dict[str, list[int]]
    known: dict[str, str]
    says: str


class Kind(NamedTuple):
    """One kind of data sets: where its sources are listed, and what can be done with one."""

    name: str
    sources: dict[str, Any]
    place_of: Callable[[str], Path | None]
    how_to_get: Callable[[str], str]
    is_here: Callable[[str], bool]
    fetch: Callable[[str, bool, Say], Path]
    read: Callable[[str, str | None], Check]


def _read_images(name: str, folder: str | None) -> Check:
    halves = {split: images.load_images(name, split, folder) for split in image_catalogue.SPLITS}
    sizes = ", ".join(f"{split} {len(half)}" for split, half in halves.items())
    pixels = " x ".join(map(str, halves["train"].pixels.shape[1:]))
    return Check(
        {split: half.checksum for split, half in halves.items()},
        {split: list(half.pixels.shape) for split, half in halves.items()},
        image_catalogue.source(name).checksums, f"{sizes} images of {pixels}")


def _read_bags(name: str, folder: str | None) -> Check:
    read = bags.load_bags(name, folder)
    tokens, dim = read.tokens.shape
    return Check(
        {"all": read.checksum}, {"tokens": [tokens, dim], "bags": [len(read)]},
        {"all": bag_catalogue.source(name).checksum},
        f"{len(read)} bags, {tokens} tokens of {dim} features, {read.labels.mean():.0%} positive")


KINDS = (
    Kind(
        "images", image_catalogue.SOURCES, image_catalogue.place_of, images.how_to_get,
        images.is_here, image_fetching.fetch, _read_images),
    Kind(
        "bags", bag_catalogue.SOURCES, bag_catalogue.place_of, bags.how_to_get, bags.is_here,
        bag_fetching.fetch, _read_bags))


def kind_of(name: str) -> Kind:
    """The kind of data that `name` is, or a refusal with the nearest name."""
    for kind in KINDS:
        if name in kind.sources:
            return kind
    raise unknown("data set", name, [name for kind in KINDS for name in kind.sources])


def names() -> list[str]:
    return [name for kind in KINDS for name in kind.sources]


def is_here(name: str) -> bool:
    return kind_of(name).is_here(name)


def how_to_get(name: str) -> str:
    return kind_of(name).how_to_get(name)


def described(name: str) -> dict[str, Any]:
    """What `saccade data list` says about a set."""
    kind = kind_of(name)
    source = kind.sources[name]
    built_in = getattr(source, "built_in", False)
    checksums = getattr(source, "checksums", None) or {"all": getattr(source, "checksum", "")}
    return {
        "name": name, "kind": kind.name, "about": source.about, "size": source.size,
        "here": "built in" if built_in else str(kind.place_of(name) or ""), "origin": source.origin,
        "licence": source.licence, "fetchable": source.package is not None,
        "checksums": {part: text for part, text in checksums.items() if text}}


def checked(name: str, folder: str | None = None) -> dict[str, Any]:
    """Counts and checksums; `known` is None where no checksum is on record."""
    try:
        read = kind_of(name).read(name, folder)
    except InvalidInput as problem:
        return {"name": name, "readable": False, "known": None, "says": str(problem)}
    agrees = (read.checksums == read.known) if read.known else None
    judged = {
        True: "these are the data we know", False: "these are NOT the data we know",
        None: "no checksum is on record"}[agrees]
    first = next(iter(read.checksums.values()))
    return {
        "name": name, "readable": True, "known": agrees, "checksums": read.checksums,
        "says": f"{read.says}; {judged} ({first[:12]}).", "shapes": read.shapes}
