"""The claims of single-location regression, in the order of the paper."""

ORDER = ("language", "data", "risk", "limits", "manifold", "recovery", "states", "modes")
