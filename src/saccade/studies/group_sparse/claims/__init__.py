"""The claims of group-sparse classification, in the order of the paper."""

ORDER = ("reduction", "concentration", "departures", "structure", "transfer", "finding")
