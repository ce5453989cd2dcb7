"""How the spatial model learns: three scalars on the population, all entries on a sample, and transfer with the attention frozen."""

from saccade.dynamics.spatial.idealised import Path, errors_along, idealised_descent, states_for

__all__ = ["Path", "errors_along", "idealised_descent", "states_for"]
