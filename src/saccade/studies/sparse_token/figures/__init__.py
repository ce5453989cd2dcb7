"""The figures of sparse-token classification."""

ORDER = ("trained", "possible", "growing")
