"""Transfer: the attention of an earlier task is kept, only the value vector learns the new feature
(section 5)."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.studies.spatial.dynamics.realistic import Layer
from saccade.studies.spatial.models import activation, activation_slope, scores


@partial(jax.jit, static_argnames=("layer", "steps"))
def transfer_descent(
    X: Float[Array, "samples patches dim"], y: Array, A: Array, v: Float[Array, " dim"],
    layer: Layer, eta_v: float, steps: int,
) -> Float[Array, " dim"]:
    """v after `steps` of full-batch descent with A frozen; the mixed patches D S X are computed
    once."""
    mixed = A.shape[0] * jnp.einsum("ij,njd->nid", scores(A, layer.temperature), X)

    def step(v: Array, _: None) -> tuple[Array, None]:
        z = mixed @ v
        F = jnp.sum(activation(z, layer.degree, layer.slope), axis=-1)
        weight = -y * jax.nn.sigmoid(-y * F) / X.shape[0]
        slope = weight[:, None] * activation_slope(z, layer.degree, layer.slope)
        return v - eta_v * jnp.einsum("ni,nid->d", slope, mixed), None

    return jax.lax.scan(step, v, None, length=steps)[0]


def one_normalised_step(X: Float[Array, "samples patches dim"], y: Array) -> Float[Array, " dim"]:
    """v = g/|g| with g = mean of y sum_j X_j: one normalised step from v = 0 when the columns of S
    sum to one (proof of Theorem 5.1).

    For a general A the gradient at v = 0 weights patch j by the sum of column j of S, which
    `gradient_at_zero` does.
    """
    g = jnp.mean(y[:, None] * jnp.sum(X, axis=1), axis=0)
    return g / jnp.linalg.norm(g)


def gradient_at_zero(
    X: Float[Array, "samples patches dim"], y: Array, A: Array, layer: Layer
) -> Float[Array, " dim"]:
    """-dL/dv at v = 0: (nu D / 2) times the mean of y sum_j (column sum j of S) X_j. Status:
    exact."""
    columns = jnp.sum(scores(A, layer.temperature), axis=0)
    return (
        layer.slope * A.shape[0] / 2
        * jnp.mean(y[:, None] * jnp.einsum("j,njd->nd", columns, X), axis=0))
