"""The claims of sparse recovery: the construction, its certificate, classical solvers, learned
algorithms, trained decoders."""

ORDER = (
    "construction", "certificate", "solvers", "learned", "questions", "structure", "trained",
    "trained_limits", "trained_structure")
