"""The figures of the sparse-token study."""

from saccade.figures.sparse_token import learning, possible

FIGURES = (
    learning.FIGURE_1,
    learning.ALIGNMENT,
    learning.MAPS,
    possible.ORACLE,
    possible.CAPACITY,
    possible.PHASE,
    learning.LENGTH,
    learning.JOINT,
)
