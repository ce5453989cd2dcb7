"""Stochastic descent in all dimensions: fresh batches, any number of heads and of informative
tokens. Gradients are written out, in NumPy, so that no shape has to be compiled.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Vectors = Float[np.ndarray, "chains heads dim"]


class Batch(NamedTuple):
    """Tokens (chains, batch, length, dim) with the informative ones first, and targets."""

    X: np.ndarray
    y: np.ndarray


class World(NamedTuple):
    """The task, with k* and v* the first two axes."""

    dim: int
    length: int
    gamma: float = 2**-0.5
    noise: float = 0.0
    informative: int = 1

    def draw(self, random: np.random.Generator, chains: int, batch: int) -> Batch:
        X = random.standard_normal((chains, batch, self.length, self.dim), np.float32)
        X[:, :, : self.informative] *= self.gamma
        X[:, :, : self.informative, 0] += (self.dim / 2) ** 0.5
        y = X[:, :, : self.informative, 1].mean(axis=2)
        return Batch(X, y + self.noise * random.standard_normal((chains, batch)))


def predictions(X: np.ndarray, k: Vectors, v: Vectors, lam: float) -> tuple[np.ndarray, ...]:
    """Weights p and values u (chains, heads, batch, length), and each head's prediction."""
    flat = X.reshape(len(X), -1, X.shape[-1])
    scores, u = (
        np.einsum("chd,cnd->chn", w, flat, optimize=True).reshape(*w.shape[:2], *X.shape[1:3])
        for w in (lam * k, v))
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return p, u, np.sum(p * u, axis=-1)


def gradients(batch: Batch, k: Vectors, v: Vectors, lam: float) -> tuple[Vectors, Vectors]:
    """Of the batch's mean squared error by k and v, T the mean of the heads: with e = T - y, the
    tokens are weighted by 2 e lambda p_l (u_l - T_h)/H for k_h and by 2 e p_l/H for v_h."""
    p, u, heads = predictions(batch.X, k, v, lam)
    factor = 2 / (heads.shape[1] * batch.y.shape[1])
    error = factor * (heads.mean(axis=1) - batch.y)[:, None, :, None]
    flat = batch.X.reshape(len(batch.X), -1, batch.X.shape[-1])
    by_k, by_v = (
        np.matmul(w.reshape(*k.shape[:2], -1), flat)
        for w in (error * lam * p * (u - heads[..., None]), error * p))
    return by_k, by_v


def sphere_step(x: Vectors, gradient: Vectors, step_size: float | np.ndarray) -> Vectors:
    """(x - alpha (I - x x^T) g) over its length."""
    moved = x - step_size * (gradient - np.sum(x * gradient, axis=-1, keepdims=True) * x)
    return moved / np.linalg.norm(moved, axis=-1, keepdims=True)


class Trained(NamedTuple):
    """Where the chains are after training."""

    k: Vectors
    v: Vectors


def train(
    random: np.random.Generator, world: World, start: Trained, lam: float, step_size: float,
    steps: int, batch: int, frozen: int = 0,
) -> Trained:
    """`steps` stochastic steps of both vectors together, a fresh batch each; the first `frozen`
    heads stay where they are."""
    k, v = start
    sizes = np.where(np.arange(k.shape[1]) < frozen, 0.0, step_size)[:, None]
    for _ in range(steps):
        by_k, by_v = gradients(world.draw(random, len(k), batch), k, v, lam)
        k, v = sphere_step(k, by_k, sizes), sphere_step(v, by_v, sizes)
    return Trained(k, v)


def fresh_error(
    random: np.random.Generator, world: World, at: Trained, lam: float, samples: int
) -> np.ndarray:
    """Mean squared error of every chain on fresh samples."""
    fresh = world.draw(random, len(at.k), samples)
    heads = predictions(fresh.X, at.k, at.v, lam)[2]
    return np.mean((heads.mean(axis=1) - fresh.y) ** 2, axis=1)


def random_start(random: np.random.Generator, chains: int, heads: int, dim: int) -> Trained:
    """Independent uniform directions."""
    vectors = random.standard_normal((2, chains, heads, dim))
    return Trained(*(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)))
