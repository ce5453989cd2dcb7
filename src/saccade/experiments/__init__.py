"""What is run: named functions of parameters and a key that return labelled datasets."""

import saccade.precision  # noqa: F401  float64 before the first array
