"""Attention layers provably solve single-location regression: everything about this paper;
`study.py` says who wrote it and what it asks."""
