"""How the spatial model learns: three scalars on the population, all entries on a sample, and
transfer with the attention frozen."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.spatial.dynamics.idealised import (
    Field,
    Path,
    Scalars,
    Setting,
    descent_field,
    errors_along,
    few_states,
    idealised_descent,
    states_for,
)
from saccade.studies.spatial.dynamics.realistic import (
    Layer,
    Record,
    cosine,
    entrywise_population_descent,
    error_rate,
    random_start,
    realistic_descent,
)
from saccade.studies.spatial.dynamics.transfer import (
    gradient_at_zero,
    one_normalised_step,
    transfer_descent,
)

__all__ = [
    "Field", "Layer", "Path", "Record", "Scalars", "Setting", "cosine", "descent_field",
    "entrywise_population_descent", "error_rate", "errors_along", "few_states", "gradient_at_zero",
    "idealised_descent", "one_normalised_step", "random_start", "realistic_descent", "states_for",
    "transfer_descent"]
