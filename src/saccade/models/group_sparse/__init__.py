"""What looks at groups: positional encodings, the merged-QK transformer with its variants, and the screening baseline."""

from saccade.models.group_sparse.encodings import Encoding, encoding
from saccade.models.group_sparse.explicit import Evaluation, evaluate, evaluate_data
from saccade.models.group_sparse.initial import from_blocks, xavier, zeros
from saccade.models.group_sparse.screening import Screening, screen
from saccade.models.group_sparse.transformer import (
    PAPER_LAYER,
    Architecture,
    Parameters,
    attention_maps,
    logistic_loss,
    output,
    tokens,
)

__all__ = [
    "PAPER_LAYER",
    "Architecture",
    "Encoding",
    "Evaluation",
    "Parameters",
    "Screening",
    "attention_maps",
    "encoding",
    "evaluate",
    "evaluate_data",
    "from_blocks",
    "logistic_loss",
    "output",
    "screen",
    "tokens",
    "xavier",
    "zeros",
]
