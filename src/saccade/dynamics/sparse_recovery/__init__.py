"""Solving and training for sparse recovery: the LASSO to rounding, one problem or many at once, and the LISTA family by Adam."""

import saccade.precision  # noqa: F401
from saccade.dynamics.sparse_recovery.active_set import relative_gap, solve_exactly
from saccade.dynamics.sparse_recovery.certified import certified_errors, certified_iterates
from saccade.dynamics.sparse_recovery.iterations import METHODS, Iterates, iterates

__all__ = ["METHODS", "Iterates", "certified_errors", "certified_iterates", "iterates", "relative_gap", "solve_exactly"]
