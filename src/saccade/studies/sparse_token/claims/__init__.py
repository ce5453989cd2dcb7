"""The claims of the sparse-token study, in the order of the paper."""

ORDER = ("oracle", "steps", "fits", "capacity", "protocol", "planning", "samples")
