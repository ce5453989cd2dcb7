"""Real images: data sets from packages or local folders, grid shuffling, augmentation, and how
local an encoding is."""

from saccade.datasets.images.catalogue import SOURCES, data_folder, how_to_get, is_here, load_images
from saccade.datasets.images.imageset import ImageSet
from saccade.datasets.images.shuffle import random_permutation, shuffle_cells

__all__ = [
    "SOURCES", "ImageSet", "data_folder", "how_to_get", "is_here", "load_images",
    "random_permutation", "shuffle_cells"]
