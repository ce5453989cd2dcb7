"""The figures of single-location regression."""

from saccade.figures.single_location import descent, landscape

FIGURES = (
    landscape.FIGURE_1B,
    landscape.FIGURE_3,
    descent.FIGURE_4A,
    descent.FIGURE_4B,
    descent.FIGURE_5,
    landscape.FIGURE_6,
    descent.FIGURE_7A,
    descent.FIGURE_7B,
    landscape.BASINS,
    landscape.OUTCOMES,
)
