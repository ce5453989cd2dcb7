"""Vision Transformers provably learn spatial structure (see `study.py`): one folder, one paper."""
