"""The fitted vectorised classifier when some places are likelier than others (attention and pooling
never notice: `fitted.py` holds).

Places v are drawn from a table of masks with probabilities. Write W = m xi^T + the rest, m in R^L
the overlaps of the tokens' weights with the signal and r the norm of the rest. With a = alpha/L
samples per weight and omega = theta v.m 1{y=+} + b + sqrt(|m|^2 + r^2) G,

    m = -a V theta E[l'(eta) v 1{y=+}],    E[l'] = 0,    r^2 = a V^2 E[l'^2],
    1/a = lambda V + E[V l''/(1 + V l'')],

eta the proximal point of omega with step V: the equations of the uniform law with one overlap a
token instead of one in all. Status: asymptotic (n, d to infinity, L fixed), exact up to the
quadrature in G. The square loss is closed form, the logistic loss takes a root search in L + 3
numbers, whose residual is reported.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array
from scipy.optimize import root
from scipy.special import ndtr

from saccade.studies.sparse_token.task import SparseTokenSetting, checked_locations
from saccade.studies.sparse_token.theory.fitted import check_training
from saccade.studies.sparse_token.theory.losses import Loss, get_loss


class PlacesFit(NamedTuple):
    """`token_signal` is m: <W_l, xi> for every token l; the other names as in `Fit`."""

    b: float
    w_norm: float
    token_signal: Float[Array, " token"]
    train_loss: float
    train_error: float
    test_error: float
    status: str
    residual: float


GAUSS = np.linspace(-9.0, 9.0, 401)
DENSITY = np.exp(-0.5 * GAUSS**2) / np.exp(-0.5 * GAUSS**2).sum()


class _Mixture(NamedTuple):
    """Negatives first, then one node a place: weights, labels and theta v; with the loss, the
    samples a per weight and the ridge."""

    weight: Float[Array, " node"]
    label: Float[Array, " node"]
    shift: Float[Array, "node token"]
    loss: Loss
    alpha: float
    ridge: float


def fit_at_places(
    setting: SparseTokenSetting, location_masks, location_probabilities, samples_per_dim: float,
    ridge: float, loss: str = "logistic",
) -> PlacesFit:
    """The vectorised classifier fitted to `samples_per_dim` d samples with places of the table."""
    check_training(samples_per_dim, ridge)
    chosen, rate = get_loss(loss), setting.positive_rate
    masks, chances = checked_locations(setting, location_masks, location_probabilities)
    mixture = _Mixture(
        np.append(1 - rate, rate * np.asarray(chances)), np.append(-1.0, np.ones(len(masks))),
        setting.signal * np.vstack([np.zeros(setting.length), np.asarray(masks, float)]), chosen,
        samples_per_dim / setting.length, ridge)
    point = _square_point(mixture)
    if loss == "logistic":
        point = root(_equations, point, (mixture,), tol=1e-12).x
    residual = float(np.max(np.abs(_equations(point, mixture))))
    mean, deviation, _, V = _margins(point, mixture)
    y, eta = _fitted_margins(point, mixture)
    train = float(mixture.weight @ (chosen.value(eta, y) @ DENSITY))
    train_error, test_error = (
        float(mixture.weight @ ndtr(-(mixture.label * mean + offset * V) / deviation))
        for offset in (chosen.sign_offset, 0.0))
    status = "converged" if residual <= 1e-8 else "not converged"
    return PlacesFit(
        float(point[-3]), deviation, point[:-3], train, train_error, test_error, status, residual)


def _square_point(mixture: _Mixture) -> Array:
    """(m, b, log r, log V): 1/a = lambda V + V/(1 + V), normal equations, r^2 linear."""
    alpha, ridge = mixture.alpha, mixture.ridge
    # a lambda V^2 + (a lambda + a - 1) V - 1 = 0; written so that the positive root never cancels
    half = 0.5 * (alpha * ridge + alpha - 1)
    root_term = np.sqrt(half**2 + alpha * ridge)
    V = 1 / (half + root_term) if half > 0 else (root_term - half) / (alpha * ridge)
    shrink = 1 / (1 + V)
    design = np.hstack([mixture.shift, np.ones((len(mixture.weight), 1))])
    gram = (design.T * mixture.weight) @ design * shrink
    gram[np.diag_indices(len(gram) - 1)] += ridge + shrink
    x = np.linalg.solve(gram, shrink * (design.T @ (mixture.weight * mixture.label)))
    error2 = mixture.weight @ (design @ x - mixture.label) ** 2
    gain = alpha * (V * shrink) ** 2
    kept = alpha * (ridge * V + V * shrink**2)  # 1 - gain, by the equation of V
    rest2 = gain * (error2 + x[:-1] @ x[:-1]) / kept
    return np.append(x, [0.5 * np.log(rest2), np.log(V)])


def _margins(point: Array, mixture: _Mixture):
    """Mean of omega at every node, its deviation, r and V."""
    m, b, r, V = point[:-3], point[-3], np.exp(point[-2]), np.exp(point[-1])
    return mixture.shift @ m + b, float(np.sqrt(m @ m + r * r)), r, V


def _fitted_margins(point: Array, mixture: _Mixture):
    """Labels and the margins eta of training samples, node by node and on the Gaussian grid."""
    mean, deviation, _, V = _margins(point, mixture)
    y = mixture.label[:, None]
    return y, mixture.loss.prox(mean[:, None] + deviation * GAUSS, np.full((1, 1), V), y)


def _equations(point: Array, mixture: _Mixture) -> Array:
    """The L + 3 equations, each over what cancels in it."""
    _, _, r, V = _margins(point, mixture)
    y, eta = _fitted_margins(point, mixture)
    derivative, bend = mixture.loss.derivative(eta, y), V * mixture.loss.curvature(eta, y)
    pull, pull2, curve = (item @ DENSITY for item in (derivative, derivative**2, bend / (1 + bend)))
    weight, alpha = mixture.weight, mixture.alpha
    size = (weight * np.abs(pull)) @ mixture.shift + weight @ np.abs(pull)
    tokens = (point[:-3] / (alpha * V) + (weight * pull) @ mixture.shift) / size
    balance = weight @ pull / (weight @ np.abs(pull))
    noise = 1 - alpha * V**2 * (weight @ pull2) / r**2
    return np.append(tokens, [balance, noise, 1 - alpha * (mixture.ridge * V + weight @ curve)])
