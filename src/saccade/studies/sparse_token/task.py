"""Sparse tokens: positive samples hide a weak direction in a few randomly placed tokens, negative
samples are pure noise.

A sample is X in R^{L x d} (rows are tokens) with label y = +1 with probability pi:

    y = -1:  X = Z,                    Z_ij ~ N(0, 1)
    y = +1:  X = theta v xi^T + Z,     |xi| = 1,  v in {0,1}^L with R ones

`length` is L, `informative` R, `positive_rate` pi, `signal` theta, `direction` xi. The places v are
drawn anew for every sample: a uniform R-subset unless a table of masks with probabilities is given.
Softmax pooling and mean pooling do not see the order of the tokens, so their features have the same
law under every location law; only the vectorised classifier notices it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from math import comb, log
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.contracts import Kind
from saccade.errors import Diverged, require

MODELS = ("attention", "pooled", "vectorised")
"""The classifiers this study compares."""
LARGEST, SMALLEST = 1e9, 1e-9
"""Beyond these formulas are at their limits, and what has to cancel in them is beyond 16 digits."""


@dataclass(frozen=True)
class SparseTokenSetting:
    """The four numbers every formula of this study needs: `length` (L), `informative` (R),
    `positive_rate` (pi), `signal` (theta)."""

    length: int
    informative: int
    positive_rate: float
    signal: float

    @property
    def signal_to_noise(self) -> float:
        """theta R/sqrt(L), of the mean token along xi."""
        return self.signal * self.informative / self.length**0.5

    @classmethod
    def of(cls, parameters: Any, **changes: Any) -> "SparseTokenSetting":
        """The setting among the parameters of an experiment, with changes."""
        missing = [item.name for item in fields(cls) if item.name not in changes]
        return cls(**changes, **{name: getattr(parameters, name) for name in missing})

    def __post_init__(self) -> None:
        length, rate = self.length, self.positive_rate
        require(
            is_whole(length) and 1 <= length <= 2**53, "length", length,
            "must be a whole number of at least 1, at most 2^53")
        require(
            is_whole(self.informative) and 1 <= self.informative <= length, "informative",
            self.informative, f"must be a whole number from 1 to length = {length}")
        require(0 < rate < 1, "positive_rate", rate, "must lie strictly between 0 and 1")
        require(
            min(rate, 1 - rate) >= SMALLEST, "positive_rate", rate,
            f"must be at least {SMALLEST:g} away from 0 and 1")
        require_number("signal", self.signal)


def is_whole(value: object) -> bool:
    """True for integers of any kind, False for booleans and everything else."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def require_number(name: str, value: float, low: float = 0.0) -> None:
    """Refuse numbers so small or large that nothing can be computed with them."""
    least = f"above 0 (at least {low:g})" if low > 0 else "at least 0"
    require(low <= value <= LARGEST, name, value, f"must be {least} and at most {LARGEST:g}")


def require_finite(numbers: np.ndarray) -> None:
    """Stop where a formula has left the finite numbers."""
    if not np.all(np.isfinite(numbers)):
        raise Diverged(
            "The equations leave the finite numbers for these inputs; move them away from the edge"
            " of their range.")


class SparseTokenSample(NamedTuple):
    """Inputs, labels (+1 or -1) and the places v drawn for the sample: its informative tokens.

    Places are drawn for negative samples too, where they mark where a signal would have been: those
    tokens are noise like the others, so that `where` tells nothing about y.
    """

    X: Float[Array, "sample token dim"]
    y: Float[Array, " sample"]
    where: Bool[Array, "sample token"]


class SparseToken(eqx.Module):
    """The distribution at dimension d; a table of locations may replace the uniform subset law."""

    kind: ClassVar[Kind] = "classification"
    setting: SparseTokenSetting = eqx.field(static=True)
    direction: Float[Array, " dim"]
    location_masks: Bool[Array, "place token"] | None = None
    location_probabilities: Float[Array, " place"] | None = None

    @classmethod
    def create(
        cls, dim: int, length: int, informative: int = 1, positive_rate: float = 0.5,
        signal: float = 5.0, direction: Float[Array, " dim"] | None = None, location_masks=None,
        location_probabilities=None,
    ) -> "SparseToken":
        """Check every input; `direction` is the first axis unless given (any would do)."""
        require(is_whole(dim) and dim >= 3, "dim", dim, "must be a whole number of at least 3")
        setting = SparseTokenSetting(length, informative, positive_rate, signal)
        xi = np.eye(1, dim)[0] if direction is None else np.asarray(direction, float)
        require(
            xi.shape == (dim,), "direction", xi.shape, f"must be a vector of length dim = {dim}")
        norm = float(np.linalg.norm(xi))
        require(abs(norm - 1) < 1e-9, "direction", norm, "is its norm and must be 1")
        if location_masks is None:
            return cls(setting, jnp.asarray(xi))
        masks, probabilities = checked_locations(setting, location_masks, location_probabilities)
        return cls(setting, jnp.asarray(xi), masks, probabilities)

    @property
    def length(self) -> int:
        return self.setting.length

    @property
    def dim(self) -> int:
        return self.direction.size

    def sample(self, key: Key[Array, ""], n: int, dtype=jnp.float64) -> SparseTokenSample:
        """`n` independent samples; `dtype=jnp.float32` halves memory, enough for simulations."""
        label_key, place_key, noise_key = jax.random.split(key, 3)
        where = self.locations(place_key, n)
        y = _labels(label_key, n, self.setting.positive_rate)
        X = _noisy_tokens(noise_key, y, where, self.setting.signal, self.direction, dtype)
        return SparseTokenSample(X, y, where)

    def best(self, X: Float[Array, "sample token dim"]) -> Float[Array, " sample"]:
        """Bayes: the log posterior odds of a positive sample, given X and everything about the task
        but the places,

            log pi/(1 - pi) + log E_v exp(theta sum_{l in v} <x_l, xi> - R theta^2/2).
        """
        rate, signal = self.setting.positive_rate, self.setting.signal
        evidence = signal * (X @ self.direction)
        if self.location_masks is None or self.location_probabilities is None:
            mean = log_mean_over_subsets(evidence, self.setting.informative)
        else:
            chances = jnp.log(self.location_probabilities)
            mean = jax.nn.logsumexp(evidence @ self.location_masks.T + chances, axis=1)
        odds = np.log(rate) - np.log1p(-rate)
        return odds + mean - self.setting.informative * signal**2 / 2

    def locations(self, key: Key[Array, ""], n: int) -> Bool[Array, "sample token"]:
        """Masks v of the informative tokens, one row a sample, each with R ones."""
        if self.location_masks is not None and self.location_probabilities is not None:
            return self.location_masks[jax.random.choice(
                key, len(self.location_masks), (n,), p=self.location_probabilities)]
        return _uniform_subsets(key, n, self.setting.length, self.setting.informative)

    def stream(
        self, key: Key[Array, ""], n: int, chunk: int = 256, dtype=jnp.float32
    ) -> Iterator[SparseTokenSample]:
        """The same `n` samples for the same key every time, in equal pieces (up to one) of at most
        `chunk`, so that n x L x d never is in memory and few sizes are compiled."""
        pieces = -(-n // chunk)
        for index in range(pieces):
            size = n // pieces + (index < n % pieces)
            yield self.sample(jax.random.fold_in(key, index), size, dtype)


# Compiled once a shape: signal and rate are ordinary arguments, so that a study over many settings
# compiles little.


@partial(jax.jit, static_argnames="n")
def _labels(key, n: int, positive_rate) -> Float[Array, " sample"]:
    return jnp.where(jax.random.bernoulli(key, positive_rate, (n,)), 1.0, -1.0)


@partial(jax.jit, static_argnames=("n", "length"))
def _uniform_subsets(key, n: int, length: int, informative) -> Bool[Array, "sample token"]:
    """Each token with probability (still needed)/(still to come): uniform, and no slow sort."""

    def choose(needed, token):
        uniform, left = token
        chosen = uniform * left < needed
        return needed - chosen, chosen

    uniform = jax.random.uniform(key, (length, n))
    start = jnp.full(n, informative)
    return jax.lax.scan(choose, start, (uniform, jnp.arange(length, 0, -1)))[1].T


@partial(jax.jit, static_argnames="informative")
def log_mean_over_subsets(
    values: Float[Array, "sample token"], informative: int
) -> Float[Array, " sample"]:
    """log of the mean of e^{sum of the values in v} over all subsets v of R tokens: the elementary
    symmetric polynomial e_R, token by token in logarithms, over C(L, R)."""

    def join(sums, value):
        return sums.at[1:].set(jnp.logaddexp(sums[1:], sums[:-1] + value)), None

    n, length = values.shape
    empty = jnp.full((informative + 1, n), -jnp.inf).at[0].set(0.0)
    sums, _ = jax.lax.scan(join, empty, values.T)
    return sums[-1] - log(comb(length, informative))


@partial(jax.jit, static_argnames="dtype")
def _noisy_tokens(key, y, where, signal, direction, dtype) -> Float[Array, "sample token dim"]:
    noise = jax.random.normal(key, (*where.shape, direction.size), dtype)
    strength = (signal * (y > 0)[:, None] * where).astype(dtype)
    return noise + strength[:, :, None] * direction.astype(dtype)


def checked_locations(setting: SparseTokenSetting, masks, probabilities):
    """A table of location masks with its probabilities (uniform if not given), or a refusal."""
    table = np.asarray(masks, bool)
    fits = table.ndim == 2 and table.shape[1] == setting.length
    require(
        fits, "location_masks", table.shape,
        f"must be a table with length = {setting.length} columns")
    counts = sorted({int(c) for c in table.sum(1)})
    require(
        counts == [setting.informative], "location_masks", counts,
        f"are the row counts and must all be informative = {setting.informative}")
    weights = (
        np.full(len(table), 1 / len(table)) if probabilities is None
        else np.asarray(probabilities, float))
    proper = (
        weights.shape == (len(table),) and bool((weights >= 0).all())
        and abs(float(weights.sum()) - 1) < 1e-9)
    require(
        proper, "location_probabilities", weights.tolist(),
        f"must be {len(table)} non-negative numbers that sum to 1")
    return jnp.asarray(table), jnp.asarray(weights)
