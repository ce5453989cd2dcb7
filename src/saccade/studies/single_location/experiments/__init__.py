"""The experiments of single-location regression."""

ORDER = ("descent", "closed_forms", "simulation", "sampled", "states", "language")
