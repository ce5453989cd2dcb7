"""Many LASSO problems at once: against scikit-learn's Lasso, optimality, plain unrolled steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from saccade.estimators import SparseRecovery
from saccade.estimators.lasso import Problems, begin, polish, step


def problems(seed=0, count=20, rows=10, columns=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, rows, columns))
    b = np.where(rng.random((count, columns)) < 0.15, rng.standard_normal((count, columns)), 0)
    return X, np.einsum("pnd,pd->pn", X, b), b


def lasso(X, y, alpha, intercept=False):
    return Lasso(alpha=alpha, fit_intercept=intercept, tol=1e-13, max_iter=200_000).fit(X, y)


@pytest.mark.parametrize("alpha", [0.003, 0.05, 0.5])
@pytest.mark.parametrize("intercept", [False, True])
def test_shared_matrix_against_scikit_learn(alpha, intercept):
    X, Y, _ = problems()
    Y = Y.T + 3 * intercept
    model = SparseRecovery(alpha=alpha, fit_intercept=intercept).fit(X[0], Y)
    peers = [lasso(X[0], y, alpha, intercept) for y in Y.T]
    assert np.abs(model.coef_ - [peer.coef_ for peer in peers]).max() < 1e-6
    assert np.abs(model.predict(X[0]) - np.stack([p.predict(X[0]) for p in peers], 1)).max() < 1e-6
    single = SparseRecovery(alpha=alpha, fit_intercept=intercept).fit(X[0], Y[:, 3])
    assert single.coef_.shape == (20,) and np.allclose(single.coef_, model.coef_[3], atol=1e-8)


def test_own_matrices_against_scikit_learn():
    X, Y, _ = problems(1)
    model = SparseRecovery(alpha=0.05).fit(X, Y)
    expected = np.stack([lasso(x, y, 0.05).coef_ for x, y in zip(X, Y)])
    assert np.abs(model.coef_ - expected).max() < 1e-6
    assert model.predict(X).shape == (20, 10)
    listed = SparseRecovery(alpha=0.05).fit(list(X), list(Y))
    assert np.allclose(listed.coef_, model.coef_, atol=1e-12)
    flat = SparseRecovery(alpha=0.05, n_tokens=10).fit(X.reshape(20, -1), Y)
    assert np.allclose(flat.coef_, model.coef_, atol=1e-12)


def test_masked_measurements_are_not_there():
    X, Y, _ = problems(2)
    mask = np.arange(10) < np.arange(4, 24)[:, None] % 7 + 4
    X[~mask], Y[~mask] = np.nan, np.nan
    model = SparseRecovery(alpha=0.05).fit(X, Y, mask=mask)
    expected = [lasso(x[keep], y[keep], 0.05).coef_ for x, y, keep in zip(X, Y, mask)]
    assert np.abs(model.coef_ - np.stack(expected)).max() < 1e-6
    table = model.predict(X, mask)
    assert (table[~mask] == 0).all()
    listed = SparseRecovery(alpha=0.05).fit(list(X), list(Y), mask=list(mask))
    assert np.array_equal(listed.coef_, model.coef_)
    assert np.array_equal(np.stack(listed.predict(list(X), list(mask))), table)


@given(seed=st.integers(0, 1000), alpha=st.floats(0.01, 2))
def test_the_gap_bounds_the_distance_to_the_minimum(seed, alpha):
    X, Y, _ = problems(seed, count=3, rows=6, columns=4)

    def value(coef):
        misfit = Y - np.einsum("pnd,pd->pn", X, coef)
        return (misfit**2).sum(1) / (2 * 6) + alpha * np.abs(coef).sum(1)

    rough = SparseRecovery(alpha=alpha, n_steps=3).fit(X, Y)
    exact = SparseRecovery(alpha=alpha).fit(X, Y)
    assert (value(rough.coef_) - value(exact.coef_) <= rough.dual_gap_ + 1e-12).all()
    slope = np.einsum("pnd,pn->pd", X, Y - np.einsum("pnd,pd->pn", X, exact.coef_)) / 6
    assert (np.abs(slope) <= alpha + 1e-5).all()  # optimality: |X^T r|/N <= alpha everywhere,
    on = exact.support_
    assert np.abs(slope[on] - alpha * np.sign(exact.coef_[on])).max(initial=0) < 1e-5  # = on it


@pytest.mark.parametrize("method", ["ista", "fista"])
def test_unrolled_steps_are_the_textbook_s(method):
    X, Y, _ = problems(3, count=2)
    model = SparseRecovery(alpha=0.1, n_steps=7, method=method).fit(X, Y)
    for x, y, ours in zip(X, Y, model.coef_):
        step = 10 / np.linalg.norm(x, 2) ** 2
        b = z = np.zeros(20)
        t = 1.0
        for _ in range(7):
            u = z - step * x.T @ (x @ z - y) / 10
            new = np.sign(u) * np.maximum(np.abs(u) - 0.1 * step, 0)
            following = (1 + np.sqrt(1 + 4 * t * t)) / 2
            z = new if method == "ista" else new + (t - 1) / following * (new - b)
            b, t = new, following
        assert np.abs(ours - b).max() < 1e-8
    assert model.n_iter_ == 7


def test_a_penalty_too_large_gives_zero_and_a_zero_column_stays_zero():
    X, Y, _ = problems(4)
    top = np.abs(np.einsum("pnd,pn->pd", X, Y)).max() / 10
    assert not SparseRecovery(alpha=1.0001 * top).fit(X, Y).support_.any()
    X[:, :, 0] = 0
    assert (SparseRecovery(alpha=0.01).fit(X, Y).coef_[:, 0] == 0).all()


def test_exact_recovery_without_noise():
    X, Y, b = problems(5, count=30, rows=18)
    model = SparseRecovery(alpha=1e-4).fit(X, Y)
    assert np.median(np.abs(model.coef_ - b).max(axis=1)) < 1e-3


def test_too_few_steps_warn():
    X, Y, _ = problems(6)
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=2"):
        SparseRecovery(alpha=1e-4, max_iter=2).fit(X, Y)


def noisy(seed, **shape):
    X, Y, _ = problems(seed, **shape)
    return X, Y + 0.5 * np.random.default_rng(seed).standard_normal(Y.shape)


def gap(x, y, b, alpha):
    """Primal minus dual value at the residual r, made feasible: u = r min(1, alpha/|X^T r/N|_max),
    D = (|y|^2 - |y - u|^2)/(2N)."""
    residual, n = y - x @ b, len(y)
    primal = residual @ residual / (2 * n) + alpha * np.abs(b).sum()
    feasible = residual * min(1.0, alpha / np.abs(x.T @ residual / n).max())
    return primal - (y @ y - (y - feasible) @ (y - feasible)) / (2 * n)


def test_the_gap_is_primal_minus_dual():
    X, Y = noisy(7, count=4, rows=9, columns=5)
    model = SparseRecovery(alpha=0.07, n_steps=2).fit(X, Y)
    expected = [gap(*one, 0.07) for one in zip(X, Y, model.coef_)]
    assert model.dual_gap_ == pytest.approx(expected, abs=1e-12) and min(expected) > 1e-4


def test_every_problem_ends_with_the_gap_asked_for():
    """Also when problems of other scales and conditions leave early, and the rest goes on."""
    X, Y = noisy(8, count=12, rows=12, columns=12)
    scale = 10.0 ** np.random.default_rng(0).permutation(np.linspace(-1.5, 1.5, 12))
    X[::3] += 3.0  # one direction far longer than the others: slow
    X, Y = X * scale[:, None, None], Y * scale[:, None]
    model = SparseRecovery(alpha=1e-4, tol=1e-10).fit(X, Y)
    gaps = np.array([gap(*one, 1e-4) for one in zip(X, Y, model.coef_)])
    assert (gaps <= 1.01e-10 * np.square(Y).mean(axis=1)).all()


def test_momentum_that_points_uphill_is_dropped():
    """O'Donoghue and Candes: t begins anew at 1 where (z - b_new) . (b_new - b) > 0."""
    X, Y = noisy(9, count=6, rows=8, columns=4)
    own = Problems(np.einsum("pnd,pne->pde", X, X) / 8, np.einsum("pnd,pn->pd", X, Y) / 8, Y[:, 0])
    at, length = begin(own), own.lipschitz()
    dropped = 0
    for _ in range(40):
        new = step(own, at, 0.01, length, "fista", restart=True)
        for p in range(6):
            b = new.coefficients[p]
            uphill = (at.ahead[p] - b) @ (b - at.coefficients[p])
            t = 1.0 if uphill > 0 else at.t[p, 0]
            dropped += uphill > 0
            assert new.t[p, 0] == pytest.approx((1 + np.sqrt(1 + 4 * t * t)) / 2)
        at = new
    assert 3 < dropped < 200


def test_the_right_support_is_polished_to_the_minimum():
    """From the signs of the solution, with other sizes: one linear system gives the solution."""
    X, Y = noisy(10, count=5, rows=15, columns=8)
    exact = np.stack([lasso(x, y, 0.05).coef_ for x, y in zip(X, Y)])
    own = Problems(
        np.einsum("pnd,pne->pde", X, X) / 15, np.einsum("pnd,pn->pd", X, Y) / 15,
        np.square(Y).mean(axis=1))
    assert np.abs(polish(own, 3 * np.sign(exact), 0.05) - exact).max() < 1e-9
    assert not polish(own, np.zeros_like(exact), 0.05).any()


def test_own_intercepts_and_a_matrix_shared_are_predicted_with():
    X, Y = noisy(11, count=3, rows=12, columns=4)
    level = np.array([5.0, -2.0, 30.0])
    model = SparseRecovery(alpha=0.05, fit_intercept=True).fit(X, Y + level[:, None])
    for x, y, b, c, ours in zip(
        X, Y + level[:, None], model.coef_, model.intercept_, model.predict(X)
    ):
        peer = lasso(x, y, 0.05, intercept=True)
        assert np.abs(b - peer.coef_).max() < 1e-6 and c == pytest.approx(peer.intercept_, abs=1e-6)
        assert np.abs(ours - peer.predict(x)).max() < 1e-6
