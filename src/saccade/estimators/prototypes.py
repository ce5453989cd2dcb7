"""A start for heads that collect evidence: tokens of positive bags, chosen together.

What makes a bag positive is in every positive bag. So all tokens of a few positive bags are
candidates, as directions u = t/|t| of standardised tokens t, and a set of candidates is good if
the sum over the set of max_l t_l . u tells positive bags from negative ones:

    R = (difference of the class means)^2 / (variance within classes)

The best pair is found among all pairs, since of two concepts that must come together neither tells
anything alone; further heads join one at a time. Status: heuristic, where a search begins.
"""

import numpy as np

from saccade.estimators.bags import Bags
from saccade.estimators.objective import Objective
from saccade.estimators.segments import blocks

BAGS, FEW, MOST = 4, 256, 512
"""Candidates are the tokens of at least BAGS bags and of more until there are FEW; of more than
MOST a random part is taken."""
ALIKE = 1 - 1e-9
"""Two heads that begin at one direction (a cosine above this) would stay together for ever."""

SCRAMBLE = 1e4  # turns a sum into a number that looks random


def prototypes(objective: Objective, n_heads: int, rng: np.random.Generator) -> np.ndarray | None:
    """Unit directions (n_heads, d), or None where there are too few candidates."""
    candidates = _candidates(objective, rng)
    if len(candidates) < max(2, n_heads):
        return None
    peaks = _peaks(objective, candidates)
    alike = candidates @ candidates.T > ALIKE
    return candidates[_together(peaks, objective.y > 0, objective.share, n_heads, alike)]


def _candidates(objective: Objective, rng: np.random.Generator) -> np.ndarray:
    """Directions of the tokens of some positive bags."""
    inside = np.flatnonzero((objective.y > 0) & (objective.share > 0))
    bags = objective.data.bags.take(inside)
    order = _by_content(objective.data.standard(bags.tokens), bags, rng)
    enough = int(np.searchsorted(np.cumsum(bags.lengths[order]), FEW)) + 1
    tokens = objective.data.standard(bags.take(order[: max(BAGS, enough)]).tokens)
    if len(tokens) > MOST:
        tokens = tokens[rng.choice(len(tokens), MOST, replace=False)]
    lengths = np.linalg.norm(tokens, axis=1, keepdims=True)
    known = lengths[:, 0] > 0
    return tokens[known] / lengths[known]


def _by_content(tokens: np.ndarray, bags: Bags, rng: np.random.Generator) -> np.ndarray:
    """Different bags in a random order that what they hold decides, not their place in the data: a
    bag that is there twice, or has the weight two, is the same."""
    sums = np.add.reduceat(tokens @ rng.standard_normal(tokens.shape[1]), bags.offsets[:-1])
    keys = np.round(np.sin(SCRAMBLE * sums / bags.lengths), 7)
    return np.unique(keys, return_index=True)[1]


def _peaks(objective: Objective, directions: np.ndarray) -> np.ndarray:
    """(directions, bags): the largest score of each bag, up to a constant for each direction."""
    bags = objective.data.bags
    columns = (directions * objective.data.standard.inverse).T.astype(bags.tokens.dtype)
    peaks = np.empty((len(directions), len(bags)))
    for part in blocks(bags.offsets, len(directions)):
        scores = np.ascontiguousarray((bags.tokens[part.tokens] @ columns).T)
        peaks[:, part.bags] = part.segments.max(scores)
    return peaks


def _together(
    peaks: np.ndarray, positive: np.ndarray, share: np.ndarray, count: int, alike: np.ndarray
) -> list[int]:
    """The rows, no two of them alike, whose sum tells the classes apart best: the best one, the
    best pair, or that pair and what joins it best."""
    gap, spread = _moments(peaks, positive, share)
    own = np.diagonal(spread)
    if count == 1:
        return [int(np.argmax(_ratio(gap, own)))]
    pairs = _ratio(gap[:, None] + gap, own[:, None] + own + 2 * spread)
    pairs[alike] = -np.inf
    chosen = [int(one) for one in np.unravel_index(np.argmax(pairs), pairs.shape)]
    while len(chosen) < count:
        width = spread[np.ix_(chosen, chosen)].sum() + own + 2 * spread[chosen].sum(axis=0)
        gains = _ratio(gap[chosen].sum() + gap, width)
        gains[alike[chosen].any(axis=0)] = -np.inf
        chosen.append(int(np.argmax(gains)))
    return chosen


def _moments(peaks: np.ndarray, positive: np.ndarray, share: np.ndarray):
    """Mean of each row in positive bags minus that in negative ones; covariance within classes."""
    gap, spread = np.zeros(len(peaks)), np.zeros((len(peaks), len(peaks)))
    for side, sign in ((positive, 1), (~positive, -1)):
        weight = share[side] / share[side].sum()
        mean = peaks[:, side] @ weight
        centred = peaks[:, side] - mean[:, None]
        gap += sign * mean
        spread += (centred * weight) @ centred.T
    return gap, spread


def _ratio(gap: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """R with the sign of the gap; a variance that is nothing but rounding is no merit."""
    return np.sign(gap) * np.square(gap) / np.maximum(variance, 1e-12)
