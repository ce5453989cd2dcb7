"""How small a step of descent on the manifold must be: what the proof of Proposition 8 allows when
its constants are written out, and the exact limits (ours) of descent and of recovery."""

import numpy as np
from scipy import optimize

from saccade import gaussian

from .landscape import origin_jacobian_eigenvalues
from .overlaps import Scalars, Setting
from .risk import constants, manifold_gradient

FINE = 2001  # points of the kappa axis on which slopes and curvatures are bounded


def largest_descending_step(setting: Setting) -> Scalars:
    """2/c, c the largest curvature at the origin. A longer step raises the risk from near there;
    that a shorter one raises it from nowhere in the square is measured. Status: heuristic."""
    return 2 / (1 - origin_jacobian_eigenvalues(setting, 1.0)[..., 0])


def largest_recovering_step(setting: Setting) -> Scalars:
    """1/(gamma^2 erf b), b = lambda sqrt(d/2)/sqrt(1 + 2 lambda^2 gamma^2): twice the inverse of
    the curvature in v at the truth, past which nu = 1 repels. Exact for starts near the truth,
    measured for all others."""
    return -2 / manifold_gradient(1.0, 1.0, setting)[1]


def bounds_on_square(setting: Setting) -> tuple[float, float]:
    """The largest slope, and the largest norm of the Hessian, of the manifold risk on the square.

    With x = b kappa, q = 1 + 4 lambda^2 gamma^2: R_kk = 2 gamma^2 b^2 erf'(x) (2 x (nu -
    erf(x/sqrt q)) + erf'(x/sqrt q)/sqrt q), R_kn = -2 gamma^2 b erf'(x), R_nn = 0. All are linear
    in nu, so that nu = +-1 decides.
    """
    shared, square = constants(setting), float(setting.gamma) ** 2
    b = float(shared.per_kappa / np.sqrt(1 + 2 * shared.spread))
    root = float(np.sqrt(1 + 4 * shared.spread))
    kappa, nu = np.linspace(0, 1, FINE), np.array([[-1.0], [1.0]])
    x = b * kappa
    rise = gaussian.erf_derivative(x, 1)
    ahead = nu - gaussian.expect_erf(x / root, 0.0)
    curved = 2 * x * ahead + gaussian.erf_derivative(x / root, 1) / root
    in_kappa, mixed = 2 * square * b**2 * rise * curved, 2 * square * b * rise
    norm = (np.abs(in_kappa) + np.hypot(in_kappa, 2 * mixed)) / 2
    slopes = np.stack(np.broadcast_arrays(*manifold_gradient(kappa, nu, setting)))
    return float(np.abs(slopes).max()), float(norm.max())


def proof_step(setting: Setting) -> float:
    """The step size that the proof of Proposition 8 asks for, its constants written out. Bound.

    With slopes below G and Hessians below A on the square, a step of size alpha <= 1 gains at least
    alpha (1 - C alpha) times what its slope promises, C = G (1 + alpha G) + (A/2) (1 + (2 + alpha
    G) (1 + alpha G)) by (22) to (28); alpha C = 1/2 leaves half of it.
    """
    slope, curvature = bounds_on_square(setting)

    def missing(size: float) -> float:
        stretch = 1 + size * slope
        constant = slope * stretch + curvature / 2 * (1 + (1 + stretch) * stretch)
        return size * constant - 0.5

    return (
        float(optimize.root_scalar(missing, bracket=(0.0, 1.0)).root) if missing(1.0) > 0 else 1.0)
