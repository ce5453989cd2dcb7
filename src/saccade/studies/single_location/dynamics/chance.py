"""Random numbers of the reduced engines: chi-squares and 2x2 Wishart matrices of any degrees, and
where training starts, uniform on the two spheres or on the invariant manifold.

Overlaps are drawn exactly in law from a handful of normals and chi-squares, at a cost free of d.
"""

from collections import namedtuple
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import ArrayLike, Float, Key

from saccade.arrays import Array
from saccade.errors import require
from saccade.studies.single_location.theory import Overlaps

from .full import normalised, tangent
from .recording import Numbers

Vectors = Float[Array, "repetitions dim"]
TINY = 1e-150  # under a division whose numerator vanishes as well


def chi_square(key: Key[Array, ""], degrees: ArrayLike, shape: tuple[int, ...]) -> Numbers:
    """Chi-square numbers of any real degrees of freedom from 1 on, zero where none are left. Exact.

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


Root = namedtuple("Root", "a b c")
"""The lower triangular root [[a, 0], [b, c]] of a 2x2 covariance."""


def square_root(first: Numbers, second: Numbers, product: Numbers) -> Root:
    """Root of [[first, product], [product, second]], real whatever the rounding; zeros are fine."""
    a, room = jnp.sqrt(first), jnp.sqrt(second)
    b = jnp.clip(product / jnp.maximum(a, TINY), -room, room)
    return Root(a, b, jnp.sqrt(jnp.maximum(second - b**2, 0.0)))


def wishart(
    key: Key[Array, ""], root: Root, normal: Numbers, degrees: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """(W11, W22, W12) of a Wishart matrix with scale root root^T, by Bartlett's factor.

    Any degrees of freedom from 0 on: with one the matrix has rank one, with none it is zero. Exact.
    """
    both = jnp.stack(
        jnp.broadcast_arrays(degrees + jnp.zeros_like(normal), degrees - 1 + jnp.zeros_like(normal))
    )
    first, second = chi_square(key, both, both.shape)
    length = jnp.sqrt(first)
    mixed = root.b * length + root.c * jnp.where(degrees > 0, normal, 0.0)
    return root.a**2 * first, mixed**2 + root.c**2 * second, root.a * length * mixed


def sphere_overlaps(key: Key[Array, ""], dim: int, repetitions: int) -> Overlaps:
    """Overlaps of independent k and v uniform on the sphere. Exact in law for every d >= 2.

    In the basis k*, v*, rest of k: k ~ (z1, z2, chi_{d-2}), v ~ (z3, z4, z5, chi_{d-3}) over norms.
    """
    _check(dim, repetitions)
    return _sphere_overlaps(key, dim, repetitions)


@partial(jax.jit, static_argnames="repetitions")
def _sphere_overlaps(key: Key[Array, ""], dim: Array, repetitions: int) -> Overlaps:
    normals_key, k_key, v_key = jax.random.split(key, 3)
    z = (
        jax.random.normal(normals_key, (5, repetitions))
        * jnp.array([1, 1, 1, 1, dim > 2], float)[:, None])
    k_rest = jnp.sqrt(chi_square(k_key, dim - 2, (repetitions,)))
    k = jnp.stack([z[0], z[1], k_rest])
    k = k / jnp.linalg.norm(k, axis=0)
    v_length = jnp.sqrt(jnp.sum(z[2:] ** 2, axis=0) + chi_square(v_key, dim - 3, (repetitions,)))
    v = z[2:] / v_length
    return Overlaps(kappa=k[0], nu=v[1], theta=v[0], eta=k[1], rho=jnp.sum(k * v, axis=0))


def manifold_overlaps(key: Key[Array, ""], dim: int, repetitions: int) -> Overlaps:
    """As `manifold_vectors` in law: kappa = z1/|(z1, chi_{d-2})|, nu = z2/|(z2, chi_{d-3})|."""
    _check(dim, repetitions)
    return _manifold_overlaps(key, dim, repetitions)


@partial(jax.jit, static_argnames="repetitions")
def _manifold_overlaps(key: Key[Array, ""], dim: Array, repetitions: int) -> Overlaps:
    normals_key, k_key, v_key = jax.random.split(key, 3)
    z = jax.random.normal(normals_key, (2, repetitions))
    rest = chi_square(k_key, dim - 2, (repetitions,)), chi_square(v_key, dim - 3, (repetitions,))
    kappa, nu = (z[i] / jnp.sqrt(z[i] ** 2 + rest[i]) for i in (0, 1))
    zero = jnp.zeros(repetitions)
    return Overlaps(kappa, nu, zero, zero, zero)


def sphere_vectors(key: Key[Array, ""], dim: int, repetitions: int) -> tuple[Vectors, Vectors]:
    """Independent k and v, uniform on the sphere."""
    _check(dim, repetitions)
    k, v = normalised(np.asarray(jax.random.normal(key, (2, repetitions, dim))))
    return k, v


def manifold_vectors(
    key: Key[Array, ""], k_star: Float[Array, " dim"], v_star: Float[Array, " dim"],
    repetitions: int,
) -> tuple[Vectors, Vectors]:
    """k uniform on the sphere orthogonal to v*; v on the sphere orthogonal to k* and to k."""
    dim = k_star.shape[-1]
    require(dim >= 3, "dim", dim, "must be at least 3 for vectors on the manifold")
    _check(dim, repetitions)
    k, v = np.asarray(jax.random.normal(key, (2, repetitions, dim)))
    k = normalised(tangent(v_star, k))
    across = normalised(tangent(k_star, k))
    for _ in range(2):  # the second pass removes what rounding left of the first
        v = normalised(tangent(across, tangent(k_star, v)))
    return k, v


def _check(dim: int, repetitions: int) -> None:
    require(dim >= 2, "dim", dim, "must be at least 2")
    require(repetitions >= 1, "repetitions", repetitions, "must be at least 1")
