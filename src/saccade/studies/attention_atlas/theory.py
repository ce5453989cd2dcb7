"""What can be said beforehand about a learner that is blind to something.

A learner that does not see the order of tokens predicts at best E[y | the tokens as a set]; one
that weighs tokens by place alone is linear in X. Both bounds are closed forms (status: exact). How
well one that knows the direction of shifted tokens can look is a closed form and an integral.
"""

import math

import numpy as np
from scipy.stats import norm


def blind_to_places_regression(length: int) -> float:
    """Smallest excess error without the order where y = <u, x_1>, tokens N(0, I), but for one other
    token that is marked and so known not to be the first: the best guess is the mean of <u, x_l>
    over the rest, which leaves 1 - 1/(L - 1) of the variance. Exact if the mark is always
    recognised, else a lower bound."""
    return 1 - 1 / (length - 1)


def blind_to_places_classification(length: int) -> float:
    """Smallest excess error without the order where y = sign <v, x_1>: the best guess is the
    majority of the signs, wrong with E[min(k, L - k)]/L, k ~ Binomial(L, 1/2); chance is 1/2."""
    k = np.arange(length + 1)
    chances = np.array([math.comb(length, int(one)) for one in k]) / 2.0**length
    return float(chances @ np.minimum(k, length - k)) / length / 0.5


def linear_in_all_tokens(law: np.ndarray, gamma: float, best: float) -> float:
    """Smallest excess error of a linear function of all tokens in single-location regression with
    the location law p and Bayes error `best`.

    Along v* token l has variance a_l = 1 - (1 - gamma^2) p_l, covariance gamma^2 p_l with y, and
    none with the other tokens, so the best linear error is gamma^2 - sum_l (gamma^2 p_l)^2/a_l.
    Along k* it has covariance 0 with y."""
    share = np.square(gamma**2 * law) / (1 - (1 - gamma**2) * law)
    error = gamma**2 - share.sum()
    return float((error - best) / (gamma**2 - best))


def looking_along_the_direction(
    length: int, informative: int, signal: float
) -> tuple[float, float]:
    """AUROC and top-1 of weights that rise with the score along the direction, where R of L normal
    scores are shifted by theta: Phi(theta/sqrt 2), and the chance that the largest of the R is
    above the largest of the others,
    int R phi(x - theta) Phi(x - theta)^(R - 1) Phi(x)^(L - R) dx. Status: exact, quadrature."""
    x = np.linspace(-9, 9, 2001)
    density = informative * norm.pdf(x) * norm.cdf(x) ** (informative - 1)
    above = density * norm.cdf(x + signal) ** (length - informative)
    return float(norm.cdf(signal / np.sqrt(2))), float(np.trapezoid(above, x))
