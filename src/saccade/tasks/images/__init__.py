"""Real images: data sets from packages or local folders, grid shuffling, augmentation."""

from saccade.tasks.images.shuffle import shuffle_cells

__all__ = ["shuffle_cells"]
