"""How the group-sparse layer learns: exact maps first, the full-dimensional layer as their check, online SGD for transfer.

position_trajectory   two numbers, W11 frozen at 0, deterministic (quadrature)
reduced_trajectory    six free numbers, the full layer, graded nodes and antithetic pairs (Monte Carlo)
full_trajectory       every weight, fresh batches or a fixed sample, any encoding, start and variant
transfer_attention    online SGD from learned attention, with `transfer_logistic` on the same stream
regime_map            how runs end over (step size, groups)
"""

from saccade.dynamics.group_sparse.descent import FullTrajectory, full_run, full_trajectory
from saccade.dynamics.group_sparse.observables import Observables
from saccade.dynamics.group_sparse.position_map import PositionTrajectory, position_run, position_trajectory
from saccade.dynamics.group_sparse.recording import plan_record
from saccade.dynamics.group_sparse.reduced_gradient import ReducedGradient, reduced_gradient
from saccade.dynamics.group_sparse.reduced_map import ReducedTrajectory, reduced_run, reduced_trajectory
from saccade.dynamics.group_sparse.regimes import REGIMES, RegimeMap, classify, regime_map
from saccade.dynamics.group_sparse.transfer import TransferRun, transfer_attention, transfer_logistic
from saccade.dynamics.group_sparse.weights import coordinates_of, parameters_of, selecting_parameters
from saccade.theory.group_sparse.stability import StepSizeWarning

__all__ = [
    "REGIMES",
    "FullTrajectory",
    "Observables",
    "PositionTrajectory",
    "ReducedGradient",
    "ReducedTrajectory",
    "RegimeMap",
    "StepSizeWarning",
    "TransferRun",
    "classify",
    "coordinates_of",
    "full_run",
    "full_trajectory",
    "parameters_of",
    "plan_record",
    "position_run",
    "position_trajectory",
    "reduced_gradient",
    "reduced_run",
    "reduced_trajectory",
    "regime_map",
    "selecting_parameters",
    "transfer_attention",
    "transfer_logistic",
]
