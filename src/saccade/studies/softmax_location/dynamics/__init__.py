"""How parameters move: the exact five-number descent, by tables or integrals; with lambda trained;
and stochastic descent in law."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.softmax_location.theory import Overlaps, Setting

from .descent import Trajectory, exact_step, exact_trajectory, gradient, trajectory
from .starts import FATES, fate, generator, sphere_overlaps
from .step import projected_step
from .tables import Table, moment_table
from .temperature import free_trajectory
from .truth import oracle_risk_at, trained_length, trained_temperature

__all__ = [
    "FATES", "Overlaps", "Setting", "Table", "Trajectory", "exact_step", "exact_trajectory", "fate",
    "free_trajectory", "generator", "gradient", "moment_table", "oracle_risk_at", "projected_step",
    "sphere_overlaps", "trained_length", "trained_temperature", "trajectory"]
