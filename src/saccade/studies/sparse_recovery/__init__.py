"""On the Learn-to-Optimize Capabilities of Transformers in In-Context Sparse Recovery: everything
about this paper; `study.py` says who wrote it and what it asks."""
