"""The figures of sparse recovery."""

from saccade.figures.sparse_recovery import learned, questions, trained

FIGURES = (
    learned.LAYERS,
    learned.LEARNING,
    questions.CERTIFICATE,
    questions.ROWS,
    questions.SHIFT,
    questions.DEPTH,
    questions.STRUCTURE,
    *trained.FIGURES,
)
