"""Random numbers of any shape from a handful of compiled programs.

JAX makes the i-th number of a draw from the key and from i alone (its partitionable Threefry, the
default), so a shorter draw is the beginning of a longer one. Outside a trace a draw is therefore
made in the next of a few lengths and cut: compiling a generator costs more than drawing a million
numbers. Inside a trace it is the ordinary draw. Both give the same numbers; a test holds them to
it.
"""

import math
from functools import partial

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Key

import saccade.precision  # noqa: F401  float64 before the first array

LAWS = {
    "normal": jax.random.normal, "uniform": jax.random.uniform, "rademacher": jax.random.rademacher}
LENGTHS = (2**10, 2**14, 2**18, 2**20)
"""What is drawn at a time, or multiples of the last."""
MOST_KEYS = 4

Keys = Key[Array, "*batch"]


def is_traced(*values) -> bool:
    """Whether any of them is known only inside a program that is being compiled."""
    return any(isinstance(value, Tracer) for value in values)


def draw(law: str, keys: Keys, shape: tuple[int, ...], dtype):
    """Numbers of a law: `shape` for a key, or for each of several keys, whose axes come first."""
    if is_traced(keys):
        return LAWS[law](keys, shape, dtype)
    size = math.prod(shape)
    # many keys have many numbers already, of which a longer draw would waste as many times more
    length = size if keys.ndim else _rounded_up(size)
    return np.asarray(_numbers(law, keys, length, dtype))[..., :size].reshape((*keys.shape, *shape))


def split(keys: Keys, number: int) -> list[Keys]:
    """`number` new keys, at most MOST_KEYS, from a key, or as many from each of several; the first
    of more are these, as with numbers."""
    if is_traced(keys):
        return list(jax.random.split(keys, number))
    return _split(keys)[:number]


def _rounded_up(size: int) -> int:
    enough = [length for length in LENGTHS if length >= size]
    return enough[0] if enough else -(-size // LENGTHS[-1]) * LENGTHS[-1]


@partial(jax.jit, static_argnames=("law", "size", "dtype"))
def _numbers(law: str, keys: Keys, size: int, dtype):
    def flat(key):
        return LAWS[law](key, (size,), dtype)

    return (
        flat(keys) if keys.ndim == 0
        else jax.lax.map(flat, keys.reshape(-1)).reshape(*keys.shape, size))


@jax.jit
def _split(keys: Keys) -> list[Keys]:
    new = jax.vmap(lambda key: jax.random.split(key, MOST_KEYS))(keys.reshape(-1))
    return [new[:, place].reshape(keys.shape) for place in range(MOST_KEYS)]
