"""The claims in the order of the paper; the appendix's inequalities and real images last."""

from functools import partial

from saccade.lab.claim import Claim, Scale
from saccade.lab.kinds import ESTIMATE, IDENTITY

ORDER = ("data", "symmetry", "descent", "appendix", "images")
QUICK, TWICE = {"quick": Scale(seconds=2)}, {"quick": Scale(repetitions=2, seconds=4)}
IDENTICAL = partial(Claim, kind=IDENTITY, resolution=1e-12, scales=QUICK)
SAMPLED = partial(Claim, kind=ESTIMATE, statistic="mean", scales=TWICE)
