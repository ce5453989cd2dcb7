"""What looks at it: predictors that can say where they look."""

import saccade.precision  # noqa: F401  float64 before the first array
