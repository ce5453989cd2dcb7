"""The LISTA family, the constructed transformer, and how a prompt is written down for a decoder."""

import saccade.precision  # noqa: F401  float64 before the first array
