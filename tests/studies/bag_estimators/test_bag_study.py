"""What the study of estimators computes with: gradients, laws of the bags, the best AUC."""

import jax
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal, norm
from sklearn.metrics import roc_auc_score

from saccade.studies.bag_estimators.models import ErfModel, fit_erf, likelihood_ratio, objective
from saccade.studies.bag_estimators.task import generator, single_location, sparse_tokens
from saccade.studies.bag_estimators.theory import bayes_auc


def random(seed=0):
    return generator(jax.random.key(seed))


def test_the_gradient_of_erf_attention_is_that_of_finite_differences():
    X, y, _ = single_location(random(), 20, 4, 3)
    theta = random(1).standard_normal(6)
    slope = approx_fprime(theta, lambda point: objective(point, X, y, 0.07)[0], 1e-7)
    assert np.allclose(objective(theta, X, y, 0.07)[1], slope, atol=1e-5)


def test_erf_attention_learns_a_target_of_its_own_form():
    X = random().standard_normal((300, 3, 4))
    truth = ErfModel(np.array([1.0, -1, 0, 0.5]), np.array([0.0, 1, 1, 0]))
    fitted = fit_erf(X, truth.predict(X), random(2), ridge=1e-6, starts=6)
    assert np.mean((fitted.predict(X) - truth.predict(X)) ** 2) < 1e-3 * truth.predict(X).var()
    assert np.allclose(fitted.attention(X).sum(axis=1), 1)


def test_the_likelihood_ratio_is_that_of_the_densities():
    """log of the mean over places of the density with a token shifted over that of noise."""
    X, theta = random().standard_normal((5, 4, 3)), 1.7
    noise, shifted = (multivariate_normal(np.full(3, shift / np.sqrt(3))) for shift in (0.0, theta))
    exact = np.log(np.mean([[shifted.pdf(t) / noise.pdf(t) for t in bag] for bag in X], axis=1))
    gap = likelihood_ratio(X, theta) - exact
    assert np.ptp(gap) < 1e-12


def test_one_token_is_a_shift_of_a_normal_number():
    """For L = 1 the likelihood ratio is linear: AUC = Phi(theta/sqrt 2)."""
    assert bayes_auc(1.3, 1) == pytest.approx(norm.cdf(1.3 / np.sqrt(2)), abs=0.004)


def test_two_tokens_by_quadrature():
    """AUC against the trapezium of the ROC of u -> e^{theta u_1} + e^{theta u_2} on a grid."""
    theta = 1.5

    def below(level, shift):
        """P(e^{theta u_1} + e^{theta u_2} < level), u_1 shifted."""
        top = np.log(level) / theta
        return quad(
            lambda u: norm.pdf(u - shift) * norm.cdf(np.log(level - np.exp(theta * u)) / theta),
            -12, top, limit=200)[0]

    levels = np.exp(np.linspace(-6, 16, 400))
    null, shifted = (np.array([below(level, shift) for level in levels]) for shift in (0.0, theta))
    area = np.trapezoid(1 - shifted, null)
    assert bayes_auc(theta, 2) == pytest.approx(area, abs=0.004)


def test_sparse_tokens_are_shifted_where_marked():
    X, y, where = sparse_tokens(random(), 4000, 5, 4, 3.0)
    along = X.sum(axis=2) / 2
    assert along[where & (y == 1)[:, None]].mean() == pytest.approx(3, abs=0.1)
    assert np.abs(along[where & (y == 0)[:, None]].mean()) < 0.1
    assert np.abs(along[~where].mean()) < 0.05 and (where.sum(axis=1) == 1).all()
    assert 0.7 < roc_auc_score(y, np.log(np.exp(3 * along).mean(axis=1))) < 1


def test_single_location_has_tokens_of_one_length_and_can_lose_its_mark():
    X, y, where = single_location(random(), 4000, 5, 8)
    assert np.square(X[where]).sum(axis=1).mean() == pytest.approx(8, rel=0.05)
    assert np.square(X[~where]).sum(axis=1).mean() == pytest.approx(8, rel=0.05)
    assert np.allclose(X[where][:, 1], y) and X[where][:, 0].mean() == pytest.approx(2, abs=0.1)
    plain = single_location(random(), 4000, 5, 8, marked=False)
    assert np.abs(plain.X[plain.where][:, 0].mean()) < 0.1
