"""Training on images: a recipe, batches made inside the compiled program, and the answers on test
images."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.spatial.dynamics.images.answers import right_answers
from saccade.studies.spatial.dynamics.images.batches import (
    ImageData,
    augment,
    batches,
    image_data,
    look,
    normalise,
)
from saccade.studies.spatial.dynamics.images.recipe import Recipe, optimiser, smoothed_loss

__all__ = [
    "ImageData", "Recipe", "augment", "batches", "image_data", "look", "normalise", "optimiser",
    "right_answers", "smoothed_loss"]
