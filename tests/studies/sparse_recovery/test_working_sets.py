"""One large problem: the minimum of the exact solver and of scikit-learn, ties, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from saccade.errors import InvalidInput
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.dynamics import working_sets
from saccade.studies.sparse_recovery.dynamics.solvers import relative_gap, solve_exactly
from saccade.studies.sparse_recovery.dynamics.working_sets import solve_large

RNG = np.random.default_rng(2)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10**6), rows=st.integers(1, 30), dim=st.integers(1, 60),
    share=st.floats(1e-3, 1.2))
def test_it_reaches_its_gap_and_the_exact_minimum(seed, rows, dim, share):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(rows, dim)), rng.normal(size=rows)
    lam = share * float(theory.lam_max(X, y))
    solved = solve_large(X, y, lam, 1e-9)
    assert solved.gap <= 1e-9
    assert solved.gap == pytest.approx(relative_gap(X, y, solved.coefficients, lam), abs=1e-13)
    exact = theory.lasso_objective(X, y, solve_exactly(X, y, lam), lam)
    assert theory.lasso_objective(X, y, solved.coefficients, lam) - exact <= 1e-9 * 0.5 * (y @ y)


def test_a_larger_problem_is_that_of_scikit_learn():
    X = RNG.normal(size=(150, 700))
    y = X[:, :20] @ RNG.normal(size=20) + RNG.normal(size=150)
    lam = 0.05 * float(theory.lam_max(X, y))
    solved = solve_large(X, y, lam)
    peer = Lasso(alpha=lam / 150, fit_intercept=False, tol=1e-12, max_iter=10**5).fit(X, y).coef_
    np.testing.assert_allclose(solved.coefficients, peer, atol=1e-5)
    assert solved.gap < 1e-12 and 1 < solved.rounds < 30


def test_dependent_columns_are_left_to_the_exact_solver(monkeypatch):
    X = RNG.normal(size=(6, 4)) @ RNG.normal(size=(4, 30))
    X[:, 10:20] = X[:, :10]
    y = RNG.normal(size=6)
    asked = []
    monkeypatch.setattr(
        working_sets, "solve_exactly", lambda *given: asked.append(given) or solve_exactly(*given))
    for share in (0.3, 0.01, 1e-4):
        assert solve_large(X, y, share * float(theory.lam_max(X, y))).gap <= 1e-8
    assert asked


def test_degenerate_problems():
    nothing = solve_large(np.zeros((3, 5)), np.ones(3), 0.1)
    assert (nothing.coefficients == 0).all() and nothing.gap == 0
    assert solve_large(np.zeros((0, 5)), np.zeros(0), 0.1).coefficients.shape == (5,)
    assert solve_large(RNG.normal(size=(3, 5)), np.zeros(3), 0.1).gap == 0
    X, y = RNG.normal(size=(9, 4)), RNG.normal(size=9)
    np.testing.assert_allclose(
        solve_large(X, y, 0.0).coefficients, np.linalg.lstsq(X, y, rcond=None)[0])


@pytest.mark.parametrize(
    ("X", "y", "lam", "tolerance", "word"),
    [
        (np.zeros((2, 3)), np.zeros(3), 0.1, 1e-8, "y"),
        (np.zeros((2, 3)), np.zeros(2), -0.1, 1e-8, "lam"),
        (np.zeros((2, 3)), np.zeros(2), 0.1, 0.0, "tolerance"),
        (np.full((2, 3), np.inf), np.zeros(2), 0.1, 1e-8, "finite")])
def test_bad_problems_are_refused(X, y, lam, tolerance, word):
    with pytest.raises(InvalidInput, match=word):
        solve_large(X, y, lam, tolerance)
