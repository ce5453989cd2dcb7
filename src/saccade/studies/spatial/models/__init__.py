"""Models of the spatial study: positional attention with a polynomial activation, its rivals, and
the association metric."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.spatial.models.association import Association, association
from saccade.studies.spatial.models.layer import (
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
    "Association", "Gradients", "activation", "activation_slope", "association",
    "cheating_attention", "generalised_linear", "gradients", "output", "scores",
    "three_value_attention"]
