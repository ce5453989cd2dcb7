"""One matrix for all problems of a batch: the same numbers as with a copy for each, in running, in
sampling and in training, and as a plain loop in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saccade.studies.sparse_recovery.dynamics import learning
from saccade.studies.sparse_recovery.models.steps import prepare
from saccade.studies.sparse_recovery.models.unrolled import ALGORITHMS, unroll
from saccade.studies.sparse_recovery.task import SparseRecovery

ROWS, DIM, K, BATCH = 5, 8, 6, 7
TASK = SparseRecovery.create(DIM, ROWS, 2, noise=0.2)
X = np.asarray(TASK.matrices(jax.random.key(1), 1))[0]
SAMPLE = TASK.sample_on(jax.random.key(2), X, BATCH)
Y = np.asarray(SAMPLE.y)
COPIES = np.repeat(X[None], BATCH, 0)


def layers_of(name, rng):
    """As training begins, moved to a generic point."""
    layers = ALGORITHMS[name].start(layers=K, X=X)
    layers = {leaf: value * (0.5 + rng.random(value.shape)) for leaf, value in layers.items()}
    if name == "lista-block":
        layers["groups"] = np.broadcast_to(np.repeat(np.eye(DIM // 2), 2, 0), (K, DIM, DIM // 2))
    return layers


@pytest.mark.parametrize("name", ALGORITHMS)
def test_one_matrix_is_the_same_as_copies_of_it(name):
    layers = layers_of(name, np.random.default_rng(3))
    shared = unroll(name, layers, X, Y)
    np.testing.assert_allclose(shared, unroll(name, layers, COPIES, Y), atol=1e-12)
    assert np.abs(shared).max() > 0.1
    mask = np.arange(DIM) % 3 != 1
    masked = unroll(name, layers, X, Y, mask)
    np.testing.assert_allclose(masked, unroll(name, layers, COPIES, Y, mask), atol=1e-12)
    assert (np.asarray(masked)[..., ~mask] == 0).all()


@pytest.mark.parametrize("name", ["ista", "alista", "lista-adaptive"])
def test_masks_that_differ_make_matrices_that_differ(name):
    masks = np.random.default_rng(5).random((BATCH, DIM)) < 0.7
    layers = layers_of(name, np.random.default_rng(4))
    np.testing.assert_allclose(
        unroll(name, layers, X, Y, masks), unroll(name, layers, COPIES, Y, masks), atol=1e-12)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 10**6), scale=st.floats(0.1, 10), lam=st.floats(0.01, 1),
    name=st.sampled_from(("ista", "fista", "cd")))
def test_classical_steps_are_a_loop_in_numpy_and_do_not_notice_the_scale(seed, scale, lam, name):
    """On c X the penalty is c lam and the estimate b/c."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(ROWS, DIM)), rng.normal(size=(BATCH, ROWS))
    found = np.asarray(unroll(name, {"lam": np.full(K, lam)}, X, y))
    scaled = np.asarray(unroll(name, {"lam": np.full(K, scale * lam)}, scale * X, y))
    np.testing.assert_allclose(scale * scaled, found, atol=1e-9)
    expected = np.stack([loop(name, X, one, lam) for one in y], 1)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def loop(name, X, y, lam):
    """The iterates of one problem, from the definitions."""
    L, b, z, t, visited = np.linalg.norm(X, 2) ** 2, np.zeros(DIM), np.zeros(DIM), 1.0, []
    for _ in range(K):
        if name == "cd":
            b = b.copy()
            for j, x in enumerate(X.T):
                pull = x @ (y - X @ b) + x @ x * b[j]
                b[j] = np.sign(pull) * max(abs(pull) - lam, 0) / (x @ x)
        else:
            point = z if name == "fista" else b
            u = point - X.T @ (X @ point - y) / L
            new = np.sign(u) * np.maximum(np.abs(u) - lam / L, 0)
            later = (1 + np.sqrt(1 + 4 * t * t)) / 2
            b, z, t = new, new + (t - 1) / later * (new - b), later
        visited.append(b)
    return np.stack(visited)


@settings(deadline=None, max_examples=10)
@given(order=st.permutations(range(BATCH)))
def test_problems_do_not_see_each_other(order):
    layers = layers_of("alista", np.random.default_rng(0))
    np.testing.assert_allclose(
        unroll("alista", layers, X, Y[order]), unroll("alista", layers, X, Y)[:, order], atol=1e-12)


def test_nothing_is_computed_or_stored_for_each_problem():
    problem = prepare(X, Y, weight=True)
    assert problem.X.shape == (ROWS, DIM) and problem.per_norm.shape == (1,)
    assert problem.weight is not None and problem.weight.shape == (ROWS, DIM)


def test_problems_on_one_matrix_are_those_on_its_copies():
    on_copies = TASK.sample_on(jax.random.key(2), COPIES)
    assert SAMPLE.X.shape == (ROWS, DIM) and SAMPLE.count.tolist() == [ROWS] * BATCH
    for mine, other in zip(SAMPLE[1:], on_copies[1:], strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-12)


@pytest.mark.parametrize("name", ["lista", "lista-cp", "alista", "lista-vm"])
def test_training_on_one_matrix_is_the_step_written_out(name):
    """Adam's steps, one by one, on a matrix for each problem, with the problems of these keys."""
    recipe, keys = learning.Recipe(5, 6, 1e-2), jax.random.split(jax.random.key(4), 2)
    start = learning.start_layers(name, 3, 2, X)
    trained = learning.train(name, TASK, keys, start, recipe, X, record=(0, 2))
    for seed in range(2):
        key, optimiser = keys[seed], recipe.optimiser()
        layers = {leaf: value[seed] for leaf, value in start.items()}
        moments = optimiser.init(layers)
        for step in range(5):
            if step in (0, 2):
                record = trained.at((0, 2).index(step), seed)
                for leaf, value in record.items():
                    np.testing.assert_allclose(value, np.asarray(layers[leaf]), atol=2e-5)
            key, draw = jax.random.split(key)
            sample = TASK.sample_on(draw, np.float32(np.repeat(X[None], 6, 0)))
            slope = jax.grad(_loss)(layers, name, sample)
            updates, moments = optimiser.update(slope, moments, layers)
            layers = jax.tree.map(jnp.add, layers, updates)
        assert np.abs(layers["theta"] - start["theta"][seed]).max() > 1e-3
        for leaf, value in trained.at(-1, seed).items():
            np.testing.assert_allclose(
                value, np.abs(layers[leaf]) if leaf == "theta" else layers[leaf], atol=2e-5)


def _loss(layers, name, sample):
    used = {leaf: jnp.abs(value) if leaf == "theta" else value for leaf, value in layers.items()}
    b = unroll(name, used, sample.X, sample.y)[-1]
    return ((b - sample.beta) ** 2).sum(1).mean()
