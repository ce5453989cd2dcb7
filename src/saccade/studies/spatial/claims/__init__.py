"""The claims in the order of the paper; the appendix's inequalities and real images last."""

ORDER = ("data", "symmetry", "descent", "finite", "appendix", "images_checks", "images")
