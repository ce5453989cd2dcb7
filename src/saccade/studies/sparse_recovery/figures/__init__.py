"""The figures of sparse recovery."""

ORDER = ("learned", "questions", "trained")
