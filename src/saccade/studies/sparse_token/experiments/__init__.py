"""The experiments of the sparse-token study."""

import saccade.precision  # noqa: F401  float64 before the first array

ORDER = ("oracle", "steps", "readouts", "same_tokens", "limits", "training")
