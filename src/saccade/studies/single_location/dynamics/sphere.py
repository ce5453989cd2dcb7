"""Descent on the unit sphere: project the gradient on the tangent space, step, normalise. Works on
the last axis."""

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

Point = Float[Array, "*batch dim"]


def tangent(x: Point, g: Point) -> Point:
    """(I - x x^T) g, the part of g along the sphere at the unit vector x."""
    return g - jnp.sum(x * g, axis=-1, keepdims=True) * x


def sphere_step(x: Point, g: Point, step_size: ArrayLike) -> Point:
    """(x - alpha (I - x x^T) g) / its norm. The norm is never below 1 since the step is orthogonal
    to x, so this cannot divide by zero."""
    moved = x - step_size * tangent(x, g)
    return moved / jnp.linalg.norm(moved, axis=-1, keepdims=True)
