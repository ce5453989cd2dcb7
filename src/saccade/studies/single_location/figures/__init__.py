"""The figures of single-location regression."""

ORDER = ("landscape", "descent")
