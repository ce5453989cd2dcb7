"""Solving and training for sparse recovery: the LASSO to rounding, one problem or many at once, and
the LISTA family by Adam."""

import saccade.precision  # noqa: F401
from saccade.studies.sparse_recovery.dynamics.active_set import relative_gap, solve_exactly
from saccade.studies.sparse_recovery.dynamics.certified import (
    certificate,
    certified_errors,
    certified_iterates,
)
from saccade.studies.sparse_recovery.dynamics.iterations import METHODS, Iterates, iterates
from saccade.studies.sparse_recovery.dynamics.lasso import Solved, solve_lasso
from saccade.studies.sparse_recovery.dynamics.learning import Recipe, Trained, start_layers, train
from saccade.studies.sparse_recovery.dynamics.tails import Tails, squared_errors, tails

__all__ = [
    "METHODS", "Iterates", "Recipe", "Solved", "Tails", "Trained", "certificate",
    "certified_errors", "certified_iterates", "iterates", "relative_gap", "solve_exactly",
    "solve_lasso", "squared_errors", "start_layers", "tails", "train"]
