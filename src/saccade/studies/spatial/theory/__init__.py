"""Theory of the spatial study: exact errors, exact populations of the three-scalar model, the
cheating attention."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.spatial.theory.cheat import Cheat, cheat
from saccade.studies.spatial.theory.errors import (
    LinearError,
    label_error,
    linear_error,
    signal_sum_law,
)
from saccade.studies.spatial.theory.events import Drive, early_drive
from saccade.studies.spatial.theory.population import (
    Population,
    entries,
    error_of,
    loss,
    outputs,
    population,
    terms,
)
from saccade.studies.spatial.theory.setting import (
    MOST_PATCHES,
    Scalars,
    Setting,
    Weights,
    attention_weights,
    check_activation,
    check_setting,
    mixing,
)
from saccade.studies.spatial.theory.states import (
    States,
    exponents,
    listed_states,
    population_states,
    thinned,
)

__all__ = [
    "MOST_PATCHES", "Cheat", "Drive", "LinearError", "Population", "Scalars", "Setting", "States",
    "Weights", "attention_weights", "cheat", "check_activation", "check_setting", "early_drive",
    "entries", "error_of", "exponents", "label_error", "linear_error", "listed_states", "loss",
    "mixing", "outputs", "population", "population_states", "signal_sum_law", "terms", "thinned"]
