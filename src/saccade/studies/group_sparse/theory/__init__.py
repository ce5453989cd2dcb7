"""What the group-sparse paper predicts, and what follows from it exactly; each result carries its
status and quadrature accuracy."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.group_sparse.theory.half_normal import (
    KAPPA,
    half_normal_loss,
    half_normal_slope,
)
from saccade.studies.group_sparse.theory.late_laws import LateLaws, late_laws, time_to_loss
from saccade.studies.group_sparse.theory.position import (
    PositionLoss,
    population_forces,
    population_loss,
    position_loss,
)
from saccade.studies.group_sparse.theory.reduction import (
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
from saccade.studies.group_sparse.theory.selection_error import SelectionError, selection_error
from saccade.studies.group_sparse.theory.stability import (
    StabilityRule,
    StepSizeWarning,
    default_step_size,
    stability_rule,
    transverse_curvature,
    transverse_limit,
    uniform_attention_limit,
    warn_if_unstable,
)
from saccade.studies.group_sparse.theory.transfer_bound import TransferBound, transfer_bound
from saccade.studies.group_sparse.theory.two_steps import TwoSteps, two_steps

__all__ = [
    "COORDINATES", "KAPPA", "Gaps", "LateLaws", "PositionLoss", "SelectionError", "StabilityRule",
    "StepSizeWarning", "TransferBound", "TwoSteps", "coordinates_from_gaps", "default_step_size",
    "feature_matrix", "gaps", "half_normal_loss", "half_normal_slope", "late_laws",
    "lemma_direction", "population_forces", "population_loss", "position_loss", "position_matrix",
    "position_scores", "preconditioner", "selection_error", "stability_rule", "time_to_loss",
    "transfer_bound", "transverse_curvature", "transverse_limit", "two_steps",
    "uniform_attention_limit", "warn_if_unstable"]
