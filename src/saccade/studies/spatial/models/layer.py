"""The positional-attention layer (T) with its gradients in closed form, and the predictors it is
compared with.

F(X) = sum_i sigma(D sum_j S_ij <v, X_j>), S the softmax of each row of A / tau, sigma(z) = z^p + nu
z with p odd. The attention depends on positions only. Trained are v and the off-diagonal of A; the
diagonal stays where it was put.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class Gradients(NamedTuple):
    """Outputs, mean logistic loss, and its gradients (zero on the diagonal of A)."""

    output: Float[Array, " samples"]
    loss: Float[Array, ""]
    grad_A: Float[Array, "patches patches"]
    grad_v: Float[Array, " dim"]


def activation(z: Array, degree: int, slope: Any) -> Array:
    """sigma(z) = z^p + nu z; whole powers, so that negative arguments are safe."""
    return jax.lax.integer_pow(z, degree) + slope * z


def activation_slope(z: Array, degree: int, slope: Any) -> Array:
    """sigma'(z) = p z^(p-1) + nu."""
    return degree * jax.lax.integer_pow(z, degree - 1) + slope


def scores(
    A: Float[Array, "patches patches"], temperature: Any = 1.0
) -> Float[Array, "patches patches"]:
    """S = softmax of each row of A / tau."""
    return jax.nn.softmax(A / temperature, axis=-1)


def output(
    X: Array, A: Array, v: Array, degree: int, slope: Any, temperature: Any = 1.0
) -> Float[Array, " samples"]:
    """The layer (T) on X[sample][patch][coordinate]."""
    mixed = (X @ v) @ scores(A, temperature).T
    return jnp.sum(activation(A.shape[0] * mixed, degree, slope), axis=-1)


def gradients(
    X: Array, y: Array, A: Array, v: Array, degree: int, slope: Any, temperature: Any = 1.0
) -> Gradients:
    """Output, loss and gradients (Lemmas H.1, H.2 with their signs and factors restored). Status:
    exact.

    With u_j = <v, X_j>, O_i = sum_j S_ij u_j, z_i = D O_i and c = -y s(-y F), s the logistic
    function: dL/dv = D c sum_i sigma'(z_i) sum_j S_ij X_j and dL/dA_ij = (D / tau) c sigma'(z_i)
    S_ij (u_j - O_i) for i != j, averaged over samples.
    """
    patches = A.shape[0]
    S = scores(A, temperature)
    u = X @ v
    mixed = u @ S.T
    z = patches * mixed
    F = jnp.sum(activation(z, degree, slope), axis=-1)
    residual = -y * jax.nn.sigmoid(-y * F) / X.shape[0]
    weight = patches * residual[:, None] * activation_slope(z, degree, slope)
    # One product of a long row with X as it lies in memory: contracting two axes by einsum made XLA
    # copy X at every step.
    grad_v = (weight @ S).reshape(-1) @ X.reshape(-1, X.shape[-1])
    pulled = weight.T @ u - jnp.sum(weight * mixed, axis=0)[:, None]
    grad_A = (S * pulled / temperature).at[jnp.diag_indices(patches)].set(0.0)
    return Gradients(F, jnp.mean(jnp.logaddexp(0.0, -y * F)), grad_A, grad_v)


def generalised_linear(X: Array, weights: Float[Array, "patches dim"]) -> Float[Array, " samples"]:
    """The argument of a generalised linear model, sum_j <w_j, X_j>; any phi may be put on top."""
    return jnp.einsum("njd,jd->n", X, weights)


def three_value_attention(
    labels: Array, diagonal: Any, same: Any, other: Any
) -> Float[Array, "patches patches"]:
    """A with beta on the diagonal, gamma within sets and rho between them (Lemma 4.1)."""
    inside = labels[:, None] == labels[None, :]
    off = jnp.where(inside, same, other) * 1.0
    return jnp.where(jnp.eye(labels.shape[0], dtype=bool), diagonal, off)


def cheating_attention(labels: Array, sharpness: Any) -> Float[Array, "patches patches"]:
    """A_ij = B where patch j lies in the set after that of patch i (cyclically), else 0 (Theorem
    3.2): it groups well and looks away."""
    sets = jnp.max(labels) + 1
    return jnp.where(labels[None, :] == (labels[:, None] + 1) % sets, sharpness, 0.0) * 1.0
