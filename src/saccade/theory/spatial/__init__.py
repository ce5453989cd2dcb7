"""Theory of the spatial study: exact errors, exact populations of the three-scalar model, the cheating attention."""

from saccade.theory.spatial.cheat import Cheat, cheat
from saccade.theory.spatial.errors import LinearError, label_error, linear_error, signal_sum_law
from saccade.theory.spatial.events import Drive, early_drive
from saccade.theory.spatial.population import Population, entries, error_of, loss, outputs, population, terms
from saccade.theory.spatial.setting import (
    MOST_PATCHES,
    Scalars,
    Setting,
    Weights,
    attention_weights,
    check_activation,
    check_setting,
    mixing,
)
from saccade.theory.spatial.states import States, exponents, listed_states, population_states, thinned

__all__ = [
    "MOST_PATCHES", "Cheat", "Drive", "LinearError", "Population", "Scalars", "Setting", "States", "Weights", "attention_weights", "cheat",
    "check_activation",
    "check_setting", "early_drive", "entries", "error_of", "exponents", "label_error", "linear_error",
    "listed_states", "loss", "mixing", "outputs", "population",
    "population_states", "signal_sum_law", "terms", "thinned",
]  # fmt: skip
