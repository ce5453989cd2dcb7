"""What looks at groups: the merged-QK transformer with its variants, positional encodings, the
written-out gradients and the screening baseline."""

import saccade.precision  # noqa: F401  float64 before the first array
