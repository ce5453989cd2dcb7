"""Single-location regression: one token carries the answer, and must be found from the tokens.

Given the hidden location J, tokens are independent: the informative one is N(sqrt(d/2) k*, gamma^2
I), the others N(0, I), and the target reads the informative token along a second direction, Y = X_J
. v* + noise (Marion, Berthier, Biau, Boyer 2025, section 2). With gamma^2 = 1/2 all tokens have
expected squared norm d, so the norm tells nothing about the location.
"""

import math
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Bool, Float, Int, Key

from saccade.arrays import Array, floats, namespace, normals
from saccade.contracts import Kind
from saccade.errors import require

Direction = Float[Array, " dim"]
ROUNDING = 1e-8  # how far from unit length, orthogonality or total probability one an input may be
IMPOSSIBLE = -1e30  # a log-probability: finite, so that its derivative is no NaN


class Sample(NamedTuple):
    """What a draw from the task gives: tokens, targets, and the hidden truth; `location` holds the
    places where `where` is true, zero-based and ascending."""

    X: Float[Array, "samples length dim"]
    y: Float[Array, " samples"]
    where: Bool[Array, "samples length"]
    location: Int[Array, "samples informative"]


class SingleLocation(eqx.Module):
    """The task. `informative` (m) above 1 is an extension: m locations, uniform without repetition,
    Y = m^-1/2 sum_J X_J . v* + noise."""

    kind: ClassVar[Kind] = "regression"

    dim: int = eqx.field(static=True)
    length: int = eqx.field(static=True)
    gamma: float | Array
    noise: float | Array
    location_probabilities: Float[Array, " length"]
    k_star: Direction
    v_star: Direction
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
        """A task with uniformly random orthonormal k* and v*; locations are uniform unless told."""
        require(length >= 1, "length", length, "must be at least 1")
        law = (
            np.full(length, 1 / length) if location_probabilities is None
            else (location_probabilities))
        # Arrays, not numbers: a compiled function then serves every gamma and noise.
        (gamma,), (noise,), (law,) = floats(gamma), floats(noise), floats(law)
        return cls(dim, length, gamma, noise, law, *orthonormal_pair(key, dim), informative)

    def sample(self, key: Key[Array, ""] | np.random.Generator, n: int) -> Sample:
        """Draw n independent sequences; E Y^2 = gamma^2 + noise^2 (exact). From a generator of
        NumPy nothing has to be compiled."""
        if isinstance(key, np.random.Generator):
            shapes = (n, self.length, self.dim), n
            return self._composed(
                self._numpy_locations(key, n), *(key.standard_normal(shape) for shape in shapes))
        return self._jax_sample(key, n)

    @eqx.filter_jit
    def _jax_sample(self, key: Key[Array, ""], n: int) -> Sample:
        location_key, token_key, noise_key = jax.random.split(key, 3)
        standard = jax.random.normal(token_key, (n, self.length, self.dim))
        noise = jax.random.normal(noise_key, (n,))
        return self._composed(self._jax_locations(location_key, n), standard, noise)

    def _composed(self, location: Any, standard: Any, noise: Any) -> Sample:
        """The sample that these locations and normals make."""
        xp = namespace(standard)
        where = (location[:, :, None] == np.arange(self.length)).any(axis=1)
        spread = xp.where(where, self.gamma, 1.0)[:, :, None]
        shift = math.sqrt(self.dim / 2) * where[:, :, None] * self.k_star
        X = shift + spread * standard
        signal = (where * (X @ self.v_star)).sum(axis=1) / math.sqrt(self.informative)
        return Sample(X, signal + self.noise * noise, where, location)

    def _jax_locations(self, key: Key[Array, ""], n: int) -> Int[Array, "samples informative"]:
        """One location from its law, or a uniform m-subset: the m largest of uniform numbers."""
        if self.informative == 1:
            log_law = jnp.log(self.location_probabilities)
            return jax.random.categorical(key, log_law, shape=(n,))[:, None]
        _, subset = jax.lax.top_k(jax.random.uniform(key, (n, self.length)), self.informative)
        return jnp.sort(subset, axis=1)

    def _numpy_locations(self, random: np.random.Generator, n: int) -> np.ndarray:
        """As `_jax_locations`."""
        if self.informative == 1:
            law = np.asarray(self.location_probabilities)
            return random.choice(self.length, size=n, p=law)[:, None]
        ranked = np.argsort(random.uniform(size=(n, self.length)), axis=1)
        return np.sort(ranked[:, : self.informative], axis=1)

    def best(self, X: Float[Array, "n length dim"]) -> Float[Array, " n"]:
        """E[Y | X], the Bayes predictor, exact for every number m of informative tokens.

        m^-1/2 sum_l P(l informative | X) X_l . v*. A set S of m tokens has the posterior
        probability proportional to prod_{l in S} r_l, with r_l = p_l N(X_l; sqrt(d/2) k*, gamma^2
        I)/N(X_l; 0, I); for m = 1 this is a softmax of log r.
        """
        away = X - math.sqrt(self.dim / 2) * self.k_star
        log_odds = (
            jnp.log(self.location_probabilities)
            + (jnp.sum(X**2, axis=-1) - jnp.sum(away**2, axis=-1) / self.gamma**2) / 2)
        posterior = jax.vmap(jax.grad(_log_sum_over_subsets), (0, None))(log_odds, self.informative)
        return jnp.sum(posterior * (X @ self.v_star), axis=1) / math.sqrt(self.informative)


def _log_sum_over_subsets(log_odds: Float[Array, " length"], size: int) -> Float[Array, ""]:
    """log e_m(r), e_m = sum over m-subsets S of prod_{l in S} r_l, token by token: e_j gains r_l
    e_{j-1}. Its derivative in log r_l is the share of the subsets that hold l."""

    def include(log_sums, one):
        gained = jnp.logaddexp(log_sums[1:], one + log_sums[:-1])
        return jnp.concatenate([log_sums[:1], gained]), None

    nothing_yet = jnp.full(size + 1, IMPOSSIBLE).at[0].set(0.0)
    return jax.lax.scan(include, nothing_yet, log_odds)[0][-1]


def orthonormal_pair(key: Key[Array, ""], dim: int) -> tuple[Direction, Direction]:
    """Uniform orthonormal (k*, v*) by Gram-Schmidt, twice for the sake of dimension 2."""
    require(dim >= 2, "dim", dim, "must be at least 2, since k* and v* are orthogonal")
    k_star, v_star = normals(key, (2, dim))
    norm = namespace(k_star).linalg.norm
    k_star = k_star / norm(k_star)
    for _ in range(2):
        v_star = v_star - (v_star @ k_star) * k_star
        v_star = v_star / norm(v_star)
    return k_star, v_star


def _check_sizes(task: SingleLocation) -> None:
    require(task.length >= 1, "length", task.length, "must be at least 1")
    possible, rule = 1 <= task.informative <= task.length, f"must lie in 1..{task.length} (length)"
    require(possible, "informative", task.informative, rule)
    sizes = {"k_star": task.dim, "v_star": task.dim, "location_probabilities": task.length}
    for name, size in sizes.items():
        shape = np.shape(getattr(task, name))
        require(shape == (size,), f"shape of {name}", shape, f"must be ({size},)")


def _check_values(task: SingleLocation) -> None:
    gamma, noise = float(task.gamma), float(task.noise)
    require(math.isfinite(gamma) and gamma > 0, "gamma", gamma, "must be finite and above 0")
    require(math.isfinite(noise) and noise >= 0, "noise", noise, "must be finite and at least 0")
    name, law = "location_probabilities", np.asarray(task.location_probabilities)
    require(bool(np.all(law >= 0)), name, law, "must all be at least 0")
    total = float(law.sum())
    require(abs(total - 1) <= ROUNDING, f"sum of {name}", total, "must be 1")
    uniform = bool(np.allclose(law, 1 / len(law), rtol=0, atol=ROUNDING))
    require(task.informative == 1 or uniform, name, law, "must be uniform when informative > 1")
    k_star, v_star = np.asarray(task.k_star), np.asarray(task.v_star)
    for name, vector in (("k_star", k_star), ("v_star", v_star)):
        norm = float(np.linalg.norm(vector))
        require(abs(norm - 1) <= ROUNDING, f"norm of {name}", norm, "must be 1")
    overlap, rule = float(k_star @ v_star), "must be 0: the two directions are orthogonal"
    require(abs(overlap) <= ROUNDING, "k_star . v_star", overlap, rule)
