"""The figures of group-sparse classification."""

ORDER = ("descent", "transfer", "finding")
