"""How (k, v) move in single-location regression: five exact numbers first, d-dimensional runs as their check."""

from saccade.dynamics.single_location.brute import stochastic_trajectory_brute
from saccade.dynamics.single_location.full import full_step, full_trajectory, overlaps_of
from saccade.dynamics.single_location.manifold import manifold_step, manifold_trajectory
from saccade.dynamics.single_location.outcomes import (
    FATES,
    OUTCOMES,
    advice,
    classify,
    end_states,
    fate,
    stability_ratio,
)
from saccade.dynamics.single_location.recording import Trajectory
from saccade.dynamics.single_location.reduced import overlap_step, overlap_trajectory
from saccade.dynamics.single_location.starts import (
    manifold_overlaps,
    manifold_vectors,
    sphere_overlaps,
    sphere_vectors,
)
from saccade.dynamics.single_location.stochastic import stochastic_trajectory_in_law
from saccade.theory.single_location import Overlaps, Setting

__all__ = [
    "FATES",
    "OUTCOMES",
    "Overlaps",
    "Setting",
    "Trajectory",
    "advice",
    "classify",
    "end_states",
    "fate",
    "full_step",
    "full_trajectory",
    "manifold_overlaps",
    "manifold_step",
    "manifold_trajectory",
    "manifold_vectors",
    "overlap_step",
    "overlap_trajectory",
    "overlaps_of",
    "sphere_overlaps",
    "sphere_vectors",
    "stability_ratio",
    "stochastic_trajectory_brute",
    "stochastic_trajectory_in_law",
]
