"""What the world looks like: data distributions with a hidden truth, one file per study."""

import saccade.precision  # noqa: F401  float64 before the first array
