"""Speed: many LASSO problems at once against scikit-learn one by one; training LISTA-CP."""

import warnings
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from saccade.lab import torch_steps
from saccade.lab.benchmark import Accuracy, Benchmark, Sides, Target
from saccade.studies.sparse_recovery.dynamics import learning
from saccade.studies.sparse_recovery.dynamics.solvers import solve_lasso
from saccade.studies.sparse_recovery.models.steps import begin, lista_cp, prepare
from saccade.studies.sparse_recovery.task import SparseRecovery


def _by_scikit_learn(X: np.ndarray, y: np.ndarray, lam: float, gap: float) -> np.ndarray:
    """Its Lasso, problem after problem, to a gap of `gap` |y|^2/2 (it stops at tol |y|^2)."""
    from sklearn.linear_model import Lasso

    solver = Lasso(alpha=lam / X.shape[1], fit_intercept=False, tol=gap / 2, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few problems stop at max_iter, which is in its favour
        return np.stack(
            [solver.fit(matrix, values).coef_.copy() for matrix, values in zip(X, y, strict=True)])


def batched_lasso(problems: int = 10_000, rows=10, dim=20, lam=0.1, gap: float = 1e-10) -> Sides:
    """Gaussian problems to a relative duality gap. Both sides are held to the same gap; ours is
    exact whatever is asked."""
    sample = SparseRecovery.create(dim, rows, min(3, dim)).sample(jax.random.key(0), problems)
    X, y = np.asarray(sample.X), np.asarray(sample.y)

    def check() -> Accuracy:
        """Our worst relative duality gap over all problems."""
        return Accuracy(float((solve_lasso(X, y, lam, gap).gap / (0.5 * (y**2).sum(1))).max()), gap)

    return Sides(
        lambda: solve_lasso(X, y, lam, gap), lambda: _by_scikit_learn(X, y, lam, gap), check)


@partial(
    Benchmark, "sparse-recovery.training-steps",
    "1,000 training steps of LISTA-CP, 12 layers, batch 64, on one matrix: one scan against a"
    " compiled step called from Python", tiny={"steps": 20, "layers": 3, "batch": 8})
def training_steps(steps: int = 1000, batch: int = 64, layers: int = 12) -> Sides:
    """Adam steps on one matrix 10 x 20, fresh problems every step: a scan over steps and layers,
    against a compiled step with its layers written out, called from Python."""
    name = "lista-cp"
    task, recipe = SparseRecovery.create(), learning.Recipe(steps, batch, 1e-3)
    X = task.matrices(jax.random.key(0), 1, jnp.float32)[0]
    start = learning.start_layers(name, layers, 1, X)
    keys = jax.random.split(jax.random.key(1), 1)
    alone, optimiser = {leaf: value[0] for leaf, value in start.items()}, recipe.optimiser()

    def loss_of(weights: Any, sample: Any) -> Any:
        problem = prepare(sample.X, sample.y)
        state = begin(problem)
        for k in range(layers):
            layer = {"W": weights["W"][k], "theta": jnp.abs(weights["theta"][k])}
            state = lista_cp(problem, state, layer)
        return ((state.b - sample.beta) ** 2).sum(-1).mean()

    @jax.jit
    def one_step(weights: Any, moments: Any, key: Any) -> Any:
        key, draw = jax.random.split(key)
        sample = task.sample_on(draw, jnp.broadcast_to(X, (batch, *X.shape)))
        updates, moments = optimiser.update(jax.grad(loss_of)(weights, sample), moments, weights)
        return optax.apply_updates(weights, updates), moments, key

    def peer() -> Any:
        weights, moments, key = alone, optimiser.init(alone), keys[0]
        for _ in range(steps):
            weights, moments, key = one_step(weights, moments, key)
        return jax.block_until_ready(weights)

    ours = partial(learning.train, name, task, keys, start, recipe, X)

    def check() -> Accuracy:
        """Both draw the same problems: their weights agree up to rounding amplified by training."""
        mine, theirs = ours().layers["theta"][-1, 0], np.asarray(peer()["theta"])
        return Accuracy(float(np.abs(mine - theirs).max()), 1e-2)

    return Sides(ours, peer, check)


BENCHMARKS = (
    Benchmark(
        "sparse-recovery.lasso-1e-5",
        "10,000 LASSO problems 10 x 20 to a relative duality gap of 1e-5: all at once against"
        " scikit-learn one by one", partial(batched_lasso, gap=1e-5), Target(">=", 10.0),
        tiny={"problems": 40}),
    Benchmark(
        "sparse-recovery.lasso-1e-10", "the same to a relative duality gap of 1e-10", batched_lasso,
        Target(">=", 3.0), tiny={"problems": 40}),
    *torch_steps.benchmark(
        "sparse-recovery.decoder-step",
        "the paper's small decoder (12 layers, 21 tokens, batch 64)", torch_steps.paper_decoder))
