"""LayerNorm as an option: none, with a scale, or with a scale and a shift."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.networks.transformer.kernels import layer_norm


class Norm(eqx.Module):
    """Scale, and a shift or None."""

    scale: Float[Array, "*layers D"]
    shift: Float[Array, "*layers D"] | None


def init_norm(kind: str, stack: tuple[int, ...], width: int, dtype) -> Norm | None:
    """Ones (and zeros), stacked; None for "none"."""
    if kind == "none":
        return None
    return Norm(
        jnp.ones((*stack, width), dtype),
        jnp.zeros((*stack, width), dtype) if kind == "affine" else None)


def normalise(x: Array, norm: Norm | None) -> Array:
    """LayerNorm over the last axis; x itself when there is no norm."""
    if norm is None:
        return x
    made = layer_norm(x, norm.scale)
    return made if norm.shift is None else made + norm.shift
