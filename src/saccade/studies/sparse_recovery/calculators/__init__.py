"""The calculators of sparse recovery: solving the LASSO, and networks layer by layer."""

ORDER = ("solving", "networks")
