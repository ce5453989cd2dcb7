"""The figures of group-sparse classification."""

from saccade.figures.group_sparse import comparisons, descent, uses

FIGURES = (
    descent.ALIGNMENT,
    descent.ATTENTION,
    descent.LAWS,
    descent.REGIME_MAP,
    descent.BLOCKS,
    uses.TRANSFER,
    comparisons.SLOPES,
    uses.FINDING,
    comparisons.PEERS,
    uses.IMAGES,
)
