"""Sparse recovery in context: a few coordinates of an unknown vector must be found from fewer
measurements than coordinates.

One instance is a matrix X in R^{N x d}, a vector beta with exactly S non-zeros, noisy values y = X
beta + eps, and a query x_{N+1} whose value is asked for. Non-zero values and eps/sigma are standard
normal, so that predicting zero costs S on average. `dim` is d, `measurements` N, `sparsity` S,
`noise` sigma, `pool` the coordinates in which supports may lie, `block` the length of the aligned
blocks supports are made of, `design` the law of the rows: E x x^T = I but for the correlated one.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int
from jaxtyping import Key as KeyOf

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.arrays import namespace
from saccade.contracts import Kind, Mask, Tokens
from saccade.errors import require, unknown
from saccade.studies.sparse_recovery import draws
from saccade.studies.sparse_recovery.draws import Keys

Design = Literal["gaussian", "rademacher", "uniform", "orthonormal", "correlated"]
DESIGNS = get_args(Design)
MOST_SUPPORTS = 20_000  # that the Bayes predictor goes through
FAINT = 1e-6  # the noise that stands for none in the Bayes predictor
Key = KeyOf[Array, ""]
Matrices = Float[Array, "*sample row dim"]


class RecoverySample(NamedTuple):
    """Measurements (a matrix for each instance, or one for all), their values, and the latent: the
    vector, its support and the number of rows that count (further ones are zero, which no gradient
    notices); the query with its value."""

    X: Matrices
    y: Float[Array, "sample row"]
    beta: Float[Array, "sample dim"]
    support: Bool[Array, "sample dim"]
    count: Int[Array, " sample"]
    query: Float[Array, "sample dim"]
    query_y: Float[Array, " sample"]


@dataclass(frozen=True)
class SparseRecovery:
    """The distribution. Several keys at once give as many draws; their axes come first."""

    dim: int
    measurements: int
    sparsity: int
    noise: float
    design: str
    correlation: float
    pool: tuple[int, ...]
    block: int

    @classmethod
    def create(
        cls, dim: int = 20, measurements: int = 10, sparsity: int = 3, noise: float = 0.0,
        design: str = "gaussian", correlation: float = 0.5, pool=None, block: int = 1,
    ) -> "SparseRecovery":
        """Every input is checked. `pool` lists coordinates (default: all)."""
        _check_whole("dim", dim, 1)
        _check_whole("measurements", measurements, 0)
        if design not in DESIGNS:
            raise unknown("design", design, DESIGNS)
        require(
            design != "orthonormal" or measurements <= dim, "measurements", measurements,
            f"must be at most dim = {dim} for orthonormal rows")
        require(_finite(noise) and noise >= 0, "noise", noise, "must be finite and at least 0")
        require(
            _finite(correlation) and -1 < correlation < 1, "correlation", correlation,
            "must lie between -1 and 1")
        return cls(
            int(dim), int(measurements), int(sparsity), float(noise), design, float(correlation),
            check_pool(dim, sparsity, pool, block), int(block))

    def sample(
        self, key: Keys, n: int, vectors: int = 1, dtype=jnp.float64, query: bool = True
    ) -> RecoverySample:
        """`n` instances, a fresh matrix for every `vectors` of them (the paper: 500)."""
        require(n % vectors == 0, "n", n, f"must be a multiple of vectors = {vectors}")
        matrix_key, rest = draws.split(key, 2)
        X = _rows(matrix_key, (n // vectors, self.measurements, self.dim), self, dtype)
        X = X if vectors == 1 else X.repeat(vectors, axis=-3)
        return self.sample_on(rest, X, query=query)

    def sample_on(self, key: Keys, X, n: int = 0, query: bool = True) -> RecoverySample:
        """One instance for each given matrix, or `n` on one that all share: only vector, noise and
        (unless nobody asks) query are drawn."""
        X = X if draws.is_traced(X) else np.asarray(X)
        sample = _instances(key, X, n or X.shape[-3], self)
        return jax.tree.map(_of_jax, _with_query(key, sample, self) if query else sample)

    def matrices(self, key: Keys, n: int, dtype=jnp.float64) -> Matrices:
        """`n` independent measurement matrices."""
        return _of_jax(_rows(key, (n, self.measurements, self.dim), self, dtype))


def _of_jax(values: Any) -> Array:
    """An array of JAX, by a transfer where it is one of NumPy: `asarray` compiles a program."""
    return values if draws.is_traced(values) else jax.device_put(values)


def _rows(key: Keys, shape: tuple[int, int, int], task: SparseRecovery, dtype):
    """Rows of the design, in NumPy outside a trace, as everything that is drawn."""
    if task.design == "rademacher":
        return draws.draw("rademacher", key, shape, dtype)
    if task.design == "uniform":
        half_width = np.asarray(np.sqrt(3.0), dtype)  # variance one
        return half_width * (2 * draws.draw("uniform", key, shape, dtype) - 1)
    normal = draws.draw("normal", key, shape, dtype)
    if task.design == "orthonormal":
        return _orthonormal(normal)
    if task.design == "correlated":
        factor = np.linalg.cholesky(covariance(task.dim, task.correlation))
        return normal @ factor.T.astype(normal.dtype)
    return normal


def _orthonormal(normal):
    """sqrt(d) times rows of a Haar-distributed frame: QR with the signs of R's diagonal undone."""
    library = namespace(normal)
    q, r = library.linalg.qr(normal.swapaxes(-1, -2))
    signs = 1 - 2 * (library.diagonal(r, axis1=-2, axis2=-1) < 0).astype(normal.dtype)
    length = np.sqrt(np.asarray(normal.shape[-1], normal.dtype))
    return length * (q * signs[..., None, :]).swapaxes(-1, -2)


def covariance(dim: int, correlation: float) -> Float[np.ndarray, "dim dim"]:
    """Sigma of the correlated design: rho^{|i-j|}, unit variances, neighbours correlated by rho."""
    place = np.arange(dim)
    return float(correlation) ** np.abs(place[:, None] - place)


def _vectors(key: Keys, n: int, task: SparseRecovery, dtype):
    """Sparse vectors, standard normal on uniformly chosen blocks of the pool, and supports."""
    place_key, value_key = draws.split(key, 2)
    starts, blocks = np.asarray(task.pool[:: task.block]), task.sparsity // task.block
    uniform = draws.draw("uniform", place_key, (n, len(starts)), float)
    last_chosen = namespace(uniform).sort(uniform, axis=-1)[..., blocks - 1 : blocks]
    # which coordinates belong to the block that begins at each start
    members = starts[:, None] == np.arange(task.dim) // task.block * task.block
    support = (uniform <= last_chosen).astype(dtype) @ members.astype(dtype)
    return support * draws.draw("normal", value_key, (n, task.dim), dtype), support > 0


def _noise(key: Keys, shape: tuple[int, ...], task: SparseRecovery, dtype) -> Any:
    """sigma times standard normal numbers, which are not drawn if sigma is zero."""
    if task.noise == 0:
        return np.zeros((*key.shape, *shape), dtype)
    return np.asarray(task.noise, dtype) * draws.draw("normal", key, shape, dtype)


def _instances(key: Keys, X, n: int, task: SparseRecovery) -> RecoverySample:
    vector_key, noise_key, _, _ = draws.split(key, 4)
    beta, support = _vectors(vector_key, n, task, X.dtype)
    exact = beta @ X.T if X.ndim == 2 else (X @ beta[..., None])[..., 0]
    noise = _noise(noise_key, (n, X.shape[-2] + 1), task, X.dtype)
    count: Any = np.full(beta.shape[:-1], X.shape[-2])
    no_query: Any = None
    return RecoverySample(
        X, exact + noise[..., :-1], beta, support, count, no_query, noise[..., -1])


def _with_query(key: Keys, sample: RecoverySample, task: SparseRecovery) -> RecoverySample:
    """The query, and its value from its noise."""
    shape = (sample.beta.shape[-2], 1, task.dim)
    query = _rows(draws.split(key, 4)[2], shape, task, sample.beta.dtype)[..., 0, :]
    return sample._replace(query=query, query_y=(query * sample.beta).sum(-1) + sample.query_y)


class ColumnSample(NamedTuple):
    """What the contract asks of a draw; see `ColumnsAsTokens`."""

    X: Tokens
    y: Float[Array, " n"]
    where: Mask


@dataclass(frozen=True)
class ColumnsAsTokens:
    """Sparse recovery as a `contracts.Task`: tokens are the columns of X and `where` the support.

    The first token, marked by a last entry of one, is [measured values (N); 0; 1] and always
    matters; token j = 1..d is [column j of X (N); query_j; 0]. The target is the query's value,
    sum_{j in S} beta_j query_j + noise: given the measured values and the columns of S it does not
    depend on the other columns, which are independent of all else. (With the correlated and the
    orthonormal design they are independent of the target only.)

    The contract covers which coordinates matter and the value at one query. It does not cover the
    vector beta itself, nor prompts whose tokens are the rows: decoders and the constructed
    transformer read those, and have their own forms in `models`.
    """

    recovery: SparseRecovery
    kind: ClassVar[Kind] = "regression"

    @property
    def length(self) -> int:
        return self.recovery.dim + 1

    @property
    def dim(self) -> int:
        return self.recovery.measurements + 2

    @cached_property
    def supports(self) -> Int[np.ndarray, "support S"]:
        """Every set of coordinates that may matter, in order."""
        task = self.recovery
        starts, blocks = task.pool[:: task.block], task.sparsity // task.block
        require(
            comb(len(starts), blocks) <= MOST_SUPPORTS, "sparsity", task.sparsity,
            f"must leave at most {MOST_SUPPORTS} possible supports")
        chosen = np.array(list(combinations(starts, blocks)))
        return (chosen[:, :, None] + np.arange(task.block)).reshape(len(chosen), -1)

    def sample(self, key: Key, n: int) -> ColumnSample:
        drawn = self.recovery.sample(key, n)
        where = jnp.pad(drawn.support, ((0, 0), (1, 0)), constant_values=True)
        return ColumnSample(column_tokens(drawn), drawn.query_y, where)

    def best(self, X: Tokens) -> Float[Array, " n"]:
        """Bayes: the posterior mean of the target, by going through all supports. Noise below
        FAINT counts as FAINT, the limit of no noise."""
        return _posterior_mean(
            *read_columns(X)[:3], 1 + jnp.asarray(self.supports), max(self.recovery.noise, FAINT))


def column_tokens(sample: RecoverySample) -> Tokens:
    """The tokens of `ColumnsAsTokens` from matrices, their values and queries."""
    columns = jnp.concatenate([sample.X, sample.query[:, None]], axis=1).swapaxes(1, 2)
    tokens = jnp.concatenate([jnp.pad(sample.y, ((0, 0), (0, 1)))[:, None], columns], axis=1)
    return jnp.pad(tokens, ((0, 0), (0, 0), (0, 1))).at[:, 0, -1].set(1)


class Columns(NamedTuple):
    """Tokens read back: in the place of the token of measured values stands a column of zeros."""

    X: Float[Array, "n row length"]
    y: Float[Array, "n row"]
    query: Float[Array, "n length"]
    is_column: Mask


def read_columns(tokens: Tokens, mask: Mask | None = None) -> Columns:
    """The inverse of `column_tokens`, in any order of the tokens; masked ones are not there."""
    there = jnp.ones(tokens.shape[:2], bool) if mask is None else mask
    tokens = jnp.where(there[:, :, None], jnp.asarray(tokens, float), 0)
    is_column = there & (tokens[:, :, -1] == 0)
    columns = jnp.where(is_column[:, :, None], tokens, 0)
    y = (tokens - columns)[:, :, :-2].sum(1)
    return Columns(columns[:, :, :-2].swapaxes(1, 2), y, columns[:, :, -2], is_column)


@jax.jit
def _posterior_mean(X, y, query, supports, noise) -> Float[Array, " n"]:
    """With standard normal values on a support T the evidence of y, m the ridge solution, is as
    exp(-(|y - X_T m|^2/noise^2 + |m|^2)/2) det(X_T^T X_T + noise^2 I)^{-1/2}."""

    def one(instance):
        X, y, query = instance
        columns = X.T[supports].swapaxes(1, 2)
        gram = columns.swapaxes(1, 2) @ columns + noise**2 * jnp.eye(supports.shape[1])
        m = jnp.linalg.solve(gram, (columns.swapaxes(1, 2) @ y)[..., None])
        off = ((y - (columns @ m)[..., 0]) ** 2).sum(1) / noise**2 + (m[..., 0] ** 2).sum(1)
        weights = jax.nn.softmax(-(off + jnp.linalg.slogdet(gram)[1]) / 2)
        return weights @ (query[supports] * m[..., 0]).sum(1)

    return jax.lax.map(one, (X, y, query))


def check_pool(dim: int, sparsity: int, pool, block: int = 1) -> tuple[int, ...]:
    """The pool as sorted indices; refused if empty, out of range, too small or in part blocks."""
    _check_whole("sparsity", sparsity, 1)
    _check_whole("block", block, 1)
    places = range(block * (dim // block)) if pool is None else pool
    require(len(places) > 0, "pool", list(places), "must name at least one coordinate")
    for place in places:
        inside = _is_whole(place) and 0 <= place < dim
        require(bool(inside), "pool", place, f"must hold coordinates from 0 to dim - 1 = {dim - 1}")
    chosen = tuple(sorted({int(place) for place in places}))
    require(len(chosen) == len(places), "pool", list(places), "must not repeat a coordinate")
    require(
        sparsity <= len(chosen), "sparsity", sparsity,
        f"must be at most {len(chosen)}, the size of the pool")
    require(sparsity % block == 0, "sparsity", sparsity, f"must be a multiple of block = {block}")
    starts = {place for place in chosen if place % block == 0 and place + block <= dim}
    whole = set(chosen) == {start + offset for start in starts for offset in range(block)}
    require(whole, "pool", list(chosen), f"must consist of whole blocks of {block} coordinates")
    return chosen


def _check_whole(name: str, value, least: int) -> None:
    whole = _is_whole(value) and value >= least
    require(bool(whole), name, value, f"must be a whole number of at least {least}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _finite(value: object) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))
