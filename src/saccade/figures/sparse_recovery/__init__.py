"""The figures of sparse recovery."""

from saccade.figures.sparse_recovery import trained

FIGURES = (*trained.FIGURES,)
