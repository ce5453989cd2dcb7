"""Every learner of the map, one file a kind; what stands at the top of a file is on the map."""

ORDER = ("linear", "lasso", "softmax", "erf", "positional", "two_step", "transformer")
STUDY = "attention-atlas"
