"""Images with patches in hidden sets: one set carries the label, the others carry look-alikes.

Patches are cut into L disjoint sets of C patches. Given the label y (a fair coin) and the signal
set (uniform), patches of that set are y w* plus noise, every other patch is +w*, -w* or nothing
with probabilities q/2, q/2, 1 - q, plus noise. The noise is Gaussian and orthogonal to the feature
w*, so the signals x_j = <w*, X_j> are exactly -1, 0 or 1 (Jelassi, Sander, Li 2022, Assumption 1).
Only the sets tell signal from chance.
"""

from functools import partial
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, Key

from saccade.arrays import Array, floats, namespace, normals
from saccade.contracts import Kind
from saccade.errors import InvalidInput, require, shown

# A threshold kappa C that is a whole number up to rounding counts as that whole number.
ROUNDING = 1e-9


class Sample(NamedTuple):
    """What a draw gives: patches, labels, and the hidden truth (the patches of the signal set,
    signals x_j and the number of the signal set)."""

    X: Float[Array, "samples patches dim"]
    y: Float[Array, " samples"]
    where: Bool[Array, "samples patches"]
    signals: Float[Array, "samples patches"]
    signal_set: Int[Array, " samples"]


class Spatial(eqx.Module):
    """The task: `labels` are the sets S_l, `feature` w*, `spurious_rate` q, `noise` sigma."""

    kind: ClassVar[Kind] = "classification"
    labels: Int[Array, " patches"]
    feature: Float[Array, " dim"]
    spurious_rate: float | Array
    noise: float | Array

    @property
    def length(self) -> int:
        """Patches D."""
        return self.labels.shape[0]

    @property
    def dim(self) -> int:
        return self.feature.shape[0]

    @classmethod
    def create(
        cls, key: Key[Array, ""], labels: Any, dim: int, spurious_rate: float,
        noise: float | None = None,
    ) -> "Spatial":
        """A task with w* uniform on the sphere; without `noise`, sigma^2 = 1/d."""
        index, _, _ = partition(labels)
        require(dim >= 1, "dim", dim, "must be at least 1")
        check_rate(spurious_rate)
        spread = float(dim) ** -0.5 if noise is None else noise
        is_spread = bool(np.isfinite(spread) and spread >= 0)
        require(is_spread, "noise", noise, "must be finite and at least 0")
        # Arrays, not numbers: a compiled function then serves every rate and noise.
        (rate,), (spread,) = floats(spurious_rate), floats(spread)
        return cls(index, random_feature(key, dim), rate, spread)

    def sample(self, key: Key[Array, ""] | np.random.Generator, n: int) -> Sample:
        """n images: signals are whole numbers, noise has covariance sigma^2 (I - w* w*^T). From a
        generator of NumPy nothing has to be compiled."""
        if isinstance(key, np.random.Generator):
            drawn = sample_signals(key, self.labels, self.spurious_rate, n)
            return self._composed(drawn, key.standard_normal((n, self.length, self.dim)))
        return self._jax_sample(key, n)

    @eqx.filter_jit
    def _jax_sample(self, key: Key[Array, ""], n: int) -> Sample:
        draw, noise = jax.random.split(key)
        standard = jax.random.normal(noise, (n, self.length, self.dim), self.feature.dtype)
        return self._composed(sample_signals(draw, self.labels, self.spurious_rate, n), standard)

    def _composed(self, drawn: tuple, standard: Any) -> Sample:
        """The sample that what `sample_signals` gave and normals make."""
        signals, y, signal_set = drawn
        orthogonal = standard - (standard @ self.feature)[..., None] * self.feature
        X = signals[..., None] * self.feature + self.noise * orthogonal
        return Sample(X, y, self.labels == signal_set[:, None], signals, signal_set)

    def best(self, X: Float[Array, "samples patches dim"]) -> Float[Array, " samples"]:
        """Bayes: the posterior mean of y given X, for who knows the sets, w* and q. Status: exact.

        P[x | y] is 1/L times the sum over sets l that are all y of the product over the other
        patches of their spurious chance p(x_j). A set that is all y has product (q/2)^C whatever
        its number, so every term is the product over all patches divided by (q/2)^C, q drops out,
        and E[y | x] = (N+ - N-)/(N+ + N-) with N+ and N- the numbers of sets that are all +1 and
        all -1. At q = 0 and q = 1 the same: there the signal set is one, or every set counts alike.
        An image that cannot be (no such set) gets 0.
        """
        signals = jnp.round(X @ self.feature)
        same_set = self.labels[:, None] == self.labels
        sums = signals @ same_set.astype(signals.dtype)  # of each patch's set, which is C times
        votes = jnp.where(jnp.abs(sums) == jnp.sum(same_set, axis=1), jnp.sign(sums), 0.0)
        return jnp.sum(votes, axis=1) / jnp.maximum(jnp.sum(jnp.abs(votes), axis=1), 1.0)


def random_feature(key: Key[Array, ""] | np.random.Generator, dim: int) -> Float[Array, " dim"]:
    """w*, uniform on the sphere."""
    drawn = isinstance(key, np.random.Generator)
    feature = key.standard_normal(dim) if drawn else normals(key, (dim,))
    return feature / namespace(feature).linalg.norm(feature)


def sample_signals(
    key: Key[Array, ""] | np.random.Generator, labels: Int[Array, " patches"], spurious_rate: Any,
    n: int,
) -> tuple:
    """Signals x (n, D), labels y and signal sets of n images: the data without noise."""
    sets, patches = labels.max() + 1, labels.shape[0]
    if isinstance(key, np.random.Generator):
        y = 2.0 * key.integers(0, 2, n) - 1
        signal_set, uniform = key.integers(0, sets, n), key.uniform(size=(n, patches))
    else:
        coin, where, spurious = jax.random.split(key, 3)
        y = jax.random.rademacher(coin, (n,), jnp.float64)
        signal_set = jax.random.randint(where, (n,), 0, sets)
        uniform = jax.random.uniform(spurious, (n, patches))
    delta = 2.0 * (uniform < spurious_rate / 2) - (uniform < spurious_rate)  # 1, -1 or 0
    inside = labels == signal_set[:, None]
    return namespace(uniform).where(inside, y[:, None], delta), y, signal_set


class Images(NamedTuple):
    """Every possible image without noise, with its label and probability."""

    signals: np.ndarray
    y: np.ndarray
    probability: np.ndarray


def all_images(labels: Any, spurious_rate: float) -> Images:
    """All 2 L 3^(D-C) possible images of a small task, by listing. Status: exact."""
    index, sets, set_size = partition(labels)
    check_rate(spurious_rate)
    free = len(index) - set_size
    rule = "must be at most 10 to list all images"
    require(free <= 10, "patches outside the signal set", free, rule)
    spurious = np.stack(np.meshgrid(*[[-1, 0, 1]] * free, indexing="ij"), -1).reshape(-1, free)
    chances = np.where(spurious == 0, 1 - spurious_rate, spurious_rate / 2)
    chance = np.prod(chances, axis=1) / (2 * sets)
    rows = []
    for y in (1, -1):
        for signal_set in range(sets):
            images = np.full((len(spurious), len(index)), float(y))
            images[:, index != signal_set] = spurious
            rows.append((images, np.full(len(images), float(y)), chance))
    signals, label, probability = (np.concatenate(part) for part in zip(*rows, strict=True))
    return Images(signals[probability > 0], label[probability > 0], probability[probability > 0])


def localised(side: int, block: int) -> np.ndarray:
    """Squares of block x block patches on a side x side grid, row by row (Figure 1b, 1)."""
    require(side >= 1, "side", side, "must be at least 1")
    require(block >= 1 and side % block == 0, "block", block, f"must divide side = {side}")
    row, column = np.divmod(np.arange(side * side), side)
    return (row // block) * (side // block) + column // block


def interleaved(patches: int, set_size: int) -> np.ndarray:
    """Patches dealt out in turn: patch j goes to set j mod L, neighbours never share one."""
    check_sizes(patches, set_size)
    return np.arange(patches) % (patches // set_size)


def scattered(key: Key[Array, ""] | np.random.Generator, labels: Any) -> np.ndarray:
    """The same sets at randomly permuted patches (Figure 1b, 2)."""
    if isinstance(key, np.random.Generator):
        return key.permutation(labels)
    return np.asarray(jax.random.permutation(key, jnp.asarray(labels)))


def partition(labels: Any) -> tuple[np.ndarray, int, int]:
    """Labels as 0..L-1 in the order of their values, with L and C; sets must be equally large."""
    try:
        values = np.asarray(labels)
    except ValueError:
        raise InvalidInput(f"labels = {shown(labels)} must be a list of whole numbers.") from None
    flat = values.ndim == 1 and values.size > 0 and values.dtype.kind in "iu"
    require(flat, "labels", labels, "must be a list of whole numbers, one for each patch")
    _, index, sizes = np.unique(values, return_inverse=True, return_counts=True)
    rule = f"must cut the patches into sets of equal size, not of sizes {sizes.tolist()}"
    require(bool(np.all(sizes == sizes[0])), "labels", labels, rule)
    return index.astype(np.int64), len(sizes), int(sizes[0])


def check_sizes(patches: int, set_size: int) -> None:
    """D and C: whole numbers with C dividing D."""
    require(patches >= 1, "patches", patches, "must be at least 1")
    rule = f"must lie between 1 and patches = {patches}"
    require(1 <= set_size <= patches, "set_size", set_size, rule)
    require(patches % set_size == 0, "set_size", set_size, f"must divide patches = {patches}")


def check_rate(spurious_rate: float) -> None:
    """q is a probability."""
    require(bool(0 <= spurious_rate <= 1), "spurious_rate", spurious_rate, "must lie in [0, 1]")


def label_function(signals: Any, labels: Any, threshold: float = 0.9) -> Float[Array, " samples"]:
    """f*(X) = sum over sets of Thr(sum of the set's signals), Thr(z) = z if |z| > kappa C
    (strictly), else 0. Source: section 3."""
    index, sets, set_size = partition(labels)
    require(bool(threshold >= 0), "threshold", threshold, "must be at least 0")
    (x,) = floats(signals)
    sums = x @ (index[:, None] == np.arange(sets)).astype(float)
    passes = abs(sums) > (threshold + ROUNDING) * set_size
    return namespace(x).where(passes, sums, 0.0).sum(axis=-1)


def ranks(labels: np.ndarray) -> np.ndarray:
    """The rank of each patch in its set."""
    return np.array([np.sum(labels[:place] == labels[place]) for place in range(len(labels))])


def gaussian_convolution(
    key: Key[Array, ""] | np.random.Generator, labels: Any, dim: int, n: int
) -> tuple:
    """The counter-example of Figure 2: X Gaussian, y = sign of sum over sets of (sum_i <w_tap(i),
    X_i>)^3, tap(i) the rank of i in its set.

    Returns patches (n, D, d), labels (n,) and filters (C, d). Patches are independent and all
    matter (so this is no task of the contract): nothing in the inputs ties those of a set together.
    """
    index, sets, set_size = partition(labels)
    sets_of = (index[:, None] == np.arange(sets)).astype(float)
    if isinstance(key, np.random.Generator):
        X, taps = key.standard_normal((n, len(index), dim)), key.standard_normal((set_size, dim))
        return X, _cubic_labels(X, taps[ranks(index)], sets_of), taps
    return _gaussian_convolution(key, sets_of, ranks(index), set_size, dim, n)


def _cubic_labels(X: Array, by_patch: Array, sets_of: Array) -> Array:
    xp = namespace(X)
    responses = xp.einsum("njd,jd->nj", X, by_patch) @ sets_of
    return xp.sign(xp.sum(responses**3, axis=-1))


@partial(jax.jit, static_argnames=("set_size", "dim", "n"))
def _gaussian_convolution(
    key: Key[Array, ""], sets_of: Array, tap: Array, set_size: int, dim: int, n: int
) -> tuple:
    draw, choose = jax.random.split(key)
    taps = jax.random.normal(choose, (set_size, dim))
    X = jax.random.normal(draw, (n, len(tap), dim))
    return X, _cubic_labels(X, taps[tap], sets_of), taps
