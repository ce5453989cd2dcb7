"""Predictors that score tokens along k and read them along v: softmax, the best weights that can be
made of the scores, and several heads. A token that the mask leaves out changes nothing."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.errors import require

Tokens = Float[Array, "*batch length dim"]
Mask = Bool[Array, "*batch length"]
Weights = Float[Array, "*batch length"]
Predictions = Float[Array, "*batch"]


def _present(X: Tokens, mask: Mask | None) -> Tokens:
    """Zeros where there is no token: what stands there may be no number at all."""
    return X if mask is None else jnp.where(mask[..., None], X, 0.0)


class SoftmaxAttention(eqx.Module):
    """T = softmax(lambda X k) . X v, for any number of heads (rows of k and v), whose predictions
    are averaged."""

    k: Float[Array, "heads dim"]
    v: Float[Array, "heads dim"]
    inverse_temperature: float | Array = 1.0

    def __check_init__(self) -> None:
        k, v = np.shape(self.k), np.shape(self.v)
        rule = "must be the same (heads, dim)"
        require(len(k) == 2 and k == v, "shapes of k and v", (k, v), rule)

    def _looks(self, X: Tokens, mask: Mask | None) -> Float[Array, "*batch length heads"]:
        scores = self.inverse_temperature * (_present(X, mask) @ self.k.T)
        return jax.nn.softmax(scores, axis=-2, where=None if mask is None else mask[..., None])

    def attention(self, X: Tokens, mask: Mask | None = None) -> Weights:
        """Where it looks: the mean of its heads' weights."""
        return jnp.mean(self._looks(X, mask), axis=-1)

    def __call__(self, X: Tokens, mask: Mask | None = None) -> Predictions:
        values = _present(X, mask) @ self.v.T
        return jnp.mean(jnp.sum(self._looks(X, mask) * values, axis=-2), axis=-1)


class ScoreAttention(eqx.Module):
    """The best predictor sum_l w_l(X k*) X_l . v*: with pi the posterior of the place given the
    scores, w = gamma^2 pi/(gamma^2 pi + 1 - pi)."""

    k_star: Float[Array, " dim"]
    v_star: Float[Array, " dim"]
    gamma: float = 2**-0.5

    def attention(self, X: Tokens, mask: Mask | None = None) -> Weights:
        z = _present(X, mask) @ self.k_star
        shift = (X.shape[-1] / 2) ** 0.5
        odds = -((z - shift) ** 2) / (2 * self.gamma**2) + z**2 / 2
        posterior = jax.nn.softmax(odds, axis=-1, where=mask)
        return self.gamma**2 * posterior / (self.gamma**2 * posterior + 1 - posterior)

    def __call__(self, X: Tokens, mask: Mask | None = None) -> Predictions:
        return jnp.sum(self.attention(X, mask) * (_present(X, mask) @ self.v_star), axis=-1)
