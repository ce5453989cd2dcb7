"""How the spatial model learns: three scalars on the population, all entries on a sample, and transfer with the attention frozen."""

from saccade.dynamics.spatial.idealised import Path, errors_along, idealised_descent, states_for
from saccade.dynamics.spatial.realistic import (
    Layer,
    Record,
    cosine,
    entrywise_population_descent,
    random_start,
    realistic_descent,
    error_rate,
)
from saccade.dynamics.spatial.transfer import gradient_at_zero, one_normalised_step, transfer_descent

__all__ = [
    "Layer", "Path", "Record", "cosine", "entrywise_population_descent", "errors_along", "gradient_at_zero", "idealised_descent",
    "one_normalised_step", "random_start", "realistic_descent", "states_for", "error_rate", "transfer_descent",
]  # fmt: skip
