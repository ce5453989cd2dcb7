"""Experiments that only sweeps ask for, apart from the figures: a changed drawing must not make their runs stale."""
