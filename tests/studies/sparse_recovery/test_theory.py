"""The LASSO's gap, coherence by brute force, and the certificate on problems where its numbers can
be worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saccade.errors import InvalidInput
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.dynamics.solvers import certified, solve_exactly
from saccade.studies.sparse_recovery.models.steps import alista_weight

RNG = np.random.default_rng(5)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(3, 5), (6, 3), (1, 1)]), st.floats(0.01, 2.0))
def test_the_gap_bounds_what_is_left_and_vanishes_at_the_minimum(seed, size, lam):
    rng = np.random.default_rng(seed)
    X, y, b = rng.normal(size=size), rng.normal(size=size[0]), rng.normal(size=size[1])
    best = solve_exactly(X, y, lam)
    left = theory.lasso_objective(X, y, b, lam) - theory.lasso_objective(X, y, best, lam)
    assert -1e-12 <= left <= theory.duality_gap(X, y, b, lam) + 1e-12
    assert theory.duality_gap(X, y, best, lam) <= 1e-10 * (0.5 * y @ y)


def test_the_gap_is_the_textbook_formula():
    X, y, b, lam = RNG.normal(size=(4, 6)), RNG.normal(size=4), RNG.normal(size=6), 0.3
    r = y - X @ b
    theta = r / max(lam, np.abs(X.T @ r).max())
    dual = 0.5 * y @ y - lam**2 / 2 * ((theta - y / lam) ** 2).sum()
    np.testing.assert_allclose(
        theory.duality_gap(X, y, b, lam), theory.lasso_objective(X, y, b, lam) - dual)
    assert (
        theory.duality_gap(X, y, np.linalg.pinv(X) @ y, 0.0) < 1e-14
    )  # without a penalty: least squares
    batch = theory.duality_gap(
        np.stack([X, 2 * X]), np.stack([y, y]), np.stack([b, b]), np.array([lam, 0.1]))
    np.testing.assert_allclose(batch[0], theory.duality_gap(X, y, b, lam))


def test_from_lam_max_on_the_solution_is_zero():
    X, y = RNG.normal(size=(5, 8)), RNG.normal(size=5)
    top = theory.lam_max(X, y)
    assert (solve_exactly(X, y, top) == 0).all() and (solve_exactly(X, y, 0.999 * top) != 0).any()


def test_the_linear_program_is_the_smallest_coherence():
    X = RNG.normal(size=(3, 5))
    best = theory.lp_coherence(X)
    W = np.asarray(alista_weight(X))
    assert best <= theory.coherence(W, X) + 1e-9 <= theory.normalised_coherence(X) + 1
    for _ in range(300):  # no random feasible weight beats it
        V = W + 0.3 * RNG.normal(size=W.shape)
        V = V / (V * X).sum(0)
        assert theory.coherence(V, X) >= best - 1e-9
    assert theory.lp_coherence(RNG.normal(size=(4, 1))) == 0.0
    with pytest.raises(InvalidInput, match="zero column"):
        theory.lp_coherence(np.array([[1.0, 0.0], [2.0, 0.0]]))


@pytest.mark.parametrize("size", [(10, 20), (30, 20)])
def test_projected_descent_reaches_the_closed_form(size):
    X = RNG.normal(size=size)
    W = np.asarray(alista_weight(X))
    np.testing.assert_allclose(theory.frobenius_by_projection(X, 4000), W, atol=1e-9)
    if size[0] > size[1]:
        np.testing.assert_allclose(
            [theory.frobenius_objective(W, X), theory.coherence(W, X)], [20, 0], atol=1e-9)


def test_a_certificate_by_hand():
    """Orthogonal columns of known lengths: G = diag(1, 4)/2, so mu = 0, delta = max |1 - g/2|, |1 -
    2 g|."""
    X = np.array([[1.0, 0.0], [0.0, 2.0]])
    made = theory.certificate(X, np.array([3.0, 0.0]), np.array([0.2, 0.4]), 0.5, 2)
    assert (made.mu, made.delta, made.nu) == (0.0, 0.75, pytest.approx(0.4))
    assert made.rate == pytest.approx(0.75)
    np.testing.assert_allclose(made.bounds, [3.0, 0.75 * 3 + 2 * 0.5 * 0.4, 0.75 * 2.65 + 0.4])
    np.testing.assert_allclose(made.thresholds, [0.5 * 0.4] * 2)


@pytest.mark.parametrize(
    ("noise", "design"), [(0.0, "identity"), (0.1, "identity"), (0.05, "correlated")])
def test_certificates_keep_their_promise(noise, design):
    rng = np.random.default_rng(2)
    root = (
        np.linalg.cholesky(0.3 * np.ones((6, 6)) + 0.7 * np.eye(6)) if design == "correlated"
        else np.eye(6))
    for _ in range(10):
        X = rng.normal(size=(800, 6)) @ root.T
        beta = np.array([1.0, -2.0, 0, 0, 0, 0])
        eps = noise * rng.normal(size=800)
        promise, b = certified(X, X @ beta + eps, beta, eps, 0.9, 30, root @ root.T)
        assert promise.rate < 1
        assert (np.abs(b - beta).sum(1) <= promise.bounds * (1 + 1e-12) + 1e-13).all()


def test_rates_and_reported_forms():
    assert theory.ista_bound(0, 1.0, 1.0) == np.inf and theory.ista_bound(
        4, 2.0, 3.0) == pytest.approx(18 / 8)
    assert theory.fista_bound(0, 2.0, 3.0) == 36 and theory.fista_bound(2, 2.0, 3.0) == 4
    assert theory.reported_threshold(20, 3, 0.1) == pytest.approx(8 * 100 * np.log(600))
    rates = theory.reported_rate(np.array([1e3, 1e5, 1e10]), 20, 3, 1.0, 0.1)
    assert rates[0] < rates[1] < rates[2] == pytest.approx(np.log(3), abs=1e-3)
