"""Solving and training for sparse recovery: the LASSO to rounding, one problem or many at once, and
the LISTA family and decoders by Adam."""

import saccade.precision  # noqa: F401
