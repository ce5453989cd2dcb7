"""How the group-sparse layer learns: exact maps first, the full-dimensional layer as their check,
online SGD for transfer.

position_map   two numbers, W11 frozen at 0, deterministic (quadrature); how its runs end
reduced_map    six free numbers, the full layer, graded nodes and antithetic pairs (Monte Carlo)
full           every weight, fresh batches or a fixed sample, any encoding, start and variant
transfer       online SGD from learned attention, and logistic regression on the same stream
"""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.group_sparse.theory.stability import StepSizeWarning
