"""In which precision JAX computes a run: double, which is saccade's rule (`saccade/precision.py`),
or single, to see what that would change. What NumPy computes is in double precision either way;
JAX's random numbers are other ones in single precision, not the same ones rounded."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from saccade.errors import unknown

DOUBLE, SINGLE = PRECISIONS = ("float64", "float32")


def check_precision(precision: str) -> None:
    if precision not in PRECISIONS:
        raise unknown("precision", precision, PRECISIONS)


@contextmanager
def computing_in(precision: str) -> Iterator[None]:
    """Inside, JAX computes so. What it has compiled is forgotten at both ends: it would hand
    constants of one precision to programs of the other."""
    if precision == DOUBLE:
        yield
        return
    import jax
    import jax.experimental

    # Older releases have the switch among what is experimental.
    home: Any = jax if hasattr(jax, "enable_x64") else jax.experimental
    try:
        with home.enable_x64(False):
            jax.clear_caches()
            yield
    finally:
        jax.clear_caches()
