"""Single-location regression from its definition, in NumPy and SciPy alone: what the calculators
are compared with.

Nothing here uses the closed forms. The risk is an expectation over one Gaussian at a time (all else
is linear given X.k), by the trapezoid rule, which converges exponentially on such integrands.
Slopes are complex steps: exact to rounding.
"""

import numpy as np
from scipy.special import erf

NAMES = ("kappa", "nu", "theta", "eta", "rho")
Z = np.arange(-10, 10, 0.02)
WEIGHT = np.exp(-(Z**2) / 2) / np.sqrt(2 * np.pi) * 0.02


def mean(values):
    """E f(z) for a standard normal z, from the values of f on the grid."""
    return np.sum(WEIGHT * values)


def zeta(t, variance):
    return mean(erf(t + np.sqrt(variance) * Z) ** 2)


def risk(overlaps, dim, length, inverse_temperature, gamma=2**-0.5, noise=0.0):
    """E (Y - sum_l erf(lambda X_l.k) X_l.v)^2; `overlaps` in the order of NAMES, complex
    allowed."""
    kappa, nu, theta, eta, rho = overlaps
    shift = np.sqrt(dim / 2)
    # The informative token: X.k = shift kappa + gamma z; given z, X.v and X.v* are normal with
    # these means and covariances.
    look = erf(inverse_temperature * (shift * kappa + gamma * Z))
    v_mean, target_mean = shift * theta + gamma * rho * Z, gamma * eta * Z
    with_target = mean(look * (v_mean * target_mean + gamma**2 * (nu - rho * eta)))
    square = mean(look**2 * (v_mean**2 + gamma**2 * (1 - rho**2)))
    first = mean(look * v_mean)
    # Any other token: X.k = z.
    other_look = erf(inverse_temperature * Z)
    other_square = mean(other_look**2 * (rho**2 * Z**2 + 1 - rho**2))
    other = mean(other_look * rho * Z)
    others = (length - 1) * (other_square + (length - 2) * other**2 + 2 * other * first)
    return noise**2 + gamma**2 - 2 * with_target + square + others


def gradient(overlaps, *setting):
    """The five partial derivatives by complex steps."""
    moves = np.asarray(overlaps) + 1e-30j * np.eye(5)
    return np.array([risk(move, *setting).imag / 1e-30 for move in moves])


def vectors(overlaps, dim=4):
    """Unit vectors k, v, k*, v* with these overlaps: k* and v* are the first two axes."""
    kappa, nu, theta, eta, rho = overlaps
    k_rest = np.sqrt(max(1 - kappa**2 - eta**2, 0.0))
    v_third = (rho - kappa * theta - eta * nu) / k_rest if k_rest > 0 else 0.0
    v_rest = np.sqrt(max(1 - theta**2 - nu**2 - v_third**2, 0.0))
    k, v = np.zeros((2, dim))
    k[:3] = kappa, eta, k_rest
    v[:4] = theta, nu, v_third, v_rest
    return k, v, np.eye(dim)[0], np.eye(dim)[1]


def overlaps_of(k, v, k_star, v_star):
    return np.array([k @ k_star, v @ v_star, v @ k_star, k @ v_star, k @ v])


def descend(k, v, k_star, v_star, step_size, steps, setting, decay=0.0):
    """Projected gradient descent on two spheres (both gradients at the old pair); row n of each is
    after n + 1 steps."""
    dim, length, inverse_temperature, *rest = setting
    states, risks = [], []
    for t in range(steps):
        now = (dim, length, inverse_temperature / (1 + decay * t), *rest)
        in_kappa, in_nu, in_theta, in_eta, in_rho = gradient(
            overlaps_of(k, v, k_star, v_star), *now)
        k_slope = in_kappa * k_star + in_eta * v_star + in_rho * v
        v_slope = in_theta * k_star + in_nu * v_star + in_rho * k
        k, v = _on_sphere(k, k_slope, step_size), _on_sphere(v, v_slope, step_size)
        states.append(overlaps_of(k, v, k_star, v_star))
        risks.append(risk(states[-1], *now))
    return np.array(states), np.array(risks)


def _on_sphere(x, slope, step_size):
    moved = x - step_size * (slope - (x @ slope) * x)
    return moved / np.linalg.norm(moved)


def sampled_squared_errors(k, v, k_star, v_star, count, setting, seed):
    """Squared errors of the erf predictor on data drawn from the definition, token by token."""
    dim, length, inverse_temperature, gamma, noise = setting
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, length, dim))
    place = rng.integers(length, size=count)
    rows = np.arange(count)
    X[rows, place] = np.sqrt(dim / 2) * k_star + gamma * X[rows, place]
    labels = X[rows, place] @ v_star + noise * rng.normal(size=count)
    return (labels - np.sum(erf(inverse_temperature * (X @ k)) * (X @ v), axis=1)) ** 2
