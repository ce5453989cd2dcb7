"""The experiments of sparse recovery."""

import saccade.precision  # noqa: F401  float64 before the first array

ORDER = ("construction", "certificates", "solvers", "learned", "questions", "trained")
