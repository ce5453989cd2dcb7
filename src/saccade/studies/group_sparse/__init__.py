"""Transformer Learns Optimal Variable Selection in Group-Sparse Classification: everything about
this paper; `study.py` says who wrote it and what it asks."""
