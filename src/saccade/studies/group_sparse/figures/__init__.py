"""The figures of group-sparse classification."""

ORDER = ("descent", "uses", "learning", "unmerged")
