"""The claims in the order of the paper; the appendix's inequalities and real images last, then what
the code computes beside plain versions of it."""

from functools import partial

from saccade.lab.claim import Citation, Claim, Scale
from saccade.lab.kinds import ESTIMATE, IDENTITY

ORDER = (
    "data", "symmetry", "descent", "scaling", "content", "appendix", "orders", "path_orders",
    "long_paths", "coupling", "images", "shuffle_sizes", "networks", "by_hand", "networks_by_hand",
    "reduced")
QUICK, TWICE = {"quick": Scale(seconds=2)}, {"quick": Scale(repetitions=2, seconds=4)}
IDENTICAL = partial(Claim, kind=IDENTITY, resolution=1e-12, scales=QUICK)
SAMPLED = partial(Claim, kind=ESTIMATE, statistic="mean", scales=TWICE)

OURS = Citation("none: our own statement", "", "ours")
# Quotes are the paper's words; letters that print as pictures are spelled out.
exactly, scaled, proxy, answers = (
    partial(Citation, reading=reading) for reading in ("exact", "scaled", "proxy", "ours"))
TWO_STEPS = "two step sizes for one"
"""What stands in along paths of descent: A takes longer steps than v, the paper's step is one."""
