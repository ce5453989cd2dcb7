"""Claims on encodings that are fixed or learned and on starts that are not zero, over several D."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.fits import slopes
from saccade.lab.kinds import ABOVE, BELOW, ORDERING
from saccade.studies.group_sparse.claims import answers, claim
from saccade.studies.group_sparse.experiments import learned

_over_groups = partial(
    claim, source="assumptions of Theorem 3.2", status="heuristic", statistic="median",
    experiment=learned.starts_and_encodings, figure="group-sparse/starts")
ENCODINGS = answers(
    "Next checks 2", "Replace the sinusoidal positional encodings with learned or random positional"
    " encodings and measure the degradation")
STARTS = answers(
    "Next checks 1", "Repeat the main experiment with non-zero initialization (e.g., Xavier)")


def behind_sine(run: Run, name: str) -> np.ndarray:
    """Attention of the sine encodings minus that of a setting, run by run at every D."""
    attention = run.data.attention
    return (attention.sel(setting="sine") - attention.sel(setting=name)).values.T
