"""How parameters move: exact low-dimensional maps first, full-dimensional runs as their check."""

import saccade.precision  # noqa: F401  float64 before the first array
