"""The fitted vectorised classifier when some places are likelier than others (attention and pooling
never notice: `fitted.py` holds).

Places v are drawn from a table of masks with probabilities. Write W = m xi^T + the rest, m in R^L
the overlaps of the tokens' weights with the signal and r the norm of the rest. With a = alpha/L
samples per weight and omega = theta v.m 1{y=+} + b + sqrt(|m|^2 + r^2) G,
    m = -a V theta E[l'(eta) v 1{y=+}],    E[l'] = 0,    r^2 = a V^2 E[l'^2],    1/a = lambda V +
    E[V l''/(1 + V l'')],
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
from scipy.special import expit, ndtr

from saccade.studies.sparse_token.task import SparseTokenSetting, checked_locations
from saccade.studies.sparse_token.theory.fitted import check_training
from saccade.studies.sparse_token.theory.losses import get_loss, prox_margin


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


class _Mixture(NamedTuple):
    """Negatives first, then one node a place: weights, labels and theta v."""

    weight: Float[Array, " node"]
    label: Float[Array, " node"]
    shift: Float[Array, "node token"]


def fit_at_places(
    setting: SparseTokenSetting, location_masks, location_probabilities, samples_per_dim: float,
    ridge: float, loss: str = "logistic",
) -> PlacesFit:
    """The vectorised classifier fitted to n = `samples_per_dim` d samples whose places follow the
    table."""
    check_training(samples_per_dim, ridge)
    offset = get_loss(loss).sign_offset
    masks, chances = checked_locations(setting, location_masks, location_probabilities)
    shift = setting.signal * np.concatenate(
        [np.zeros((1, setting.length)), np.asarray(masks, float)])
    rate = setting.positive_rate
    weight = np.concatenate([[1 - rate], rate * np.asarray(chances)])
    mixture = _Mixture(weight, np.concatenate([[-1.0], np.ones(len(masks))]), shift)
    alpha = samples_per_dim / setting.length
    point = _square_point(mixture, alpha, ridge)
    if loss == "logistic":
        point = root(_logistic_equations, point, (mixture, alpha, ridge), tol=1e-12).x
    equations = _logistic_equations if loss == "logistic" else _square_equations
    residual = float(np.max(np.abs(equations(point, mixture, alpha, ridge))))
    return _report(mixture, point, loss, offset, residual)


def _square_point(mixture: _Mixture, alpha: float, ridge: float) -> Array:
    """(m, b, log r, log V) in closed form: 1/a = lambda V + V/(1 + V), normal equations, r^2
    linear."""
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


def _seen(mixture: _Mixture, point: Array):
    """Mean of omega at every node, its deviation, r and V."""
    m, b, r, V = point[:-3], point[-3], np.exp(point[-2]), np.exp(point[-1])
    return mixture.shift @ m + b, float(np.sqrt(m @ m + r * r)), r, V


def _grid(points: int = 401, reach: float = 9.0):
    gauss = np.linspace(-reach, reach, points)
    density = np.exp(-0.5 * gauss**2)
    return gauss, density / density.sum()


def _residuals(
    mixture: _Mixture, point: Array, alpha: float, ridge: float, slope, slope2, curve
) -> Array:
    """The L + 3 equations, each over what cancels in it, from E[l'], E[l'^2] and E[V l''/(1 + V
    l'')] at every node."""
    _, _, r, V = _seen(mixture, point)
    pull = (mixture.weight * slope) @ mixture.shift
    size = (mixture.weight * np.abs(slope)) @ mixture.shift + mixture.weight @ np.abs(slope)
    tokens = (point[:-3] / (alpha * V) + pull) / size
    balance = mixture.weight @ slope / (mixture.weight @ np.abs(slope))
    noise = 1 - alpha * V**2 * (mixture.weight @ slope2) / r**2
    return np.append(tokens, [balance, noise, 1 - alpha * (ridge * V + mixture.weight @ curve)])


def _logistic_equations(point: Array, mixture: _Mixture, alpha: float, ridge: float) -> Array:
    mean, deviation, _, V = _seen(mixture, point)
    gauss, weight = _grid()
    y = mixture.label[:, None]
    z = prox_margin(y * (mean[:, None] + deviation * gauss), np.full((1, 1), V))
    slope, bend = -y * expit(-z), expit(z) * expit(-z)
    return _residuals(
        mixture, point, alpha, ridge, slope @ weight, slope**2 @ weight,
        V * bend / (1 + V * bend) @ weight)


def _square_equations(point: Array, mixture: _Mixture, alpha: float, ridge: float) -> Array:
    mean, deviation, _, V = _seen(mixture, point)
    slope = (mean - mixture.label) / (1 + V)
    slope2 = slope**2 + (deviation / (1 + V)) ** 2
    return _residuals(mixture, point, alpha, ridge, slope, slope2, np.full_like(slope, V / (1 + V)))


def _report(
    mixture: _Mixture, point: Array, loss: str, offset: float, residual: float
) -> PlacesFit:
    mean, deviation, _, V = _seen(mixture, point)
    gauss, weight = _grid()
    y = mixture.label[:, None]
    omega = mean[:, None] + deviation * gauss
    eta = (
        y * prox_margin(y * omega, np.full((1, 1), V)) if loss == "logistic"
        else (omega + V * y) / (1 + V))
    train = mixture.weight @ (get_loss(loss).value(eta, y) @ weight)
    seen, fresh = (
        float(mixture.weight @ ndtr(-(mixture.label * mean + o * V) / deviation))
        for o in (offset, 0.0))
    status = "converged" if residual <= 1e-8 else "not converged"
    return PlacesFit(
        float(point[-3]), deviation, point[:-3], float(train), seen, fresh, status, residual)
