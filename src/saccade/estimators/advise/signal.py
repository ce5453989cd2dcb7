"""How strong is the signal in a token, and in how many tokens is it? Estimates with intervals.

The model (tokens of negative bags are noise; of those of positive bags a share f is shifted):

    z = whitened token;  negative bags: z ~ N(0, I);  positive: z ~ (1 - f) N(0, I) + f N(v, I)

`signal` is theta = |v|, in deviations of the noise, `share` is f. Fitted by expectation and
maximisation to the tokens of positive bags, after whitening by the negative ones (Ledoit and Wolf's
shrunk covariance). |v| of one fit is too large, by the noise of all d directions; so theta^2 is the
median over random halves A, B of the bags (negative ones too) of v_A . v_B, whose errors are
independent. Intervals:
bag bootstrap of the fit along v, widened by the spread over halves. Status: exact model, heuristic
interval; coverage is measured in the tests. Tokens of one bag are taken as independent draws, which
is right for f small and a little conservative for a fixed number of them.
"""

from typing import NamedTuple

import numpy as np
from sklearn.covariance import ledoit_wolf

from saccade.estimators.bags import Bags
from saccade.estimators.looking import Interval

MOST_TOKENS = 30_000  # of positive bags; more would cost time and tell nothing new
STARTS = [(share, norm) for norm in (1.5, 3.0, 5.0) for share in (0.03, 0.2, 0.7)]
SMALLEST = 1e-4  # share of informative tokens
SPLITS, DRAWS, NORMAL = 8, 40, 1.96


class Signal(NamedTuple):
    """`signal` theta and `share` f with 95 % intervals; `told` is False where the interval of theta
    reaches down to 0, and the share then means nothing."""

    signal: Interval
    share: Interval
    told: bool


class Centre(NamedTuple):
    """Whitened tokens of negative bags, summed by bag: the mean over some of the bags is not 0."""

    sums: np.ndarray
    lengths: np.ndarray

    def of(self, counts: np.ndarray) -> np.ndarray:
        """The mean token of bags that count so often."""
        return counts @ self.sums / (counts @ self.lengths)


class Mixture(NamedTuple):
    """f, v and the mean log-likelihood over that of pure noise."""

    share: float
    shift: np.ndarray
    gain: float


def estimate_signal(bags: Bags, positive: np.ndarray, seed: int = 0) -> Signal:
    """Theta and f of `bags`, of which those marked `positive` hold informative tokens."""
    random = np.random.default_rng(seed)
    inside = _fewer(np.flatnonzero(positive), bags.lengths, random)
    noise, mixed = bags.take(np.flatnonzero(~positive)), bags.take(inside)
    mean, whiten = whitening(noise.tokens)
    tokens = (mixed.tokens - mean) @ whiten
    sums = np.add.reduceat(noise.tokens - mean, noise.offsets[:-1], axis=0) @ whiten
    centre = Centre(sums, noise.lengths)
    whole = fit_mixture(tokens, np.ones(len(tokens)))
    halves = np.array([_halves(tokens, mixed, centre, random) for _ in range(SPLITS)])
    along, shares = _bootstrap(tokens, mixed, centre, whole, random)
    by_halves = np.sqrt(np.maximum(halves, 0))
    theta = float(np.sqrt(max(np.median(halves), 0)))
    error = NORMAL * float(np.hypot(along.std(), by_halves.std()))
    spread = float(np.exp(NORMAL * np.log(shares).std()))
    share = Interval(whole.share, whole.share / spread, min(whole.share * spread, 1.0))
    return Signal(Interval(theta, max(theta - error, 0.0), theta + error), share, theta > error)


def _fewer(bags: np.ndarray, lengths: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """As many of the bags as have MOST_TOKENS tokens, drawn at random; at least one."""
    order = random.permutation(bags)
    kept = np.cumsum(lengths[order]) <= MOST_TOKENS
    return np.sort(order[: max(int(kept.sum()), 1)])


def whitening(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and W with (x - mean) W of covariance about I; directions without variance become 0."""
    mean = tokens.mean(axis=0)
    scale = tokens.std(axis=0)
    constant = scale <= 1e-6 * (1 + np.abs(mean))
    inverse = np.where(constant, 0.0, 1 / np.where(constant, 1.0, scale))
    values, vectors = np.linalg.eigh(ledoit_wolf((tokens - mean) * inverse)[0])
    usable = values > 1e-9 * values.max() if values.max() > 0 else np.zeros(len(values), bool)
    roots = np.where(usable, 1 / np.sqrt(np.where(usable, values, 1.0)), 0.0)
    return mean, inverse[:, None] * (vectors * roots)


def fit_mixture(tokens: np.ndarray, weights: np.ndarray, start: Mixture | None = None) -> Mixture:
    """The likeliest (f, v), from `start` or from several points along the mean token."""
    if start is not None:
        return climb(tokens, weights, start.share, start.shift, 200)
    mean = weights @ tokens / weights.sum()
    direction = mean / max(float(np.linalg.norm(mean)), 1e-12)
    tried = [climb(tokens, weights, share, norm * direction, 40) for share, norm in STARTS]
    best = max(tried, key=lambda one: one.gain)
    return climb(tokens, weights, best.share, best.shift, 400)


def climb(
    tokens: np.ndarray, weights: np.ndarray, share: float, shift: np.ndarray, most: int
) -> Mixture:
    """Expectation and maximisation: r = f e^a/(1 - f + f e^a), a = z.v - |v|^2/2; f = mean r, v =
    mean of z weighted by r; until the mean log-likelihood rises by less than 1e-8."""
    total, gain = weights.sum(), -np.inf
    for _ in range(most):
        shifted = np.log(share) + tokens @ shift - shift @ shift / 2
        either = np.logaddexp(np.log1p(-share), shifted)
        before, gain = gain, float(weights @ either / total)
        if gain - before < 1e-8:
            break
        chance = weights * np.exp(shifted - either)
        share = float(np.clip(chance.sum() / total, SMALLEST, 1 - SMALLEST))
        shift = chance @ tokens / chance.sum()
    return Mixture(share, shift, gain)


def _halves(tokens: np.ndarray, bags: Bags, centre: Centre, random: np.random.Generator) -> float:
    """v_A . v_B of two random halves of the bags of both kinds, each fitted on its own."""
    first, calm = (random.permutation(n) < n / 2 for n in (len(bags), len(centre.lengths)))
    if first.all() or calm.all():
        return 0.0
    mine = np.repeat(first, bags.lengths)
    parts = [tokens[mine] - centre.of(calm), tokens[~mine] - centre.of(~calm)]
    one, other = (fit_mixture(part, np.ones(len(part))).shift for part in parts)
    return float(one @ other)


def _bootstrap(
    tokens: np.ndarray, bags: Bags, centre: Centre, whole: Mixture, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Refits with bags of both kinds drawn anew: v along that of the whole, and f."""
    axis = whole.shift / max(float(np.linalg.norm(whole.shift)), 1e-12)
    along, shares = np.empty(DRAWS), np.empty(DRAWS)
    for number in range(DRAWS):
        weights = np.repeat(_drawn(len(bags), random), bags.lengths).astype(float)
        moved = tokens - centre.of(_drawn(len(centre.lengths), random))
        fitted = fit_mixture(moved, weights, whole)
        along[number], shares[number] = fitted.shift @ axis, fitted.share
    return along, shares


def _drawn(count: int, random: np.random.Generator) -> np.ndarray:
    """How often each of `count` bags is drawn in `count` draws with replacement."""
    return np.bincount(random.integers(0, count, count), minlength=count)
