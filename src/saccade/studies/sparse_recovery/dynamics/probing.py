"""What the layers of a trained decoder hold: the state of the last token after each layer, linear
probes of it, and the LISTA-VM layer that comes nearest to what a layer does to its read-out."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from saccade.networks.transformer import Transformer
from saccade.networks.transformer.layers import one_layer
from saccade.studies.sparse_recovery.models.steps import soft_threshold

RIDGE = 1e-3  # of the mean square of the features


@eqx.filter_jit
def layer_states(model: Transformer, tokens) -> Float[Array, "depth sample width"]:
    """The state of the last token after the read-in (0) and after each layer."""

    def layer(state, weights):
        state = one_layer(model.config, weights, state, model.positions)
        return state, state[:, -1]

    start = model._start(tokens)
    return jnp.concatenate([start[None, :, -1], jax.lax.scan(layer, start, model.layers)[1]])


def probe(states: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """What a linear probe with an intercept, fitted by ridge regression on the first half of the
    samples, says of the targets of the other half."""
    half = len(states) // 2
    centre, middle = states[:half].mean(0), targets[:half].mean(0)
    seen = states[:half] - centre
    gram = seen.T @ seen
    ridge = RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
    weights = np.linalg.solve(gram + ridge, seen.T @ (targets[:half] - middle))
    return (states[half:] - centre) @ weights + middle


def explained(said: np.ndarray, targets: np.ndarray, groups: int) -> np.ndarray:
    """The share of the variance of the targets of the second half that the probe explains, for
    each of so many groups of problems."""
    true = targets[len(targets) - len(said) :]
    return 1 - _by_group((said - true) ** 2, groups) / _by_group((true - true.mean(0)) ** 2, groups)


def _by_group(values: np.ndarray, groups: int) -> np.ndarray:
    return values.reshape(groups, -1).sum(1)


def left_by_vm(before, after, X, y, groups: int) -> np.ndarray:
    """The share of |after - before|^2 that the best LISTA-VM layer leaves unexplained, for each of
    so many groups of the second half of the problems."""
    made = np.asarray(_nearest_vm_layer(before, after, X, y), float)
    before, after = (values[len(values) // 2 :] for values in (before, after))
    return _by_group((made - after) ** 2, groups) / _by_group((after - before) ** 2, groups)


@partial(jax.jit, static_argnames="steps")
def _nearest_vm_layer(before, after, X, y, steps: int = 600, rate: float = 0.02):
    """What the LISTA-VM layer S_theta(b - M X^T (X b - y)/(2n + 1)), M a full matrix and theta a
    threshold for each coordinate, that is nearest to `after` makes of the second half of the
    samples; fitted on the first by Adam from M = 0.4 I (from M = 0 the
    threshold would let no slope through)."""
    uphill = jnp.einsum("snd,sn->sd", X, jnp.einsum("snd,sd->sn", X, before) - y)
    uphill = uphill / (2 * X.shape[1] + 1)
    half, dim = len(before) // 2, before.shape[1]

    def made(weights, part):
        u = before[part] - uphill[part] @ weights["M"].T
        return soft_threshold(u, jnp.abs(weights["theta"]))

    def left(weights):
        return ((made(weights, slice(None, half)) - after[:half]) ** 2).sum(1).mean()

    optimiser = optax.adam(optax.cosine_decay_schedule(rate, steps))
    start = {"M": 0.4 * jnp.eye(dim), "theta": jnp.full(dim, 0.01)}

    def step(carry, _):
        weights, moments = carry
        updates, moments = optimiser.update(jax.grad(left)(weights), moments, weights)
        return (optax.apply_updates(weights, updates), moments), None

    (weights, _), _ = jax.lax.scan(step, (start, optimiser.init(start)), length=steps)
    return made(weights, slice(half, None))
