"""The tasks of this study on the map: a signal split between place and mark, and images."""

ORDER = ("split", "images")
STUDY = "attention-atlas"
