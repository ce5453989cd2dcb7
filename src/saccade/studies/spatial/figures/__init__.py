"""The figures of the spatial study."""

ORDER = ("model", "scaling", "images")
