"""Theory: exact errors, exact populations of the three-scalar model, the cheating attention."""
