"""The experiments of sparse recovery."""

ORDER = ("construction", "certificates", "solvers", "learned", "questions", "trained")
