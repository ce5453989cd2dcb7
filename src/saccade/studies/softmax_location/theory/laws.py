"""What large dimension makes of it: the best lambda, three constants, capacities, and where softmax
beats the null predictor and erf; and how late descent creeps. Status: asymptotic, except
`bayes_capacity` (an exact divergence).
"""

import numpy as np

from saccade.errors import require

from .roots import least_over, root_between
from .setting import Number, Setting

RISK_TO_ARGMAX = np.pi / 4
"""The limit of (softmax at its best lambda)/(argmax) at the truth, L fixed: with a = m/((1 +
gamma^2) lambda) the risk is proportional to pi a (1 - a)/sin(pi a), least at a = 1/2."""
SOFTMAX_CAPACITY = 0.25
"""r below which softmax (lambda = m) and argmax at the truth learn L = e^(r d) tokens: the sum of N
e^(lambda z) is e^(lambda^2/2) N, the informative term e^(lambda m)."""


def best_inverse_temperature_law(dim: Number, gamma: Number) -> Number:
    """2 m/(1 + gamma^2) = sqrt(2 d)/(1 + gamma^2), as d grows at fixed L."""
    return np.sqrt(2 * dim) / (1 + gamma**2)


def best_inverse_temperature_gap(gamma: Number) -> Number:
    """The rate r at which the best lambda nears its law: the distance falls like d^-1/2 e^(-r d), r
    = 1/(4 (1 + gamma^2) (1 + 2 gamma^2)). To all orders of 1/d two tokens of equal scores decide,
    symmetrically in a and 1 - a; three are the next."""
    return 1 / (4 * (1 + gamma**2) * (1 + 2 * gamma**2))


def softmax_rate(rate: Number, gamma: Number) -> Number:
    """The rate per dimension at which the risk at the truth falls with L = e^(rate d) tokens, rate
    < 1/4, up to a power of d: (sqrt(1/2) - sqrt(2 rate))^2/(2 gamma^2), the informative score down
    to the largest of the others."""
    return (0.5**0.5 - np.sqrt(2 * rate)) ** 2 / (2 * gamma**2)


def creeping_speed(kappa: Number, setting: Setting) -> Number:
    """d kappa/dt of descent on the manifold with v = v*, where softmax is saturated.

    (1 - kappa^2) c A e^(-c kappa), c = 2 lambda m, from the risk A e^(-c kappa) of small weights on
    the others: A = N (1 + gamma^2) e^(2 lambda^2 (1 + gamma^2)) + gamma^2 N (N - 1) e^(lambda^2 (1
    + 2 gamma^2)).
    """
    square, N, g = setting.inverse_temperature**2, setting.others, setting.gamma**2
    single = N * (1 + g) * np.exp(2 * square * (1 + g))
    pairs = g * N * (N - 1) * np.exp(square * (1 + 2 * g))
    c = 2 * setting.inverse_temperature * setting.shift
    return (1 - kappa**2) * c * (single + pairs) * np.exp(-c * kappa)


def score_to_softmax(gamma: Number) -> Number:
    """The limit of (best score-based predictor)/(softmax at its best lambda), 2 gamma/(1 +
    gamma^2)."""
    return 2 * gamma / (1 + gamma**2)


def bayes_capacity(gamma: Number) -> Number:
    """KL(N(m k*, gamma^2 I), N(0, I))/d = (gamma^2 - 1/2 - log gamma^2)/2: the rate r of L = e^(r
    d) below which Bayes learns; (log 2)/2 at gamma^2 = 1/2."""
    return (gamma**2 - 0.5 - np.log(gamma**2)) / 2


def null_threshold(gamma: Number) -> Number:
    """The dimension from which on softmax at its best lambda beats the null predictor as L grows:
    2 gamma^2 exp(d/(4 (3 - gamma^2))) > 1; zero or less where it always does."""
    return -4 * (3 - gamma**2) * np.log(2 * gamma**2)


def erf_threshold(gamma: float) -> float:
    """The dimension from which on softmax beats erf at the truth as L grows, each at its best
    lambda, gamma^2 < 1/2. Both gain of order 1/L on the null predictor: softmax the largest 2
    gamma^2 exp(lambda m - lambda^2 (1 - gamma^2)/2) - exp(lambda^2) over lambda, erf gamma^4 d/2.
    Above `null_threshold`."""
    square = gamma**2
    require(0 < 2 * square < 1, "gamma", gamma, "must lie between 0 and the root of 1/2")

    def lead(dim: float) -> float:
        m = (dim / 2) ** 0.5

        def lost(lam: float) -> float:
            own = 2 * square * np.exp(lam * m - lam**2 * (1 - square) / 2)
            return float(np.exp(lam**2) - own)

        return -least_over(lost, 1e-3 * m, m)[1] - square**2 * dim / 2

    low = float(null_threshold(gamma))
    return root_between(lead, low, 2 * low)
