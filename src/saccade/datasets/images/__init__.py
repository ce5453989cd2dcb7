"""Real images: data sets from packages or local folders, grid shuffling, and how local an encoding
is."""

from saccade.datasets.images.catalogue import how_to_get, is_here, load_images
from saccade.datasets.images.imageset import ImageSet
from saccade.datasets.images.shuffle import shuffle_cells
