"""What the group-sparse paper predicts, and what follows from it exactly; each result carries its
status and quadrature accuracy."""

import saccade.precision  # noqa: F401  float64 before the first array
