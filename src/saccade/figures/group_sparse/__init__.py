"""The figures of group-sparse classification."""

from saccade.figures.group_sparse import descent, uses

FIGURES = (
    descent.ALIGNMENT,
    descent.ATTENTION,
    descent.LAWS,
    descent.REGIME_MAP,
    descent.BLOCKS,
    uses.TRANSFER,
    uses.FINDING,
    uses.IMAGES,
)
