"""Formulas that work on NumPy's and on JAX's numbers: NumPy's are evaluated at once.

A formula evaluated outside a compiled function costs JAX one small program for each operation and
shape: 20 to 30 ms each from nothing, hundreds of them in a ledger. NumPy needs none. Inside a
compiled function, under vmap or grad the numbers are JAX's, and so is the arithmetic. The same goes
for samples: drawn from a NumPy generator they need no program for every shape.
"""

import math
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
import scipy.special
from jax.core import Tracer

import saccade.precision  # noqa: F401  float64 before the first array

Array: TypeAlias = Any
"""An array of NumPy or of JAX, in the annotations of what takes either."""
FEW = 256  # the smallest number of normals drawn at once


def namespace(*values: Any) -> Any:
    """`jax.numpy` if one of the values is an array of JAX, traced or not; else `numpy`."""
    return jnp if any(isinstance(value, jax.Array) for value in values) else np


def floats(*values: Any) -> list[Any]:
    """All values as arrays of floats, of JAX if one of them is, else of NumPy."""
    library = namespace(*values)
    return [library.asarray(value, float) for value in values]


def generator(key: Any) -> np.random.Generator:
    """NumPy's random numbers of a key of JAX: plain Monte Carlo without a program to compile."""
    return np.random.default_rng(np.asarray(jax.random.key_data(key)).astype(np.uint64).tolist())


def normals(key: Any, shape: tuple[int, ...]) -> Any:
    """`jax.random.normal(key, shape)` in NumPy, by one program for all shapes of about that size: a
    key gives its numbers in one order, so those of a small shape begin those of a large one. Traced
    keys give traced numbers."""
    if isinstance(key, Tracer):
        return jax.random.normal(key, shape)
    size = math.prod(shape)
    room = FEW * 4 ** max(0, math.ceil(math.log(max(size, 1) / FEW, 4)))
    return np.asarray(jax.random.normal(key, (room,)))[:size].reshape(shape)


def drawn_normals(key: Any, shape: tuple[int, ...]) -> Any:
    """Normals of a key, NumPy's: no program for any shape. Traced keys give JAX's, which are
    others."""
    if isinstance(key, Tracer):
        return jax.random.normal(key, shape)
    return generator(key).standard_normal(shape)


def special(*values: Any) -> Any:
    """The module of special functions (erf, erfc, ...) for these values."""
    return jax.scipy.special if namespace(*values) is jnp else scipy.special
