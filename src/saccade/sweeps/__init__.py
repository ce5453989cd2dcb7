"""Built-in sweeps, one per study: a phase diagram that the paper does not have, as a TOML file to copy from, with its figure."""
