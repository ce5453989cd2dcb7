"""How the group-sparse layer learns: exact maps first, the full-dimensional layer as their check,
online SGD for transfer.

position_trajectory   two numbers, W11 frozen at 0, deterministic (quadrature)
reduced_trajectory    six free numbers, the full layer, graded nodes and antithetic pairs (Monte
Carlo) full_trajectory       every weight, fresh batches or a fixed sample, any encoding, start and
variant transfer_attention    online SGD from learned attention, with `transfer_logistic` on the
same stream regime_map            how runs end over (step size, groups)
"""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.group_sparse.dynamics.descent import FullTrajectory, full_run, full_trajectory
from saccade.studies.group_sparse.dynamics.observables import Observables
from saccade.studies.group_sparse.dynamics.position_map import (
    PositionTrajectory,
    position_run,
    position_trajectory,
)
from saccade.studies.group_sparse.dynamics.recording import plan_record
from saccade.studies.group_sparse.dynamics.reduced_gradient import ReducedGradient, reduced_gradient
from saccade.studies.group_sparse.dynamics.reduced_map import (
    ReducedTrajectory,
    reduced_run,
    reduced_trajectory,
)
from saccade.studies.group_sparse.dynamics.regimes import REGIMES, RegimeMap, classify, regime_map
from saccade.studies.group_sparse.dynamics.transfer import (
    TransferRun,
    transfer_attention,
    transfer_logistic,
)
from saccade.studies.group_sparse.dynamics.weights import (
    coordinates_of,
    parameters_of,
    selecting_parameters,
)
from saccade.studies.group_sparse.theory.stability import StepSizeWarning

__all__ = [
    "REGIMES", "FullTrajectory", "Observables", "PositionTrajectory", "ReducedGradient",
    "ReducedTrajectory", "RegimeMap", "StepSizeWarning", "TransferRun", "classify",
    "coordinates_of", "full_run", "full_trajectory", "parameters_of", "plan_record", "position_run",
    "position_trajectory", "reduced_gradient", "reduced_run", "reduced_trajectory", "regime_map",
    "selecting_parameters", "transfer_attention", "transfer_logistic"]
