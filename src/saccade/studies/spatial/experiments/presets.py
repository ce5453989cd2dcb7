"""Settings of the spatial study that several experiments share. Most were chosen after others had
failed; docs/spatial.md says which."""

from typing import Any

import jax
import numpy as np

from saccade.studies.spatial.task import localised, scattered

# D, C, q, p, nu, beta, alpha0, eta_v, eta_a: three-scalar descents.
ASSOCIATES = (64, 4, 0.25, 3, 1e-4, 1.0, 0.01, 1e-3, 30.0)
THREE_EVENTS = (144, 9, 0.25, 3, 1e-6, 1.5, 1e-3, 1e-4, 300.0)
ANTI = (8, 2, 0.5, 3, 0.01, 0.5, 0.1, 0.01, 1.0)
_NAMES = (
    "patches", "set_size", "spurious_rate", "degree", "slope", "diagonal", "alpha", "eta_v",
    "eta_a")
EVENTS = dict(zip(_NAMES, THREE_EVENTS, strict=True)) | {"steps": 5000, "states": 2000}
UNLEARNS = dict(zip(_NAMES, ANTI, strict=True)) | {"steps": 4000}


def square_labels(key: Any, side: int, block: int, local: bool) -> np.ndarray:
    """Sets of block x block patches of a square image; unless `local`, at randomly permuted
    patches."""
    labels = localised(side, block)
    return labels if local else scattered(jax.random.fold_in(key, 17), labels)
