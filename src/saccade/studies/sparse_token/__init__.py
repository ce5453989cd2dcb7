"""High-Dimensional Analysis of Single-Layer Attention for Sparse-Token Classification: everything
about this paper; `study.py` says who wrote it and what it asks."""
