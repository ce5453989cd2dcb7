"""What the group-sparse paper predicts, and what follows from it exactly; each result carries its status and quadrature accuracy."""

from saccade.theory.group_sparse.half_normal import KAPPA, half_normal_loss, half_normal_slope
from saccade.theory.group_sparse.late_laws import LateLaws, late_laws, time_to_loss
from saccade.theory.group_sparse.position import PositionLoss, population_forces, population_loss, position_loss
from saccade.theory.group_sparse.reduction import (
    COORDINATES,
    Gaps,
    coordinates_from_gaps,
    feature_matrix,
    gaps,
    lemma_direction,
    position_matrix,
    position_scores,
    preconditioner,
)
from saccade.theory.group_sparse.selection_error import SelectionError, selection_error
from saccade.theory.group_sparse.stability import (
    StabilityRule,
    StepSizeWarning,
    default_step_size,
    stability_rule,
    transverse_curvature,
    transverse_limit,
    uniform_attention_limit,
    warn_if_unstable,
)
from saccade.theory.group_sparse.transfer_bound import TransferBound, transfer_bound
from saccade.theory.group_sparse.two_steps import TwoSteps, two_steps

__all__ = [
    "COORDINATES",
    "KAPPA",
    "Gaps",
    "LateLaws",
    "PositionLoss",
    "SelectionError",
    "StabilityRule",
    "StepSizeWarning",
    "TransferBound",
    "TwoSteps",
    "coordinates_from_gaps",
    "default_step_size",
    "feature_matrix",
    "gaps",
    "half_normal_loss",
    "half_normal_slope",
    "late_laws",
    "lemma_direction",
    "population_forces",
    "population_loss",
    "position_loss",
    "position_matrix",
    "position_scores",
    "preconditioner",
    "selection_error",
    "stability_rule",
    "time_to_loss",
    "transfer_bound",
    "transverse_curvature",
    "transverse_limit",
    "two_steps",
    "uniform_attention_limit",
    "warn_if_unstable",
]
