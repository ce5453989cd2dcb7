"""How (k, v) move: five exact numbers first, d-dimensional runs as their check. The exact maps are
made of the risk and its gradient in `theory`; experiments reach these only through here."""

import saccade.precision  # noqa: F401  float64 before the first array

from ..theory.overlaps import Overlaps, Setting, check_setting
from .beyond import beyond_trajectory, four_coordinates
from .chance import manifold_overlaps, manifold_vectors, sphere_overlaps, sphere_vectors
from .full import full_step, full_trajectory, normalised, overlaps_of
from .outcomes import FATES, OUTCOMES, advice, classify, end_states, fate, stability_ratio
from .recording import Trajectory
from .reduced import manifold_step, manifold_trajectory, overlap_step, overlap_trajectory
from .stochastic import stochastic_trajectory_brute, stochastic_trajectory_in_law
