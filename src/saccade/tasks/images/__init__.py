"""Real images: data sets from packages or local folders, grid shuffling, augmentation, and how local an encoding is."""

from saccade.tasks.images.catalogue import SOURCES, data_folder, how_to_get, is_here, load_images
from saccade.tasks.images.imageset import ImageSet
from saccade.tasks.images.shuffle import random_permutation, shuffle_cells

__all__ = [
    "SOURCES",
    "ImageSet",
    "data_folder",
    "how_to_get",
    "is_here",
    "load_images",
    "random_permutation",
    "shuffle_cells",
]
