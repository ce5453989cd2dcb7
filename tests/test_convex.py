"""Convex fitting: the optimality condition, scikit-learn as peer, narrow and wide, separability."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from saccade.convex import (
    fit_readout,
    is_separable,
    logistic_objective,
    readout_error,
    separated_by_newton,
    separated_by_programme,
)
from saccade.errors import InvalidInput


def _data(n, p, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, p))
    y = np.where(F[:, 0] + 0.7 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    return F, y


@pytest.mark.parametrize(("n", "p"), [(80, 12), (30, 70)])
@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_gradient_vanishes_at_the_answer(n, p, loss):
    F, y = _data(n, p)
    fit = fit_readout(F, y, 1e-3, loss)
    assert fit.status == "converged" and fit.gradient_norm < 1e-10
    if loss == "logistic":  # the gradient once more, by finite differences of the objective
        x = np.append(fit.w, fit.b)
        for step in np.eye(p + 1)[[0, 1, p]] * 1e-4:
            up, down = (logistic_objective(F, y, 1e-3, v[:-1], v[-1]) for v in (x + step, x - step))
            assert abs(up - down) / 2e-4 < 1e-8


@pytest.mark.parametrize(("n", "p", "ridge"), [(80, 12, 1e-2), (30, 70, 1e-3)])
def test_logistic_agrees_with_scikit_learn(n, p, ridge):
    F, y = _data(n, p, seed=1)
    ours = fit_readout(F, y, ridge)
    peer = LogisticRegression(C=1 / (n * ridge), tol=1e-12, max_iter=20_000).fit(F, y)
    np.testing.assert_allclose(ours.w, peer.coef_[0], atol=2e-5)
    theirs = logistic_objective(F, y, ridge, peer.coef_[0], peer.intercept_[0])
    assert ours.objective <= theirs + 1e-12


@pytest.mark.parametrize(("n", "p"), [(80, 12), (30, 70)])
def test_square_agrees_with_scikit_learn(n, p):
    F, y = _data(n, p, seed=2)
    ours, peer = fit_readout(F, y, 0.05, "square"), Ridge(alpha=n * 0.05).fit(F, y)
    np.testing.assert_allclose(ours.w, peer.coef_, atol=1e-9)
    assert abs(ours.b - peer.intercept_) < 1e-9


def test_an_unreached_tolerance_is_said():
    F, y = _data(60, 5)
    assert fit_readout(F, y, 1e-3, max_iterations=1).status == "not converged"


def test_separability():
    rng = np.random.default_rng(3)
    F = rng.normal(size=(40, 5))
    y = np.sign(F[:, 0] + 0.2)
    assert is_separable(F, y)
    # A negative point halfway between two positive ones cannot be cut off.
    middle, labels = 0.5 * (F[:1] + F[1:2]), np.where(np.arange(40) < 2, 1.0, y)
    assert not is_separable(np.concatenate([F, middle]), np.append(labels, -1.0))
    tight = fit_readout(F, y, 1e-7, tolerance=1e-8)
    assert readout_error(F, y, tight.w, tight.b) == 0


def test_cover_threshold():
    """Random labels: n = d + 1 points are always separable with an intercept, far above 2 d not."""
    rng = np.random.default_rng(4)
    y = np.where(np.arange(80) % 2, 1.0, -1.0)
    F = rng.normal(size=(80, 10))
    assert is_separable(F[:11], y[:11])
    assert not is_separable(F, y)


def test_newton_and_the_linear_programme_agree_where_chance_decides():
    """Random signs at 2 samples a weight, where half of the sets are separable; weights of very
    different size, and a column of zeros."""
    rng = np.random.default_rng(5)
    scale = np.append(10.0 ** np.arange(-6, 6), 0.0)
    answers = []
    for _ in range(60):
        rows = rng.normal(size=(24, 13)) * scale
        answers.append(
            (separated_by_newton(rows), separated_by_programme(-rows / scale.clip(1e-9))))
    newton, programme = zip(*answers, strict=True)
    assert newton == programme
    assert 15 < sum(newton) < 45


def test_newton_leaves_nothing_open_on_touching_classes():
    """The same point with both labels beside points that can be cut off."""
    F, y = np.array([[0.0], [0.0], [2.0], [-3.0]]), np.array([1.0, -1.0, 1.0, -1.0])
    assert not is_separable(F, y)
    assert is_separable(F[1:], y[1:])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"ridge": 0.0}, "ridge"), ({"ridge": -1.0}, "ridge"), ({"loss": "hinge"}, "loss"),
        ({"y": np.ones(80)}, "y")])
def test_bad_input_is_refused(change, word):
    F, y = _data(80, 3)
    arguments = {"features": F, "y": y, "ridge": 0.1, "loss": "logistic"} | change
    with pytest.raises(InvalidInput, match=word):
        fit_readout(**arguments)
