"""Where training starts: uniform on the two spheres, or uniform on the invariant manifold, as
vectors or directly as overlaps.

The overlaps are drawn exactly in law from a handful of normals and chi-squares, at a cost that does
not depend on d.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from saccade.errors import require
from saccade.studies.single_location.dynamics.chance import chi_square
from saccade.studies.single_location.dynamics.sphere import tangent
from saccade.studies.single_location.theory import Overlaps

Vectors = Float[Array, "repetitions dim"]


def sphere_overlaps(key: Key[Array, ""], dim: int, repetitions: int) -> Overlaps:
    """Overlaps of independent k and v uniform on the sphere. Exact in law for every d >= 2.

    In the orthonormal basis k*, v*, e (the rest of k): k ~ (z1, z2, chi_{d-2}), v ~ (z3, z4, z5,
    chi_{d-3}), each normalised.
    """
    _check(dim, repetitions)
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
    """Overlaps of `manifold_vectors`, exactly in law: kappa = z1/|(z1, chi_{d-2})|, nu = z2/|(z2,
    chi_{d-3})|, others 0."""
    _check(dim, repetitions)
    normals_key, k_key, v_key = jax.random.split(key, 3)
    z = jax.random.normal(normals_key, (2, repetitions))
    rest = chi_square(k_key, dim - 2, (repetitions,)), chi_square(v_key, dim - 3, (repetitions,))
    kappa, nu = (z[i] / jnp.sqrt(z[i] ** 2 + rest[i]) for i in (0, 1))
    zero = jnp.zeros(repetitions)
    return Overlaps(kappa, nu, zero, zero, zero)


def sphere_vectors(key: Key[Array, ""], dim: int, repetitions: int) -> tuple[Vectors, Vectors]:
    """Independent k and v, uniform on the sphere."""
    _check(dim, repetitions)
    k, v = _normalised(jax.random.normal(key, (2, repetitions, dim)))
    return k, v


def manifold_vectors(
    key: Key[Array, ""], k_star: Float[Array, " dim"], v_star: Float[Array, " dim"],
    repetitions: int,
) -> tuple[Vectors, Vectors]:
    """k uniform on the sphere orthogonal to v*; v uniform on the sphere orthogonal to k* and to
    k."""
    dim = k_star.shape[-1]
    require(dim >= 3, "dim", dim, "must be at least 3 for vectors on the manifold")
    _check(dim, repetitions)
    k, v = jax.random.normal(key, (2, repetitions, dim))
    k = _normalised(tangent(v_star, k))
    across = _normalised(tangent(k_star, k))
    for _ in range(2):  # the second pass removes what rounding left of the first
        v = _normalised(tangent(across, tangent(k_star, v)))
    return k, v


def _normalised(x: Float[Array, "... dim"]) -> Float[Array, "... dim"]:
    return x / jnp.linalg.norm(x, axis=-1, keepdims=True)


def _check(dim: int, repetitions: int) -> None:
    require(dim >= 2, "dim", dim, "must be at least 2")
    require(repetitions >= 1, "repetitions", repetitions, "must be at least 1")
