"""Solving the LASSO, one problem or many at once; training the LISTA family and decoders."""

import saccade.precision  # noqa: F401
