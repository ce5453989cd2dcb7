"""Vision Transformers provably learn spatial structure: everything about this paper; `study.py`
says who wrote it and what it asks."""
