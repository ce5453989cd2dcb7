"""Solving and training for sparse recovery: the LASSO to rounding, one problem or many at once, and the LISTA family by Adam."""

import saccade.precision  # noqa: F401
from saccade.dynamics.sparse_recovery.active_set import relative_gap, solve_exactly
from saccade.dynamics.sparse_recovery.certified import certificate, certified_errors, certified_iterates
from saccade.dynamics.sparse_recovery.iterations import METHODS, Iterates, iterates
from saccade.dynamics.sparse_recovery.lasso import Solved, solve_lasso
from saccade.dynamics.sparse_recovery.learning import Recipe, Trained, start_layers, train
from saccade.dynamics.sparse_recovery.tails import Tails, squared_errors, tails

__all__ = [
    "METHODS", "Iterates", "Recipe", "Solved", "Tails", "Trained", "certificate", "certified_errors", "certified_iterates", "iterates",
    "relative_gap", "solve_exactly", "solve_lasso", "squared_errors", "start_layers", "tails", "train",
]  # fmt: skip
