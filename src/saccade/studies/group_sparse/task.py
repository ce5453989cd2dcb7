"""The group-sparse task: D Gaussian groups of d variables, of which one alone decides the label
(arXiv 2504.08638).

X = [x_1 .. x_D] in R^{d x D} with x_j ~ N(0, sigma^2 I_d); the label is y = sign(<v*, x_{j*}>) for
a fixed group j* and a fixed unit vector v*. sign(0) is taken as +1. Arrays are
X[sample][coordinate][group], indices are zero-based.

Departures from the paper, each an option of the one definition:
  margin       x_{j*} += margin * y * v*, so that y <v*, x_{j*}> >= margin always (the transfer
  theorem's gamma); correlation  all pairs of groups share a correlation rho in [0, 1): x_j = sigma
  (sqrt(1 - rho) g_j + sqrt(rho) g_0); split        the label is sign(<v*, x_{j*}> + split_weight
  <v*, x_split>): the signal lives in two groups.
"""

import math
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.errors import InvalidInput, require

NUMBERS = (int, float, np.integer, np.floating)


class GroupSparseBatch(eqx.Module):
    """A draw: the inputs, the labels in {-1, +1}, and the latent truth (the group that decides)."""

    inputs: Float[Array, "samples group_dim groups"]
    labels: Float[Array, " samples"]
    relevant: Int[Array, ""]


class GroupSparseTask(eqx.Module):
    """The distribution; build it with `group_sparse_task`, which checks. Shapes are static,
    everything else may be traced."""

    groups: int = eqx.field(static=True)
    group_dim: int = eqx.field(static=True)
    scale: Float[Array, ""]
    relevant: Int[Array, ""]
    direction: Float[Array, " group_dim"]
    group_weights: Float[Array, " groups"]
    margin: Float[Array, ""]
    correlation: Float[Array, ""]

    def label(self, inputs: Float[Array, "samples group_dim groups"]) -> Float[Array, " samples"]:
        """y = sign(sum_j weight_j <v*, x_j>), with sign(0) = +1."""
        signal = jnp.einsum("ndg,d,g->n", inputs, self.direction, self.group_weights)
        return jnp.where(signal >= 0, 1.0, -1.0)

    @partial(jax.jit, static_argnames=("samples",))
    def sample(self, key: PRNGKeyArray, samples: int) -> GroupSparseBatch:
        """`samples` independent inputs with their labels; the margin, if any, moves the relevant
        group after labelling."""
        numbers = jax.random.normal(key, (samples, self.group_dim, self.groups + 1))
        own, shared = numbers[:, :, :-1], numbers[:, :, -1:]
        mixed = jnp.sqrt(1 - self.correlation) * own + jnp.sqrt(self.correlation) * shared
        inputs = self.scale * mixed
        labels = self.label(inputs)
        shift = self.margin * labels[:, None] * self.direction
        return GroupSparseBatch(inputs.at[:, :, self.relevant].add(shift), labels, self.relevant)


def group_sparse_task(
    groups: int, group_dim: int, scale: float = 1.0, relevant: int = 0, direction=None,
    margin: float = 0.0, correlation: float = 0.0, split: int | None = None,
    split_weight: float = 1.0,
) -> GroupSparseTask:
    """The checked task with D = `groups`, d = `group_dim`, sigma_x = `scale`, j* = `relevant`, v* =
    `direction` [first axis].

    The direction is normalised. `split` names a second informative group, with weight
    `split_weight` in the label.
    """
    groups, group_dim = check_groups(groups), check_group_dim(group_dim)
    relevant = check_relevant(relevant, groups)
    require(math.isfinite(margin) and margin >= 0, "margin", margin, "must be at least 0")
    require(0 <= correlation < 1, "correlation", correlation, "must be in [0, 1)")
    require(math.isfinite(split_weight), "split_weight", split_weight, "must be a finite number")
    weights = jnp.zeros(groups).at[relevant].set(1.0)
    if split is not None:
        second = check_relevant(split, groups, name="split")
        require(second != relevant, "split", split, f"must differ from relevant = {relevant}")
        weights = weights.at[second].set(split_weight)
    return GroupSparseTask(
        groups=groups, group_dim=group_dim, scale=jnp.asarray(check_scale(scale)),
        relevant=jnp.asarray(relevant), direction=check_direction(direction, group_dim),
        group_weights=weights, margin=jnp.asarray(float(margin)),
        correlation=jnp.asarray(float(correlation)))


def whole_number(value, name: str, minimum: int) -> int:
    """`value` as an int of at least `minimum`; 8.0 passes (JSON writers produce it), 8.5, True and
    "8" do not."""
    is_whole = (
        not isinstance(value, bool) and isinstance(value, NUMBERS) and float(value).is_integer())
    require(
        bool(is_whole and value >= minimum), name, value,
        f"must be a whole number of at least {minimum}")
    return int(value)


def check_groups(groups) -> int:
    """D >= 2: with one group there is nothing to select."""
    return whole_number(groups, "groups", 2)


def check_group_dim(group_dim) -> int:
    """d >= 1; at d = 1 the orthogonal part of the features does not exist and everything that
    speaks of it is dropped."""
    return whole_number(group_dim, "group_dim", 1)


def check_scale(scale, name: str = "scale") -> float:
    """sigma_x > 0 and finite; used for step sizes too."""
    is_number = isinstance(scale, NUMBERS) and not isinstance(scale, bool)
    require(
        bool(is_number and math.isfinite(scale) and scale > 0), name, scale,
        "must be a finite number above 0")
    return float(scale)


def check_relevant(relevant, groups: int, name: str = "relevant") -> int:
    """A zero-based group index."""
    rule = f"must be a whole number from 0 to {groups - 1}"
    is_whole = (
        not isinstance(relevant, bool) and isinstance(relevant, NUMBERS)
        and float(relevant).is_integer())
    require(bool(is_whole and 0 <= relevant < groups), name, relevant, rule)
    return int(relevant)


def check_direction(direction, group_dim: int) -> Float[Array, " group_dim"]:
    """v* normalised to length one; the first axis when none is given. The zero vector has no
    direction and is refused."""
    if direction is None:
        return jnp.zeros(group_dim).at[0].set(1.0)
    vector = jnp.asarray(direction, dtype=float)
    require(
        vector.shape == (group_dim,), "direction", direction,
        f"must be a vector of length {group_dim}")
    length = jnp.linalg.norm(vector)
    require(
        bool(jnp.isfinite(length)) and bool(length > 0), "direction", direction,
        "must be finite and not the zero vector")
    return vector / length


def check_inputs(inputs, name: str = "X") -> Float[Array, "samples group_dim groups"]:
    """Explicit data X[sample][coordinate][group] as an array: at least one sample, one coordinate
    and two groups, all finite."""
    rule = (
        "must be a rectangular X[sample][coordinate][group] of finite numbers with at least two"
        " groups")
    try:
        data = jnp.asarray(inputs, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} {rule}.") from None
    shaped = data.ndim == 3 and data.shape[0] >= 1 and data.shape[1] >= 1 and data.shape[2] >= 2
    require(
        shaped and bool(jnp.all(jnp.isfinite(data))), f"{name} of shape", tuple(data.shape), rule)
    return data


def check_labels(labels, samples: int, name: str = "labels") -> Float[Array, " samples"]:
    """Labels as an array of `samples` entries, each -1 or +1."""
    values = jnp.asarray(labels, dtype=float)
    sound = values.shape == (samples,) and bool(jnp.all(jnp.abs(values) == 1))
    require(sound, name, labels, f"must be {samples} labels, each -1 or +1")
    return values
