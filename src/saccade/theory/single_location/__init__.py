"""What is known in closed form about attention learning a single location (Marion, Berthier, Biau, Boyer; arXiv 2410.01537)."""

from saccade.theory.single_location.overlaps import (
    ORACLE,
    Overlaps,
    Setting,
    check_overlaps,
    check_setting,
    distance_to_manifold,
    gram,
)
from saccade.theory.single_location.risk import (
    manifold_gradient,
    manifold_risk,
    oracle_excess_risk,
    oracle_risk,
    risk,
    risk_gradient,
    spread_manifold_risk,
)

__all__ = [
    "ORACLE",
    "Overlaps",
    "Setting",
    "check_overlaps",
    "check_setting",
    "distance_to_manifold",
    "gram",
    "manifold_gradient",
    "manifold_risk",
    "oracle_excess_risk",
    "oracle_risk",
    "risk",
    "risk_gradient",
    "spread_manifold_risk",
]
