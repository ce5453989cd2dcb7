"""Is the truth a strict local minimum? The transverse Hessian, and the window of instability.

Turn v by theta towards k* and k by eta towards v*: kappa = 1 - eta^2/2, nu = 1 - theta^2/2, rho =
theta + eta. Turning out of the plane costs -R_kappa and -R_nu, which are positive always. Status:
quadrature; `saturated_curvature` asymptotic.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from saccade.errors import require

from .kernels import FINE, Rule
from .moments import Moments, moments
from .risk import evaluate
from .roots import root_between
from .setting import ORACLE, Number, Setting

SCAN = np.geomspace(0.01, 20.0, 72)


class Hessian(NamedTuple):
    """Second derivatives along (theta, eta), and the costs -R_kappa and -R_nu of turning out of the
    plane."""

    theta_theta: Any
    theta_eta: Any
    eta_eta: Any
    kappa: Any
    nu: Any


def oracle_hessian(setting: Setting, rule: Rule = FINE) -> Hessian:
    """Of the softmax risk at the truth."""
    return hessian_of(setting, moments(setting, 1.0, rule))


def hessian_of(setting: Setting, M: Moments) -> Hessian:
    """From moments at kappa = 1, in the form of r or of p; first-order terms are cancelled by hand,
    or the curvature along eta would be lost in rounding."""
    gradient = evaluate(ORACLE, setting, M).gradient
    g, m = setting.gamma, setting.shift
    if M.p[0] > 0.5:
        pure = 2 * (g**2 * M.rr[2] - 2 * g * M.rb[1] + M.bb[0] - g**2 * M.rr[0] - M.q[0])
        theta_theta = 2 * m**2 * (1 - 2 * M.r[0] + M.rr[0])
        theta_eta, eta_rho = 2 * m * g * M.r[1], 2 * (g**2 * (M.r[2] - M.r[0]) - g * M.b[1])
        theta_rho = 2 * m * (-2 * g * M.r[1] + M.b[0] + g * M.rr[1] - M.rb[0])
    else:
        theta_theta, theta_eta = 2 * m**2 * M.pp[0], -2 * m * g * M.p[1]
        eta_rho = -2 * (g**2 * (M.p[2] - M.p[0]) + g * M.b[1])
        theta_rho = 2 * m * (g * M.pp[1] + M.pb[0])
        pure = 2 * eta_rho + 2 * (
            g**2 * M.pp[2] + 2 * g * M.pb[1] + M.bb[0] - g**2 * M.pp[0] - M.q[0])
    rho_rho = pure - 2 * eta_rho
    return Hessian(
        theta_theta + 2 * theta_rho + rho_rho - gradient.nu,
        theta_eta + theta_rho + eta_rho + rho_rho, pure - gradient.kappa, -gradient.kappa,
        -gradient.nu)


def margin(h: Hessian) -> float:
    """(H_ee - H_te^2/H_tt)/H_ee, positive where the truth is a strict local minimum."""
    return float((h.eta_eta - h.theta_eta**2 / h.theta_theta) / abs(h.eta_eta))


class Window(NamedTuple):
    """Where in lambda something happens; None for an end that lies beyond the grid it is sought on,
    two Nones where nowhere."""

    low: float | None
    high: float | None


def instability(lam: float, task: tuple[float, float, float], rule: Rule = FINE) -> float:
    """The margin at (dim, length, gamma) = `task`; negative where the truth is no minimum."""
    dim, length, gamma = task
    return margin(oracle_hessian(Setting(dim, length, float(lam), gamma), rule))


def unstable_window(dim: float, length: float, gamma: float = 2**-0.5) -> Window:
    """The inverse temperatures between which the truth is no local minimum: sign changes of the
    margin on a grid of 72 from 0.01 to 20 (to 60/gamma if that is less), after a look between the
    grid's lowest neighbours."""

    at = partial(instability, task=(dim, length, gamma))
    grid = SCAN[SCAN * max(1.0, gamma) <= 60]
    values = np.array([at(lam) for lam in grid])
    lowest = int(np.argmin(values))
    bounds = grid[max(lowest - 1, 0)], grid[min(lowest + 1, len(grid) - 1)]
    finer: Any = optimize.minimize_scalar(at, bounds=bounds, method="bounded")
    points = np.append(grid, finer.x)
    order = np.argsort(points)
    points, signs = points[order], (np.append(values, finer.fun)[order] < 0)
    if not signs.any():
        return Window(None, None)
    require(
        not signs.all(), "gamma", gamma,
        f"must be smaller: the truth is no minimum at any lambda from {grid[0]:g} to"
        f" {grid[-1]:.3g}, and an end of the window is not looked for elsewhere")
    inside = int(np.argmax(signs))
    low = root_between(at, points[inside - 1], points[inside]) if inside else None
    if signs[inside:].all():
        return Window(low, None)
    after = inside + int(np.argmin(signs[inside:]))
    return Window(low, root_between(at, points[after - 1], points[after]))


def saturated_curvature(setting: Setting) -> Number:
    """What H_ee - H_te^2/H_tt tends to where softmax is saturated and the others are few: 2 N
    exp(-2 lambda m) C, C > 0, so that no large lambda is critical. Asymptotic."""
    lam, g, N = setting.inverse_temperature, setting.gamma**2, setting.others
    m = setting.shift
    own = np.exp(2 * lam**2 * (1 + g)) * ((1 + g) * lam * m + 4 * lam**2 * (1 + g) ** 2)
    pairs = np.exp(lam**2 * (1 + 2 * g)) * (g * lam * m + ((1 + 2 * g) * lam) ** 2)
    mean = np.exp(lam**2 * (1 + g)) * (lam * (1 + g)) ** 2
    return 2 * N * np.exp(-2 * lam * m) * (own + (N - 1) * pairs - N * mean)
