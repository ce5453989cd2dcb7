"""The figures of the spatial study."""

ORDER = ("pictures", "descent", "images")
