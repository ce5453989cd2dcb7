"""What the group-sparse paper predicts, and what follows from it; each says its status."""

import saccade.precision  # noqa: F401  float64 before the first array
