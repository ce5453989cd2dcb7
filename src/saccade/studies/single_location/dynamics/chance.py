"""Random numbers the reduced engines need: chi-squares with any degrees of freedom, and 2x2 Wishart
matrices."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Key

Numbers = Float[Array, "..."]
TINY = 1e-150  # under a division whose numerator vanishes as well


def chi_square(key: Key[Array, ""], degrees: ArrayLike, shape: tuple[int, ...]) -> Numbers:
    """Chi-square numbers with any real number of degrees of freedom from 1 on, and zero when there
    are none left. Exact.

    Marsaglia and Tsang's rejection for the gamma law of shape a = degrees/2: d (1 + c x)^3 with d =
    a - 1/3, c = 1/sqrt(9 d), x normal, is kept with the odds of its exact density. All numbers are
    drawn together until none is refused, which is cheaper inside a loop than one rejection loop per
    number. Shapes below 1 are drawn at a + 1 and scaled by U^(1/a).
    """
    degrees = jnp.broadcast_to(jnp.asarray(degrees, float), shape)
    wanted = jnp.maximum(degrees, 1.0) / 2
    boosted = wanted < 1
    d = wanted + boosted - 1 / 3
    c = 1 / jnp.sqrt(9 * d)
    loop_key, boost_key = jax.random.split(key)

    def draw_again(state):
        key, value, refused = state
        key, normal_key, odds_key = jax.random.split(key, 3)
        x = jax.random.normal(normal_key, shape)
        cube = jnp.maximum(1 + c * x, 0.0) ** 3
        odds = x**2 / 2 + d * (1 - cube + jnp.log(cube))
        fine = jnp.log1p(-jax.random.uniform(odds_key, shape)) < odds
        return key, jnp.where(refused & fine, d * cube, value), refused & ~fine

    start = (loop_key, jnp.zeros(shape), jnp.ones(shape, bool))
    _, value, _ = jax.lax.while_loop(lambda state: jnp.any(state[2]), draw_again, start)
    shrink = (1 - jax.random.uniform(boost_key, shape)) ** (1 / wanted)
    return jnp.where(degrees > 0, 2 * value * jnp.where(boosted, shrink, 1.0), 0.0)


class Root(NamedTuple):
    """The lower triangular root [[a, 0], [b, c]] of a 2x2 covariance."""

    a: Numbers
    b: Numbers
    c: Numbers


def square_root(first: Numbers, second: Numbers, product: Numbers) -> Root:
    """Root of [[first, product], [product, second]]; roundings cannot make it imaginary, and zeros
    are fine."""
    a, room = jnp.sqrt(first), jnp.sqrt(second)
    b = jnp.clip(product / jnp.maximum(a, TINY), -room, room)
    return Root(a, b, jnp.sqrt(jnp.maximum(second - b**2, 0.0)))


def wishart(
    key: Key[Array, ""], root: Root, normal: Numbers, degrees: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """(W11, W22, W12) of a Wishart matrix with scale root root^T, by Bartlett's triangular factor;
    `normal` is its normal.

    Any degrees of freedom from 0 on: with one the matrix has rank one, with none it is zero. Exact.
    """
    both = jnp.stack(
        jnp.broadcast_arrays(degrees + jnp.zeros_like(normal), degrees - 1 + jnp.zeros_like(normal))
    )
    first, second = chi_square(key, both, both.shape)
    length = jnp.sqrt(first)
    mixed = root.b * length + root.c * jnp.where(degrees > 0, normal, 0.0)
    return root.a**2 * first, mixed**2 + root.c**2 * second, root.a * length * mixed
