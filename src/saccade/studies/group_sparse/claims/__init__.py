"""The claims of group-sparse classification, in the order of the paper."""

ORDER = (
    "reduction", "transverse", "concentration", "departures", "structure", "transfer", "slopes",
    "scans", "architectures", "finite", "peers", "images")
