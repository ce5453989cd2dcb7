"""Solvers and training: minima against scikit-learn and least squares, ties and dependent columns,
learning that learns."""

import jax
import numpy as np
import pytest
from sklearn.linear_model import Lasso

from saccade.errors import Diverged, InvalidInput
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.dynamics import learning, solvers
from saccade.studies.sparse_recovery.dynamics.solvers import relative_gap, solve_exactly
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import SparseRecovery

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(11)


def conditioned(rows, dim, decades):
    u, s, v = np.linalg.svd(RNG.normal(size=(rows, dim)), full_matrices=False)
    return u @ np.diag(np.logspace(0, -decades, len(s))) @ v


@pytest.mark.parametrize("size", [(10, 20), (30, 8), (12, 12), (1, 5), (4, 1)])
@pytest.mark.parametrize("decades", [0, 4])
@pytest.mark.parametrize("share", [1e-4, 0.03, 0.5])
def test_one_problem_to_rounding(size, decades, share):
    X = conditioned(*size, decades)
    y = X @ RNG.normal(size=size[1]) + 0.01 * RNG.normal(size=size[0])
    lam = share * theory.lam_max(X, y)
    b = solve_exactly(X, y, lam)
    assert relative_gap(X, y, b, lam) < 1e-10


def test_duplicate_opposite_and_zero_columns():
    X = RNG.normal(size=(4, 6))
    X[:, 1], X[:, 2], X[:, 3] = X[:, 0], -X[:, 0], 0
    y = RNG.normal(size=4)
    for lam in (1e-3, 0.1, 1.0):
        b = solve_exactly(X, y, lam)
        assert relative_gap(X, y, b, lam) < 1e-12 and b[3] == 0
    start = np.array(
        [5.0, -5.0, 3.0, 0, 1, -1])  # a start full of waste in directions that X does not see
    assert relative_gap(X, y, solve_exactly(X, y, 0.1, start), 0.1) < 1e-12


def test_without_penalty_it_is_least_squares():
    X, y = RNG.normal(size=(9, 4)), RNG.normal(size=9)
    np.testing.assert_allclose(solve_exactly(X, y, 0.0), np.linalg.lstsq(X, y, rcond=None)[0])


@pytest.mark.parametrize("design", ["gaussian", "rademacher", "orthonormal"])
def test_batches_reach_their_gap_and_agree_with_scikit_learn(design):
    sample = SparseRecovery.create(12, 6, 3, noise=0.05, design=design).sample(
        jax.random.key(4), 200)
    X, y = np.asarray(sample.X), np.asarray(sample.y)
    lam = np.geomspace(0.003, 10, 200)
    solved = solvers.solve_lasso(X, y, lam)
    assert (solved.gap <= 1e-10 * 0.5 * (y**2).sum(1)).all()
    assert solved.finished_singly < 10  # the paths do the work
    for k in range(0, 200, 20):
        peer = (
            Lasso(alpha=lam[k] / 6, fit_intercept=False, tol=1e-13, max_iter=10**6)
            .fit(X[k], y[k])
            .coef_)
        assert abs(theory.lasso_objective(X[k], y[k], peer, lam[k]) - solved.objective[k]) < 1e-9


def test_a_path_that_is_led_astray_is_finished_singly(monkeypatch):
    monkeypatch.setattr(solvers, "follow_paths", lambda G, c, lam, most: np.full(c.shape, np.nan))
    X, y = RNG.normal(size=(3, 4, 7)), RNG.normal(size=(3, 4))
    solved = solvers.solve_lasso(X, y, 0.1)
    assert solved.finished_singly == 3 and (solved.gap < 1e-12).all()


def test_degenerate_batches():
    empty = solvers.solve_lasso(np.zeros((2, 0, 3)), np.zeros((2, 0)), 0.1)
    assert (empty.coefficients == 0).all() and (empty.gap == 0).all()
    zero = solvers.solve_lasso(np.zeros((1, 2, 3)), np.ones((1, 2)), 0.0)
    assert (zero.coefficients == 0).all() and zero.objective[0] == 1.0
    large = solvers.solve_lasso(RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 3)), 1e3)
    assert (large.coefficients == 0).all()


@pytest.mark.parametrize(
    ("X", "y", "lam", "word"),
    [
        (np.zeros((3, 2)), np.zeros(3), 0.1, "X"),
        (np.zeros((2, 3, 4)), np.zeros((2, 4)), 0.1, "y"),
        (np.zeros((2, 3, 4)), np.zeros((2, 3)), -0.1, "lam"),
        (np.zeros((2, 3, 4)), np.zeros((2, 3)), [0.1] * 3, "lam"),
        (np.full((1, 1, 1), np.nan), np.zeros((1, 1)), 0.1, "finite")])
def test_bad_problems_are_refused(X, y, lam, word):
    with pytest.raises(InvalidInput, match=word):
        solvers.solve_lasso(X, y, lam)


def test_recorded_iterates_are_the_unrolled_ones():
    sample = SparseRecovery.create(5, 4, 2).sample(jax.random.key(0), 1)
    X, y = np.asarray(sample.X), np.asarray(sample.y)
    for name in solvers.METHODS:
        found = solvers.iterates(name, X[0], y[0], 0.3, [7, 0, 3, 7])
        whole = unroll(name, {"lam": np.full(7, 0.3)}, X, y)[:, 0]
        np.testing.assert_allclose(
            found.coefficients, [whole[6], np.zeros(5), whole[2], whole[6]], atol=1e-12)
    with pytest.raises(InvalidInput, match="ista"):
        solvers.iterates("istaa", X[0], y[0], 0.3, [1])


def test_an_error_that_is_not_a_number_is_infinite():
    assert solvers.squared_errors(np.array([[np.nan, 1.0]]), np.zeros((1, 2)))[0] == np.inf


def test_training_learns_repeats_itself_and_keeps_thresholds_positive():
    task = SparseRecovery.create(6, 4, 1, design="orthonormal")
    keys, start = (
        jax.random.split(jax.random.key(0), 2), learning.start_layers("lista-vm", 4, 2, step=0.4))
    recipe = learning.Recipe(60, 64, 2e-2, 1.0)
    made = learning.train("lista-vm", task, keys, start, recipe, record=(0, 30))
    again = learning.train("lista-vm", task, keys, start, recipe, record=(0, 30))
    np.testing.assert_array_equal(made.layers["M"], again.layers["M"])
    assert made.steps.tolist() == [0, 30, 60] and made.layers["M"].shape == (3, 2, 4)
    assert (made.layers["theta"] >= 0).all() and (made.layers["M"][0] == np.float32(0.4)).all()
    test = task.sample(jax.random.key(9), 500)
    before, after = (
        np.median(solvers.squared_errors(
            unroll("lista-vm", made.at(point, 1), test.X, test.y)[-1], test.beta))
        for point in (0, 2))
    assert after < 0.7 * before
    longer = learning.train(
        "lista-vm", task, keys[:1], {k: v[:1] for k, v in start.items()}, recipe)
    np.testing.assert_allclose(
        longer.layers["M"][-1, 0], made.layers["M"][-1, 0], rtol=1e-4
    )  # records and seeds change nothing


def test_one_matrix_per_seed():
    task = SparseRecovery.create(6, 4, 1)
    X = task.matrices(jax.random.key(1), 2)
    start = learning.start_layers("lista", 3, 2, X)
    made = learning.train(
        "lista", task, jax.random.split(jax.random.key(0), 2), start,
        learning.Recipe(5, 8, 1e-3, 1.0), X)
    assert made.layers["W1"].shape == (1, 2, 3, 6, 4)
    np.testing.assert_allclose(
        start["W1"][1, 0], np.asarray(X[1]).T / np.linalg.norm(X[1], 2) ** 2, rtol=1e-5)
    with pytest.raises(InvalidInput, match="matrix"):
        learning.start_layers("lista", 3)


def test_training_that_leaves_the_finite_numbers_says_when_and_what_to_do():
    task = SparseRecovery.create(6, 4, 1)
    start = learning.start_layers("lista-vm", 12, 1, step=1e6)
    with pytest.raises(Diverged, match=r"lista-vm diverged at step 1: learning_rate = 0.01"):
        learning.train(
            "lista-vm", task, jax.random.split(jax.random.key(0), 1), start,
            learning.Recipe(3, 8, 1e-2, np.inf))
