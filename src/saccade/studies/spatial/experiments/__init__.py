"""The experiments of the spatial study."""

import saccade.precision  # noqa: F401  float64 before the first array

ORDER = (
    "sampling", "symmetry", "idealised", "realistic", "scaling", "content", "inequalities",
    "orders", "coupling", "images", "images_checks", "small_networks", "by_hand",
    "training_by_hand")
