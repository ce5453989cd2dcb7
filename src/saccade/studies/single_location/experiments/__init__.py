"""The experiments of single-location regression."""

import saccade.precision  # noqa: F401  float64 before the first array

ORDER = ("descent", "closed_forms", "simulation", "states", "language")
