"""A set of labelled images in memory, its checksum, and what makes one unfit."""

import hashlib
from dataclasses import dataclass

import numpy as np

from saccade.errors import InvalidInput, require


@dataclass(frozen=True)
class ImageSet:
    """`pixels` (n, height, width, channels) in 0 .. 255, `labels` (n,) in 0 .. len(classes) - 1."""

    pixels: np.ndarray
    labels: np.ndarray
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def first(self, count: int) -> "ImageSet":
        """The first `count` images."""
        rule = f"must lie between 1 and {len(self)}, the number of images there are"
        require(1 <= count <= len(self), "images", count, rule)
        return ImageSet(self.pixels[:count], self.labels[:count], self.classes)

    def of_classes(self, wanted: tuple[int, ...], each: int | None = None) -> "ImageSet":
        """The images of the `wanted` classes in their order, at most `each` of every one."""
        members = {label: np.flatnonzero(self.labels == label)[:each] for label in wanted}
        for label, places in members.items():
            if len(places) < (each or 1):
                raise InvalidInput(
                    f"class = {label} has {len(places)} images here, fewer than the {each or 1}"
                    " asked for.")
        order = np.sort(np.concatenate([*members.values()]))
        return ImageSet(self.pixels[order], self.labels[order], self.classes)

    @property
    def checksum(self) -> str:
        """SHA-256 over the shape and the bytes of the decoded pixels, then the labels as bytes."""
        digest = hashlib.sha256(str(self.pixels.shape).encode())
        digest.update(np.ascontiguousarray(self.pixels).data)
        digest.update(np.ascontiguousarray(self.labels.astype(np.uint8)).data)
        return digest.hexdigest()


def image_set(
    pixels: np.ndarray, labels: np.ndarray, classes: tuple[str, ...], where: str
) -> ImageSet:
    """An `ImageSet`, or a refusal that names the place where something does not fit."""
    if len(pixels) != len(labels):
        raise InvalidInput(f"{where} holds {len(pixels)} images but {len(labels)} labels.")
    if len(pixels) == 0:
        raise InvalidInput(f"{where} holds no image.")
    largest = int(labels.max())
    if int(labels.min()) < 0 or largest >= len(classes):
        raise InvalidInput(f"{where} holds a label {largest}, outside 0 .. {len(classes) - 1}.")
    return ImageSet(np.ascontiguousarray(pixels, dtype=np.uint8), labels.astype(np.int64), classes)
