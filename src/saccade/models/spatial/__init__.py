"""Models of the spatial study: positional attention with a polynomial activation, its rivals, and the association metric."""

from saccade.models.spatial.association import Association, association
from saccade.models.spatial.layer import (
    Gradients,
    activation,
    activation_slope,
    cheating_attention,
    generalised_linear,
    gradients,
    output,
    scores,
    three_value_attention,
)

__all__ = [
    "Association", "Gradients", "activation", "activation_slope", "association", "cheating_attention", "generalised_linear",
    "gradients", "output", "scores", "three_value_attention",
]  # fmt: skip
