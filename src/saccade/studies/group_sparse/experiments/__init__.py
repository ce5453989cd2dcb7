"""The experiments of group-sparse classification."""

import saccade.precision  # noqa: F401  float64 before the first array

ORDER = ("reduction", "maps", "descent", "transfer", "finding", "images")
