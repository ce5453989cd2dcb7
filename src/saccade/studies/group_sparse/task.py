"""The group-sparse task: D Gaussian groups of d variables, of which one alone decides the label
(arXiv 2504.08638).

X has the groups x_1 .. x_D in R^d as rows, x_j ~ N(0, sigma^2 I_d); the label is
y = sign(<v*, x_{j*}>) for a fixed group j* and a fixed unit vector v*. sign(0) is taken as +1.
Arrays are X[sample][group][coordinate], indices are zero-based.

Departures from the paper, each an option of the one definition:
  margin       x_{j*} += margin * y * v*, so that y `best` >= margin always (the transfer theorem's
               gamma): that is y <v*, x_{j*}> >= margin where one group alone decides
  correlation  all pairs of groups share a correlation rho in [0, 1):
               x_j = sigma (sqrt(1 - rho) g_j + sqrt(rho) g_0)
  split        the label is sign(<v*, x_{j*}> + split_weight <v*, x_split>): the signal lives in two
               groups
  overlap      the last `overlap` variables of a group are the first of the next one: the groups
               are windows on one row of variables, and a variable may lie in two of them. A margin
               moves the variables of the row, and with them what the neighbours of j* see of it
               (refused where a neighbour bears the other part of a split signal)
"""

import math
import sys
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.contracts import Kind
from saccade.errors import require

NUMBERS = (int, float, np.integer, np.floating)
LARGEST_WHOLE = 2**53  # beyond it not every whole number is a float


class GroupSparseSample(NamedTuple):
    """A draw: inputs, labels in {-1, +1}, and the hidden truth (the groups that decide)."""

    X: Float[Array, "n groups group_dim"]
    y: Float[Array, " n"]
    where: Bool[Array, "n groups"]


class GroupSparseTask(eqx.Module):
    """The distribution, made by `group_sparse_task`; all but its shapes may be traced."""

    length: int = eqx.field(static=True)
    dim: int = eqx.field(static=True)
    scale: Float[Array, ""]
    relevant: Int[Array, ""]
    direction: Float[Array, " group_dim"]
    group_weights: Float[Array, " groups"]
    margin: Float[Array, ""]
    correlation: Float[Array, ""]
    kind: Kind = eqx.field(static=True, default="classification")
    overlap: int = eqx.field(static=True, default=0)

    def best(self, X: Float[Array, "n groups group_dim"]) -> Float[Array, " n"]:
        """The margin of the Bayes classifier, which never errs: sum_j weight_j <v*, x_j>, that is
        <v*, x_{j*}> unless the signal is split."""
        return X @ self.direction @ self.group_weights

    def label(self, X: Float[Array, "n groups group_dim"]) -> Float[Array, " n"]:
        """y = sign(`best`), with sign(0) = +1."""
        return jnp.where(self.best(X) >= 0, 1.0, -1.0)

    @partial(jax.jit, static_argnames=("n",))
    def sample(self, key: PRNGKeyArray, n: int) -> GroupSparseSample:
        """`n` labelled inputs; a margin moves variables of the relevant group after labelling."""
        numbers = jnp.swapaxes(jax.random.normal(key, (n, self.dim, self.length + 1)), 1, 2)
        own, shared = numbers[:, :-1], numbers[:, -1:]
        mixed = jnp.sqrt(1 - self.correlation) * own + jnp.sqrt(self.correlation) * shared
        X = self._overlapped(self.scale * mixed)
        y = self.label(X)
        shift = (self.margin * y)[:, None, None] * self._moved()
        where = jnp.broadcast_to(self.group_weights != 0, (n, self.length))
        return GroupSparseSample(X + shift, y, where)

    def _moved(self) -> Float[Array, "groups dim"]:
        """v* in the relevant group, and in its neighbours what they share of its variables."""
        here, shared = jnp.arange(self.length) == self.relevant, self.overlap
        moved = here[:, None] * self.direction
        if shared:
            moved = moved.at[:-1, self.dim - shared :].add(here[1:, None] * self.direction[:shared])
            moved = moved.at[1:, :shared].add(here[:-1, None] * self.direction[self.dim - shared :])
        return moved

    def _overlapped(self, X: Float[Array, "n groups group_dim"]) -> Float[Array, "n groups dim"]:
        """Each group but the first begins with the variables that the one before it ends with."""
        shared = self.overlap
        return X.at[:, 1:, :shared].set(X[:, :-1, self.dim - shared :]) if shared else X


def group_sparse_task(
    groups: int, group_dim: int, scale: float = 1.0, relevant: int = 0, direction=None,
    margin: float = 0.0, correlation: float = 0.0, split: int | None = None,
    split_weight: float = 1.0, overlap: int = 0,
) -> GroupSparseTask:
    """The checked task with D = `groups`, d = `group_dim`, sigma_x = `scale`, j* = `relevant`, v* =
    `direction` [first axis].

    The direction is normalised. `split` names a second informative group, with weight
    `split_weight` in the label. `overlap` of at most d/2 variables are shared by neighbours.
    """
    groups, group_dim = check_groups(groups), whole_number(group_dim, "group_dim", 1)
    relevant = whole_number(relevant, "relevant", 0, groups - 1)
    require(math.isfinite(margin) and margin >= 0, "margin", margin, "must be at least 0")
    require(0 <= correlation < 1, "correlation", correlation, "must be in [0, 1)")
    require(math.isfinite(split_weight), "split_weight", split_weight, "must be a finite number")
    overlap = whole_number(overlap, "overlap", 0, group_dim // 2)
    weights = np.eye(1, groups, relevant)[0]
    if split is not None:
        second = whole_number(split, "split", 0, groups - 1)
        require(second != relevant, "split", split, f"must differ from relevant = {relevant}")
        apart = overlap == 0 or abs(second - relevant) > 1
        rule = "must be 0 where the two groups of a split signal overlap"
        require(margin == 0 or apart, "margin", margin, rule)
        weights[second] = split_weight
    # Of NumPy's numbers, whose type is firm: two types of one number would be two programs.
    numbers = np.array([check_positive(scale, "scale"), margin, correlation])
    sigma, gamma, rho = map(jnp.asarray, numbers)
    return GroupSparseTask(
        length=groups, dim=group_dim, scale=sigma, relevant=jnp.asarray(np.int64(relevant)),
        direction=check_direction(direction, group_dim), group_weights=jnp.asarray(weights),
        margin=gamma, correlation=rho, overlap=overlap)


def whole_number(value, name: str, minimum: int, most: int | None = None) -> int:
    """`value` as an int from `minimum` to `most`; 8.0 passes, 8.5, True and "8" do not."""
    is_whole = isinstance(value, NUMBERS) and not isinstance(value, bool) and value % 1 == 0
    bound = f"of at least {minimum}" if most is None else f"from {minimum} to {most}"
    require(
        bool(is_whole and minimum <= value and (most is None or value <= most)), name, value,
        f"must be a whole number {bound}")
    require(bool(value <= LARGEST_WHOLE), name, value, f"must be at most {LARGEST_WHOLE}")
    return int(value)


def check_groups(groups) -> int:
    """D >= 2: with one group there is nothing to select."""
    return whole_number(groups, "groups", 2)


def check_positive(value, name: str) -> float:
    """A finite number above 0, as sigma_x and step sizes are."""
    is_number = isinstance(value, NUMBERS) and not isinstance(value, bool)
    is_right = is_number and 0 < value <= sys.float_info.max
    require(bool(is_right), name, value, "must be a finite number above 0")
    return float(value)


def check_setting(
    groups, step_size, scale, gram_scale: float | None = None
) -> tuple[int, float, float, float]:
    """D, eta, sigma_x, and c of P^T P = c I [(D+1)/2, that of the sine encoding]."""
    groups = check_groups(groups)
    gram = (groups + 1) / 2 if gram_scale is None else check_positive(gram_scale, "gram_scale")
    eta = check_positive(step_size, "step_size")
    return groups, eta, check_positive(scale, "scale"), gram


def check_direction(direction, group_dim: int) -> Float[Array, " group_dim"]:
    """v* normalised to length one [the first axis]; the zero vector has no direction."""
    if direction is None:
        return jnp.asarray(np.eye(1, group_dim)[0])
    vector = np.asarray(direction, dtype=float)
    require(
        vector.shape == (group_dim,), "direction", direction,
        f"must be a vector of length {group_dim}")
    largest = np.abs(vector).max()
    require(
        bool(0 < largest < math.inf), "direction", direction,
        "must be finite and not the zero vector")
    vector = vector / largest  # so that the squares stay among the finite numbers
    return jnp.asarray(vector / np.linalg.norm(vector))
