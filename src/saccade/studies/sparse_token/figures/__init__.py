"""The figures of the sparse-token study."""

ORDER = ("learning", "possible")
