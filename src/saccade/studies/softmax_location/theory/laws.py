"""What large dimension makes of it: the best lambda, three constants, capacities, and where softmax
beats the null predictor. Status: asymptotic, except `bayes_capacity` (an exact divergence).
"""

import numpy as np

from .setting import Number

RISK_TO_ARGMAX = np.pi / 4
"""The limit of (softmax at its best lambda)/(argmax) at the truth, L fixed: with a = m/((1 +
gamma^2) lambda) the risk is proportional to pi a (1 - a)/sin(pi a), least at a = 1/2."""
SOFTMAX_CAPACITY = 0.25
"""r below which softmax (lambda = m) and argmax at the truth learn L = e^(r d) tokens: the sum of N
e^(lambda z) is e^(lambda^2/2) N, the informative term e^(lambda m)."""


def best_inverse_temperature_law(dim: Number, gamma: Number) -> Number:
    """2 m/(1 + gamma^2) = sqrt(2 d)/(1 + gamma^2), as d grows at fixed L."""
    return np.sqrt(2 * dim) / (1 + gamma**2)


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
