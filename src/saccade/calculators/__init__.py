"""Predictions and elementary steps by name, one file per study."""
