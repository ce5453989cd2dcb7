"""Where a softmax query looks: the share of the attention that lands on the informative tokens, at
one length and as the length grows.

Scores along the unit query are t = theta rho v + g, weights softmax(k t). At one length the mean
share is an integral over the tokens (`informative_share`, quadrature). For long sequences the
weights of the noise tokens add up to Z = sum of e^{k g} over N = L - R of them, a random-energy
model with two phases (`mean_log_noise`, asymptotic). With a the height that one of N tokens passes
on average, N Phi(-a) = 1, and b = N phi(a) the slope there,

    k < b    many tokens share Z:   E log Z = log N + k^2/2 - (e^{k^2} - 1)/(2 N) + ...
    k > b    the largest few do:    E log Z = k a + x (g_E + log Gamma(1 - 1/x)) - g_E,  x = k/b,

g_E Euler's constant: the tokens above a are points of intensity e^{-s}, s = b (g - a), and sum
e^{x s} over them is stable of index 1/x. At x = 1 that form is infinite, while E log Z <= log E Z =
log N + k^2/2 (Jensen); so above b the smaller of both is taken, which is continuous at b. At k =
kappa sqrt(2 log L), theta = c sqrt(2 log L), rho = 1, the odds of the informative tokens therefore
grow like L to the power

    2 c kappa - 1 - kappa^2   (kappa < 1),        2 kappa (c - 1)   (kappa > 1),

which is above zero if and only if c > 1 and kappa > c - sqrt(c^2 - 1).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, ndtri_exp, softmax
from scipy.stats import qmc

from saccade.errors import require
from saccade.studies.sparse_token.task import SparseTokenSetting, require_number
from saccade.studies.sparse_token.theory.law import (
    affordable,
    checked_query,
    descending_normals,
    sorted_gaussian_nodes,
)


class InformativeShare(NamedTuple):
    """Of a positive sample: the mean attention on its informative tokens, and the chance that one
    of them gets the largest weight; `accuracy` is of the share, by a quarter of the nodes."""

    share: float
    first: float
    accuracy: float


def informative_share(
    setting: SparseTokenSetting, alignment: float, sharpness: float, log2_points: int = 13
) -> InformativeShare:
    """The mean share of softmax(k t) on the informative tokens of a positive sample (quadrature);
    R/L at k = 0. `first` does not depend on k > 0, and at k = 0 nothing is largest: it is R/L."""
    rho, k = checked_query(alignment, sharpness)
    coarse, fine = (
        _shares(setting, rho, k, affordable(setting.length, log2_points - less)) for less in (2, 0))
    return InformativeShare(*fine, accuracy=abs(fine[0] - coarse[0]))


def _shares(setting: SparseTokenSetting, rho: float, k: float, points: int) -> tuple[float, float]:
    count, even = setting.informative, setting.informative / setting.length
    noise = sorted_gaussian_nodes(setting.length, count, points)[0]
    scores = noise + rho * setting.signal * (np.arange(setting.length) < count)
    share = float(softmax(k * scores, axis=1)[:, :count].sum(1).mean())
    if count == setting.length or k == 0:
        return share, even
    return share, float(np.mean(scores[:, :count].max(1) > scores[:, count:].max(1)))


def mean_log_noise(count: float, sharpness: float) -> float:
    """E log sum of e^{k g} over `count` noise tokens (asymptotic in both phases, worst around their
    border k = b: seen within 0.6 there, from 10 to 10^6 tokens)."""
    require(count >= 10, "count", count, "must be at least 10, the formula is for many tokens")
    require_number("sharpness", sharpness)
    height = -float(ndtri_exp(-np.log(count)))
    steep = count * np.exp(-0.5 * height**2) / np.sqrt(2 * np.pi)
    spread = np.expm1(min(sharpness**2, 700.0)) / count
    shared = float(np.log(count) + sharpness**2 / 2 - min(spread, 1.0) / 2)
    if sharpness <= steep:
        return shared
    x = sharpness / steep
    few = sharpness * height + x * (np.euler_gamma + gammaln(1 - 1 / x)) - np.euler_gamma
    return min(shared, float(few))


def mean_log_odds(setting: SparseTokenSetting, sharpness: float) -> float:
    """E log of the informative tokens' weight over that of all others, for a query along the signal
    (asymptotic in L, quadrature over the R informative tokens)."""
    uniform = qmc.Sobol(setting.informative, scramble=True, rng=0).random_base2(12)
    noise = descending_normals(np.clip(uniform, 1e-12, 1 - 1e-12))
    informative = np.mean(np.asarray(logsumexp(sharpness * noise, axis=1)))
    others = mean_log_noise(setting.length - setting.informative, sharpness)
    return float(sharpness * setting.signal + informative - others)
