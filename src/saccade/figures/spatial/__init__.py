"""The figures of the spatial study."""

from saccade.figures.spatial import descent, images, images_gaussian, pictures

FIGURES = (
    pictures.FIGURE_1A,
    pictures.FIGURE_1B,
    pictures.FIGURE_3,
    pictures.FIGURE_4,
    pictures.FIGURE_8,
    descent.PORTRAIT,
    descent.EVENTS_FIGURE,
    images_gaussian.COUNTEREXAMPLE,
    *images.FIGURES,
)
