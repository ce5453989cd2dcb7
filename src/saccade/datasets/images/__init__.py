"""Real images: data sets from packages or folders, grid shuffling, how local an encoding is."""

from saccade.datasets.images.catalogue import how_to_get, is_here, load_images
from saccade.datasets.images.imageset import ImageSet
from saccade.datasets.images.shuffle import shuffle_cells
