"""The calculators of sparse recovery: the LASSO and its iterations, unrolled algorithms, the
constructed transformer, the certificate."""

ORDER = ("solving", "networks")
