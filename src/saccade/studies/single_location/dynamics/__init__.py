"""How (k, v) move in single-location regression: five exact numbers first, d-dimensional runs as
their check."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.single_location.dynamics.brute import stochastic_trajectory_brute
from saccade.studies.single_location.dynamics.full import full_step, full_trajectory, overlaps_of
from saccade.studies.single_location.dynamics.manifold import manifold_step, manifold_trajectory
from saccade.studies.single_location.dynamics.outcomes import (
    FATES,
    OUTCOMES,
    advice,
    classify,
    end_states,
    fate,
    stability_ratio,
)
from saccade.studies.single_location.dynamics.recording import Trajectory
from saccade.studies.single_location.dynamics.reduced import overlap_step, overlap_trajectory
from saccade.studies.single_location.dynamics.starts import (
    manifold_overlaps,
    manifold_vectors,
    sphere_overlaps,
    sphere_vectors,
)
from saccade.studies.single_location.dynamics.stochastic import stochastic_trajectory_in_law
from saccade.studies.single_location.theory import Overlaps, Setting

__all__ = [
    "FATES", "OUTCOMES", "Overlaps", "Setting", "Trajectory", "advice", "classify", "end_states",
    "fate", "full_step", "full_trajectory", "manifold_overlaps", "manifold_step",
    "manifold_trajectory", "manifold_vectors", "overlap_step", "overlap_trajectory", "overlaps_of",
    "sphere_overlaps", "sphere_vectors", "stability_ratio", "stochastic_trajectory_brute",
    "stochastic_trajectory_in_law"]
