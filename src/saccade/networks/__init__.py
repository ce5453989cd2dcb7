"""Deep networks and their training: transformer, convolution, and a reader of BERT encoders."""

import saccade.precision  # noqa: F401  float64 before the first array
