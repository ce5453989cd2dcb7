"""What looks at groups: positional encodings, the merged-QK transformer with its variants, and the
screening baseline."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.group_sparse.models.encodings import Encoding, encoding
from saccade.studies.group_sparse.models.explicit import Evaluation, evaluate, evaluate_data
from saccade.studies.group_sparse.models.initial import from_blocks, xavier, zeros
from saccade.studies.group_sparse.models.screening import Screening, screen
from saccade.studies.group_sparse.models.transformer import (
    PAPER_LAYER,
    Architecture,
    Parameters,
    attention_maps,
    logistic_loss,
    output,
    tokens,
)

__all__ = [
    "PAPER_LAYER", "Architecture", "Encoding", "Evaluation", "Parameters", "Screening",
    "attention_maps", "encoding", "evaluate", "evaluate_data", "from_blocks", "logistic_loss",
    "output", "screen", "tokens", "xavier", "zeros"]
