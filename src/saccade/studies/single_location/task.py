"""Single-location regression: one token of a sequence carries the answer, and which one it is has
to be found from the tokens.

Given the hidden location J, tokens are independent: the informative one is N(sqrt(d/2) k*, gamma^2
I), the others N(0, I), and the target reads the informative token along a second direction, Y = X_J
. v* + noise (Marion, Berthier, Biau, Boyer 2025, section 2). With gamma^2 = 1/2 all tokens have
expected squared norm d, so the norm tells nothing about the location.
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Key

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.errors import require

ROUNDING = 1e-8  # how far from unit length, orthogonality or total probability one an input may be


class Sample(NamedTuple):
    """What a draw from the task gives: tokens, targets, and the hidden truth (zero-based locations,
    ascending)."""

    X: Float[Array, "samples length dim"]
    y: Float[Array, " samples"]
    location: Int[Array, "samples informative"]


class SingleLocation(eqx.Module):
    """The task. `informative` (m) above 1 is an extension: m locations, uniform without repetition,
    Y = m^-1/2 sum_J X_J . v* + noise."""

    dim: int = eqx.field(static=True)
    length: int = eqx.field(static=True)
    gamma: float | Array
    noise: float | Array
    location_probabilities: Float[Array, " length"]
    k_star: Float[Array, " dim"]
    v_star: Float[Array, " dim"]
    informative: int = eqx.field(static=True, default=1)

    def __check_init__(self) -> None:
        _check_sizes(self)
        if not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(self)):
            _check_values(self)

    @classmethod
    def create(
        cls, key: Key[Array, ""], dim: int, length: int, gamma: float = math.sqrt(0.5),
        noise: float = 0.0, location_probabilities: Float[Array, " length"] | None = None,
        informative: int = 1,
    ) -> "SingleLocation":
        """A task with k* uniform on the sphere and v* uniform on the sphere orthogonal to it;
        locations are uniform unless told."""
        require(dim >= 2, "dim", dim, "must be at least 2, since k* and v* are orthogonal")
        require(length >= 1, "length", length, "must be at least 1")
        k_star, v_star = orthonormal_pair(key, dim)
        if location_probabilities is None:
            location_probabilities = jnp.full(length, 1.0 / length)
        probabilities = jnp.asarray(location_probabilities, float)
        return cls(dim, length, gamma, noise, probabilities, k_star, v_star, informative)

    def sample(self, key: Key[Array, ""], n: int) -> Sample:
        """Draw n independent sequences: E|X_l|^2 = d for every token when gamma^2 = 1/2, and E Y^2
        = gamma^2 + noise^2 (exact)."""
        where, tokens, target = jax.random.split(key, 3)
        location = self._locations(where, n)
        chosen = jax.nn.one_hot(location, self.length, dtype=float).sum(axis=1)[:, :, None]
        spread = jnp.where(chosen > 0, self.gamma, 1.0)
        standard = jax.random.normal(tokens, (n, self.length, self.dim))
        X = math.sqrt(self.dim / 2) * chosen * self.k_star + spread * standard
        signal = jnp.sum(chosen[:, :, 0] * (X @ self.v_star), axis=1) / math.sqrt(self.informative)
        return Sample(X, signal + self.noise * jax.random.normal(target, (n,)), location)

    def _locations(self, key: Key[Array, ""], n: int) -> Int[Array, "samples informative"]:
        """One location from the location law, or a uniform m-subset: the positions of the m largest
        of `length` uniform numbers."""
        if self.informative == 1:
            return jax.random.categorical(key, jnp.log(self.location_probabilities), shape=(n,))[
                :, None]
        _, subset = jax.lax.top_k(jax.random.uniform(key, (n, self.length)), self.informative)
        return jnp.sort(subset, axis=1)


def orthonormal_pair(
    key: Key[Array, ""], dim: int
) -> tuple[Float[Array, " dim"], Float[Array, " dim"]]:
    """Uniform orthonormal (k*, v*): two normals, Gram-Schmidt twice, so that the second stays
    orthogonal even in dimension 2."""
    k_star, v_star = jax.random.normal(key, (2, dim))
    k_star = k_star / jnp.linalg.norm(k_star)
    for _ in range(2):
        v_star = v_star - (v_star @ k_star) * k_star
        v_star = v_star / jnp.linalg.norm(v_star)
    return k_star, v_star


def _check_sizes(task: SingleLocation) -> None:
    require(task.dim >= 2, "dim", task.dim, "must be at least 2, since k* and v* are orthogonal")
    require(task.length >= 1, "length", task.length, "must be at least 1")
    require(
        1 <= task.informative <= task.length, "informative", task.informative,
        f"must lie in 1..{task.length} (length)")
    for name, size in (
        ("k_star", task.dim), ("v_star", task.dim), ("location_probabilities", task.length),
    ):
        shape = np.shape(getattr(task, name))
        require(shape == (size,), f"shape of {name}", shape, f"must be ({size},)")


def _check_values(task: SingleLocation) -> None:
    gamma, noise = float(task.gamma), float(task.noise)
    require(math.isfinite(gamma) and gamma > 0, "gamma", gamma, "must be finite and above 0")
    require(math.isfinite(noise) and noise >= 0, "noise", noise, "must be finite and at least 0")
    law, k_star, v_star = (
        np.asarray(a) for a in (task.location_probabilities, task.k_star, task.v_star))
    require(
        bool(np.all(law >= 0)), "location_probabilities", law.tolist(), "must all be at least 0")
    total = float(law.sum())
    require(abs(total - 1) <= ROUNDING, "sum of location_probabilities", total, "must be 1")
    uniform = bool(np.allclose(law, 1 / task.length, rtol=0, atol=ROUNDING))
    require(
        task.informative == 1 or uniform, "location_probabilities", law.tolist(),
        "must be uniform when informative > 1")
    for name, vector in (("k_star", k_star), ("v_star", v_star)):
        norm = float(np.linalg.norm(vector))
        require(abs(norm - 1) <= ROUNDING, f"norm of {name}", norm, "must be 1")
    overlap = float(k_star @ v_star)
    require(
        abs(overlap) <= ROUNDING, "k_star . v_star", overlap,
        "must be 0: the two directions are orthogonal")
