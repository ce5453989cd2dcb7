"""Softmax attention in single-location regression, exactly; `study.py` says what it asks, `page.md`
tells it in words."""
