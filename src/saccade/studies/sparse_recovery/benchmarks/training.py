"""Speed of training: unrolled networks against a step called from Python and against PyTorch, and
the paper's decoder against PyTorch."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from saccade.lab import torch_steps
from saccade.lab.benchmark import Accuracy, Benchmark, Sides
from saccade.lab.timing import Target
from saccade.studies.sparse_recovery.dynamics import learning
from saccade.studies.sparse_recovery.models.steps import begin, lista_cp, prepare
from saccade.studies.sparse_recovery.models.unrolled import Layers
from saccade.studies.sparse_recovery.task import SparseRecovery

RATE = 1e-5
"""The weights of 250 x 500 matrices are of the order of 1e-3."""


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
        sample = task.sample_on(draw, X, batch)
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


def _drawn_before(task: SparseRecovery, key: Any, X: np.ndarray, steps: int, batch: int) -> list:
    """The problems that training on X draws from a key, step by step."""
    problems = []
    for _ in range(steps):
        key, draw = jax.random.split(key)
        sample = task.sample_on(draw, X, batch, query=False)
        problems.append((np.array(sample.y), np.array(sample.beta)))
    return problems


def _torch_weight(X: Any) -> Any:
    """ALISTA's weight of a matrix of full row rank."""
    import torch

    solved = torch.linalg.solve(X @ X.T, X)
    return solved / (X * solved).sum(0)


def _torch_loss(name: str, w: dict[str, Any], X: Any, weight: Any, y: Any, beta: Any) -> Any:
    """The loss of K layers, written as one would in PyTorch."""
    b = beta.new_zeros(beta.shape)
    for k in range(len(w["theta"])):
        pull = (y - b @ X.T) @ (w["W"][k] if name == "lista-cp" else weight)
        u = b + (pull if name == "lista-cp" else w["gamma"][k] * pull)
        b = u.sign() * (u.abs() - w["theta"][k].abs()).relu()
    return ((b - beta) ** 2).sum(-1).mean()


def _torch_trained(
    name: str, X: np.ndarray, start: Layers, recipe: learning.Recipe, problems: list
) -> dict[str, np.ndarray]:
    """Adam with the cosine of `recipe`, on problems drawn before, which favours this side."""
    import torch

    matrix = torch.tensor(X)
    weight = _torch_weight(matrix) if name == "alista" else None
    w = {
        leaf: torch.tensor(np.array(value[0]), requires_grad=True) for leaf, value in start.items()}
    optimiser = torch.optim.Adam(w.values(), recipe.learning_rate, fused=True)
    schedule = optax.cosine_decay_schedule(recipe.learning_rate, recipe.steps)
    rates = np.asarray(jax.vmap(schedule)(jnp.arange(recipe.steps))).tolist()
    for rate, (y, beta) in zip(rates, problems, strict=True):
        optimiser.param_groups[0]["lr"] = rate
        optimiser.zero_grad()
        loss = _torch_loss(name, w, matrix, weight, torch.from_numpy(y), torch.from_numpy(beta))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(w.values()), recipe.clip)
        optimiser.step()
    return {leaf: value.detach().numpy() for leaf, value in w.items()}


def training_against_torch(
    name: str, rows: int = 250, dim: int = 500, layers: int = 16, batch: int = 64, steps: int = 20
) -> Sides:
    """Training on one matrix, from the same start on the same problems."""
    import torch

    torch.set_num_threads(1)
    task = SparseRecovery.create(dim, rows, max(1, dim // 50))
    recipe = learning.Recipe(steps, batch, RATE if name == "lista-cp" else 1e-3)
    X = np.array(task.matrices(jax.random.key(0), 1, jnp.float32)[0])
    start = learning.start_layers(name, layers, 1, X if name == "lista-cp" else None)
    keys = jax.random.split(jax.random.key(1), 1)
    problems = _drawn_before(task, keys[0], X, steps, batch)
    ours = partial(learning.train, name, task, keys, start, recipe, X)
    peer = partial(_torch_trained, name, X, start, recipe, problems)

    def check() -> Accuracy:
        """By how much the trained numbers differ, as a share of how far they have come."""
        mine, theirs = ours().layers, peer()
        apart = [
            np.linalg.norm(mine[leaf][-1, 0] - theirs[leaf])
            / np.linalg.norm(theirs[leaf] - start[leaf][0]) for leaf in theirs]
        return Accuracy(float(max(apart)), 1e-2)

    return Sides(ours, peer, check)


def _against_torch(name: str, label: str) -> Benchmark:
    return Benchmark(
        f"sparse-recovery.train-{name}",
        f"20 training steps of {label}, 16 layers, batch 64, on one matrix 250 x 500: ours, which"
        " draws its problems, against PyTorch eager, which gets them, one thread each",
        partial(training_against_torch, name), Target(">=", 1.0),
        tiny={"rows": 6, "dim": 50, "layers": 3, "batch": 8, "steps": 4}, needs="torch")


BENCHMARKS = (
    _against_torch("lista-cp", "LISTA-CP"), _against_torch("alista", "ALISTA"),
    torch_steps.benchmark(
        "sparse-recovery.decoder-step",
        "the paper's small decoder (12 layers, 21 tokens, batch 64)", torch_steps.paper_decoder))
