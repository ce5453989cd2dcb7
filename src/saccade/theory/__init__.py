"""What the papers predict, each formula with its source and its status."""

import saccade.precision  # noqa: F401  float64 before the first array
