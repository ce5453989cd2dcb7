"""How the group-sparse layer learns."""
