"""The unrolled algorithms against plain loops written from their definitions, and their
invariances."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.sparse_recovery.models.steps import alista_weight, soft_threshold, squared_norm
from saccade.studies.sparse_recovery.models.unrolled import (
    ALGORITHMS,
    algorithm_named,
    lista_vm_prefixes,
    unroll,
)
from saccade.studies.sparse_recovery.task import SparseRecovery

ROWS, DIM, K, BATCH = 4, 6, 5, 3
RNG = np.random.default_rng(0)
SAMPLE = SparseRecovery.create(DIM, ROWS, 2, noise=0.1).sample(jax.random.key(0), BATCH)
X, Y = np.asarray(SAMPLE.X), np.asarray(SAMPLE.y)


def shrink(u, t):
    return np.sign(u) * np.maximum(np.abs(u) - t, 0)


def by_hand(name, layers, X, y):
    """One problem, from the formulas."""
    b, z, t = np.zeros(DIM), np.zeros(DIM), 1.0
    L = np.linalg.norm(X, 2) ** 2
    P = np.linalg.pinv(X @ X.T)
    W = np.stack([P @ x / (x @ P @ x) for x in X.T], 1)
    found = []
    for k in range(K):
        at = {key: np.asarray(value[k]) for key, value in layers.items()}
        if name == "ista":
            b = shrink(b - X.T @ (X @ b - y) / L, at["lam"] / L)
        elif name == "fista":
            new = shrink(z - X.T @ (X @ z - y) / L, at["lam"] / L)
            following = (1 + np.sqrt(1 + 4 * t * t)) / 2
            b, z, t = new, new + (t - 1) / following * (new - b), following
        elif name == "cd":
            b = b.copy()
            for j in range(DIM):
                rho = X[:, j] @ (y - X @ b) + X[:, j] @ X[:, j] * b[j]
                b[j] = shrink(rho, at["lam"]) / (X[:, j] @ X[:, j])
        elif name == "lista":
            b = shrink(at["W1"] @ y + at["W2"] @ b, at["theta"])
        elif name == "lista-cp":
            b = shrink(b + at["W"].T @ (y - X @ b), at["theta"])
        elif name == "alista":
            b = shrink(b + at["gamma"] * W.T @ (y - X @ b), at["theta"])
        elif name == "lista-vm":
            b = shrink(b - at["M"] @ X.T @ (X @ b - y) / (2 * ROWS + 1), at["theta"])
        elif name == "lista-adaptive":
            b = shrink(b - at["gamma"] * X.T @ (X @ b - y) / L, at["theta"])
        elif name == "lista-block":
            u = b - at["M"] * X.T @ (X @ b - y) / (2 * ROWS + 1)
            b = np.concatenate(
                [v * max(1 - at["theta"] / np.linalg.norm(v), 0) for v in u.reshape(-1, 2)])
        found.append(b)
    return np.stack(found)


def random_layers(name):
    theta = 0.1 * RNG.random((K, DIM))
    shapes = {
        "ista": {"lam": ()}, "fista": {"lam": ()}, "cd": {"lam": ()},
        "lista": {"W1": (DIM, ROWS), "W2": (DIM, DIM)}, "lista-cp": {"W": (ROWS, DIM)},
        "alista": {"gamma": ()}, "lista-vm": {"M": (DIM, DIM)}, "lista-adaptive": {"gamma": ()},
        "lista-block": {"M": ()}}
    layers = {key: 0.3 * RNG.random((K, *shape)) for key, shape in shapes[name].items()}
    if "lam" not in layers:
        layers["theta"] = theta[:, 0] if name == "lista-block" else theta
    if name == "lista-block":
        layers["groups"] = np.broadcast_to(np.repeat(np.eye(DIM // 2), 2, 0), (K, DIM, DIM // 2))
    return {key: jnp.asarray(value) for key, value in layers.items()}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_each_algorithm_is_its_definition(name):
    layers = random_layers(name)
    found = unroll(name, layers, X, Y)
    expected = np.stack([by_hand(name, layers, x, y) for x, y in zip(X, Y, strict=True)], 1)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_starts_of_training_run_and_the_lista_starts_are_ista(name):
    layers = ALGORITHMS[name].start(layers=K, X=X[0], threshold=0.2)
    if name == "lista-block":
        layers["groups"] = jnp.broadcast_to(jnp.repeat(jnp.eye(DIM // 2), 2, 0), (K, DIM, DIM // 2))
    found = unroll(name, layers, X[:1], Y[:1])
    assert found.shape == (K, 1, DIM) and np.isfinite(found).all()
    if name in ("lista", "lista-cp", "lista-adaptive"):
        L = np.linalg.norm(X[0], 2) ** 2
        ista = unroll("ista", {"lam": jnp.full(K, 0.2 * L)}, X[:1], Y[:1])
        np.testing.assert_allclose(found, ista, atol=1e-12)


def test_soft_threshold_of_numbers_and_vectors():
    np.testing.assert_array_equal(
        soft_threshold(jnp.array([2.0, -2.0, 0.3, -0.3]), 0.5), [1.5, -1.5, 0, 0])
    np.testing.assert_array_equal(
        soft_threshold(jnp.array([2.0, -2.0]), jnp.array([0.0, 3.0])), [2.0, 0.0])


def test_degenerate_problems_stay_at_zero():
    for name in ("ista", "fista", "cd", "alista", "lista-vm", "lista-adaptive"):
        layers = random_layers(name)
        assert (unroll(name, layers, np.zeros((1, ROWS, DIM)), np.ones((1, ROWS))) == 0).all(), name
    nothing = unroll("lista-vm", random_layers("lista-vm"), np.zeros((1, 0, DIM)), np.zeros((1, 0)))
    assert (nothing == 0).all()
    holed = X.copy()
    holed[:, :, 2] = 0
    for name in ("ista", "fista", "cd", "alista"):
        assert (unroll(name, random_layers(name), holed, Y)[..., 2] == 0).all(), name


def test_the_closed_form_weight():
    W = np.asarray(alista_weight(jnp.asarray(X)))
    np.testing.assert_allclose(np.einsum("bnd,bnd->bd", W, X), 1, atol=1e-12)
    for w, x in zip(W, X, strict=True):  # any other weight with unit diagonal has a larger norm
        base = ((w.T @ x) ** 2).sum()
        for _ in range(20):
            other = RNG.normal(size=w.shape)
            other = w + 0.1 * (other - x * (other * x).sum(0) / (x**2).sum(0))
            assert ((other.T @ x) ** 2).sum() > base
    tall = RNG.normal(size=(1, 9, 4))
    np.testing.assert_allclose(
        np.asarray(alista_weight(jnp.asarray(tall)))[0].T @ tall[0], np.eye(4), atol=1e-12)
    np.testing.assert_allclose(squared_norm(jnp.asarray(tall))[0], np.linalg.norm(tall[0], 2) ** 2)


def test_prefixes_are_runs_on_the_first_rows():
    layers = random_layers("lista-vm")
    found = np.asarray(lista_vm_prefixes(X[0], Y[0], layers["M"], layers["theta"]))
    assert (found[:, 0] == 0).all()
    for n in range(1, ROWS + 1):
        alone = unroll("lista-vm", layers, X[:1, :n], Y[:1, :n])
        np.testing.assert_allclose(found[:, n], alone[:, 0], atol=1e-13)


def test_a_mask_restricts():
    mask = np.arange(DIM) < 3
    layers = {"gamma": jnp.full(K, 0.8), "theta": jnp.full(K, 0.05)}
    for name in ("alista", "lista-adaptive"):
        told = unroll(name, layers, X, Y, mask)
        np.testing.assert_allclose(told[..., :3], unroll(name, layers, X[:, :, :3], Y), atol=1e-12)
        assert (told[..., 3:] == 0).all()


def test_unknown_algorithms_are_refused():
    with pytest.raises(InvalidInput, match="lista-vm"):
        algorithm_named("lista-vn")
