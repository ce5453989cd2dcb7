"""Theory: the exact population of the three-scalar model by states, exact errors, the cheat."""
