"""Models of the spatial study: the positional-attention layer (T) with its gradients in closed
form, generalised linear models, attention matrices with known sets, and the metric of association.

F(X) = sum_i sigma(D sum_j S_ij <v, X_j>), S the softmax of each row of A / tau, sigma(z) = z^p + nu
z with p odd. The attention depends on positions only. Trained are v and the off-diagonal of A; the
diagonal stays where it was put.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from saccade.arrays import Array, namespace, special
from saccade.contracts import Mask, Tokens
from saccade.errors import require
from saccade.studies.spatial.task import partition


class Gradients(NamedTuple):
    """Outputs, mean logistic loss, and its gradients (zero on the diagonal of A)."""

    output: Float[Array, " samples"]
    loss: Float[Array, ""]
    grad_A: Float[Array, "patches patches"]
    grad_v: Float[Array, " dim"]


def activation(z: Array, degree: int, slope: Any) -> Array:
    """sigma(z) = z^p + nu z; whole powers, so that negative arguments are safe."""
    return z**degree + slope * z


def activation_derivative(z: Array, degree: int, slope: Any) -> Array:
    """sigma'(z) = p z^(p-1) + nu."""
    return degree * z ** (degree - 1) + slope


def scores(
    A: Float[Array, "patches patches"], temperature: Any = 1.0
) -> Float[Array, "patches patches"]:
    """S = softmax of each row of A / tau."""
    logits = A / temperature
    return (jax.nn if namespace(logits) is jnp else special(logits)).softmax(logits, axis=-1)


def output(
    X: Array, A: Array, v: Array, degree: int, slope: Any, temperature: Any = 1.0
) -> Float[Array, " samples"]:
    """The layer (T) on X[sample][patch][coordinate]."""
    mixed = (X @ v) @ scores(A, temperature).T
    return activation(A.shape[0] * mixed, degree, slope).sum(axis=-1)


def columns(X: Array) -> Float[Array, "dim patches_times_samples"]:
    """X[coordinate][patch][sample], as one matrix: so laid out, a step of descent reads all images
    about twice as fast."""
    return X.transpose(2, 1, 0).reshape(X.shape[2], -1)


def gradients(
    X: Array, y: Array, A: Array, v: Array, degree: int, slope: Any, temperature: Any = 1.0
) -> Gradients:
    """Output, loss and gradients (Lemmas H.1, H.2 with signs and factors restored). Status: exact.

    With u_j = <v, X_j>, O_i = sum_j S_ij u_j, z_i = D O_i and c = -y s(-y F), s the logistic
    function: dL/dv = D c sum_i sigma'(z_i) sum_j S_ij X_j and dL/dA_ij = (D / tau) c sigma'(z_i)
    S_ij (u_j - O_i) for i != j, averaged over samples.
    """
    return gradients_by_columns(columns(X), y, A, v, degree, slope, temperature)


def gradients_by_columns(
    laid_out: Float[Array, "dim patches_times_samples"], y: Array, A: Array, v: Array, degree: int,
    slope: Any, temperature: Any = 1.0,
) -> Gradients:
    """As `gradients`, of images laid out by `columns`."""
    patches, S = A.shape[0], scores(A, temperature)
    u = (v @ laid_out).reshape(patches, -1)
    mixed = S @ u
    z = patches * mixed
    F = activation(z, degree, slope).sum(axis=0)
    residual = -y * special(F).expit(-y * F) / len(y)
    weight = patches * residual * activation_derivative(z, degree, slope)
    grad_v = laid_out @ (S.T @ weight).reshape(-1)
    pulled = weight @ u.T - (weight * mixed).sum(axis=1)[:, None]
    xp = namespace(F, S)
    grad_A = xp.where(np.eye(patches, dtype=bool), 0.0, S * pulled / temperature)
    return Gradients(F, xp.mean(xp.logaddexp(0.0, -y * F)), grad_A, grad_v)


def _shown(X: Tokens, mask: Mask | None) -> Tokens:
    """The patches, with nothing where there is none."""
    return X if mask is None else namespace(X, mask).where(mask[..., None], X, 0.0)


class PositionalAttention(eqx.Module):
    """The layer (T) with weights of its own. Where patches are missing it is the layer of those
    that are there: their rows and columns of A, and their number for D."""

    A: Float[Array, "patches patches"]
    v: Float[Array, " dim"]
    degree: int = eqx.field(static=True, default=3)
    slope: float | Array = 1e-4
    temperature: float | Array = 1.0

    def __call__(self, X: Tokens, mask: Mask | None = None) -> Float[Array, " samples"]:
        S, number = self._scores(mask)
        z = number * (S @ (_shown(X, mask) @ self.v)[..., None])[..., 0]
        return jnp.sum(activation(z, self.degree, self.slope), axis=-1)

    def attention(self, X: Tokens, mask: Mask | None = None) -> Float[Array, "samples patches"]:
        """What a patch receives, averaged over the patches that look: the columns of S over D. With
        an A of three values that is 1/D for all: it knows who belongs together, not where."""
        S, number = self._scores(mask)
        return jnp.broadcast_to(jnp.sum(S, axis=1) / number, X.shape[:2])

    def _scores(self, mask: Mask | None) -> tuple[Array, Array]:
        """S of the patches that are there (zero in the rows and columns of the others), and how
        many there are (1 where there is none); one for all samples where no patch is missing."""
        there = jnp.ones((1, self.A.shape[0]), bool) if mask is None else mask
        pairs = there[:, :, None] & there[:, None, :]
        S = jax.nn.softmax(
            jnp.broadcast_to(self.A / self.temperature, pairs.shape), axis=-1, where=pairs)
        return S, jnp.maximum(jnp.sum(there, axis=1, keepdims=True), 1)


class GeneralisedLinear(eqx.Module):
    """The argument of a generalised linear model, sum_j <w_j, X_j>; any phi may be put on top. It
    looks at a patch as much as its weights are long."""

    weights: Float[Array, "patches dim"]

    def __call__(self, X: Tokens, mask: Mask | None = None) -> Float[Array, " samples"]:
        shown = _shown(X, mask)
        return namespace(shown, self.weights).einsum("njd,jd->n", shown, self.weights)

    def attention(self, X: Tokens, mask: Mask | None = None) -> Float[Array, "samples patches"]:
        lengths = jnp.broadcast_to(jnp.linalg.norm(self.weights, axis=1), X.shape[:2])
        shown = lengths if mask is None else jnp.where(mask, lengths, 0.0)
        total = jnp.sum(shown, axis=1, keepdims=True)
        return shown / jnp.where(total > 0, total, 1.0)


def three_value_attention(
    labels: Array, diagonal: Any, same: Any, other: Any
) -> Float[Array, "patches patches"]:
    """A with beta on the diagonal, gamma within sets and rho between them (Lemma 4.1)."""
    xp = namespace(labels, diagonal, same, other)
    off = xp.where(labels[:, None] == labels[None, :], same, other) * 1.0
    return xp.where(np.eye(labels.shape[0], dtype=bool), diagonal, off)


def cheating_attention(labels: Array, sharpness: Any) -> Float[Array, "patches patches"]:
    """A_ij = B where j lies in the set after that of i, else 0 (Theorem 3.2): it looks away."""
    follows = labels[None, :] == (labels[:, None] + 1) % (labels.max() + 1)
    return namespace(labels, sharpness).where(follows, sharpness, 0.0) * 1.0


class Association(NamedTuple):
    """Patch association: does row i of a similarity matrix hold its largest entries exactly on the
    set of patch i (Definition 2.2)? With and without the diagonal, which lies in its own set and so
    is a free hit when it is large."""

    exact: bool
    row_fraction: float
    overlap: float
    off_diagonal_overlap: float
    off_diagonal_row_fraction: float
    margin: float


def association(matrix: Any, labels: Any) -> Association:
    """Judge a similarity matrix (A, P^T P, attention) against a partition. Status: exact.

    A row passes if its smallest entry inside the set is strictly above its largest outside.
    `overlap` is the mean share of the top C places that lie in the set, ties at the C-th value
    sharing the places that remain evenly. `off_diagonal_...` leaves out j = i and asks for the top
    C - 1; with C = 1 nothing is left to find and it is 1. `margin` is the smallest gap between
    inside and outside (infinite for a single set).
    """
    index, _, set_size = partition(labels)
    values = np.asarray(matrix, float)
    size = len(index)
    require(
        values.shape == (size, size), "shape of matrix", values.shape,
        f"must be ({size}, {size}), one row per patch")
    require(bool(np.all(np.isfinite(values))), "matrix", matrix, "must hold finite numbers")
    same, diagonal = index[:, None] == index[None, :], np.eye(size, dtype=bool)
    gaps, off_gaps = _gaps(values, same, ~same), _gaps(values, same & ~diagonal, ~same)
    overlap = _top_share(values, same, set_size)
    off = _top_share(np.where(diagonal, -np.inf, values), same & ~diagonal, set_size - 1)
    rows, off_rows = float(np.mean(gaps > 0)), float(np.mean(off_gaps > 0))
    return Association(rows == 1.0, rows, overlap, off, off_rows, float(np.min(gaps)))


def _gaps(values: np.ndarray, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """Per row: smallest entry inside minus largest outside."""
    lowest = np.min(np.where(inside, values, np.inf), axis=1)
    with np.errstate(over="ignore"):
        return lowest - np.max(np.where(outside, values, -np.inf), axis=1)


def _top_share(values: np.ndarray, inside: np.ndarray, places: int) -> float:
    """Mean share of a row's `places` largest entries that lie inside; ties share the last."""
    if places == 0:
        return 1.0
    last = np.sort(values, axis=1)[:, -places][:, None]
    above, level = values > last, values == last
    remaining = places - above.sum(axis=1)
    tied = (level & inside).sum(axis=1) / level.sum(axis=1)
    return float(np.mean((above & inside).sum(axis=1) + remaining * tied) / places)
