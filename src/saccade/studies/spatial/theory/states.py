"""The population as a list of distinct images: by which whole numbers, and how likely, each enters.

With z = a x + b s + c K (see `population.mixing`) and sigma(z) = z^p + nu z, the output F is a
polynomial in (a, b, c) whose coefficients are whole numbers of the image: the sums over sets of s^k
and of m s^k, where s is the sum of a set's signals and m the number that are not zero. Two images
with the same sums get the same output from every three-scalar model, so they are one state. At D =
36, C = 4, p = 3 there are 229,062 states in place of 3^32 images.
"""

from functools import lru_cache
from math import comb, factorial, log2, prod
from typing import NamedTuple

import numpy as np

from saccade.errors import require

MOST_STATES = 300_000
# States times set types, over all additions: what patience allows, a few seconds.
MOST_ROWS = 60_000_000
MOST_SET_SIZE = 100  # there are (C + 1)(C + 2)/2 types of sets
SEED = 20221


class States(NamedTuple):
    """Distinct states of images with label +1: coefficients (terms, states) and probabilities.

    `thinned` is 0 when the list is complete, so that every mean over it is exact. Otherwise it is
    the probability (summed over the additions) of states of which only some were kept, with more
    weight."""

    coefficients: np.ndarray
    probability: np.ndarray
    thinned: float


def exponents(degree: int) -> list[tuple[int, int, int]]:
    """The monomials a^i b^j c^k of degree p, in the order of the coefficients; nu's comes last."""
    return [(i, j, degree - i - j) for i in range(degree + 1) for j in range(degree + 1 - i)]


@lru_cache(maxsize=4)
def population_states(
    patches: int, set_size: int, spurious_rate: float, degree: int, only_sums: bool = False,
    most: int | None = None,
) -> States:
    """All states with their probabilities: random sets are added one by one, equal sums merged.

    Status: exact while no more than `most` states arise (by default 300,000, or as many as
    `MOST_ROWS` allows); beyond that unlikely states are thinned at every addition, without bias.
    `only_sums` merges all images whose set sums agree, which is enough when a = 0.
    """
    _check_powers(patches // set_size, set_size, degree)
    atoms, chances = _set_types(set_size, spurious_rate, degree, only_sums)
    sets = patches // set_size - 1
    limit = most or _most_states(max(sets, 1) * len(atoms))
    sums, probability, lost = np.zeros((1, atoms.shape[1]), np.int64), np.ones(1), 0.0
    multipliers = _multipliers(atoms, sets)
    for _ in range(sets):
        sums, probability = _extended(sums, probability, atoms, chances, multipliers)
        weight, thin = _thinned_weights(probability, limit)
        sums, probability, lost = sums[weight > 0], weight[weight > 0], lost + thin
    coefficients = _coefficients(sums, patches, set_size, degree, only_sums)
    return States(coefficients, probability / probability.sum(), lost)


def _check_powers(sets: int, set_size: int, degree: int) -> None:
    """Sums of powers are whole numbers of 64 bits; few enough types of sets to list."""
    rule = f"must be at most {MOST_SET_SIZE} for states to be listed"
    require(set_size <= MOST_SET_SIZE, "set_size", set_size, rule)
    highest = 15 if set_size == 1 else int((62 - log2(sets)) / log2(set_size))
    rule = f"must be at most {highest} for {sets} sets of {set_size} patches"
    require(degree <= highest, "degree", degree, rule)


def _most_states(rows: int) -> int:
    """How many states may be kept where each has so many rows, over all additions. Where there are
    thousands of rows every addition is long, not only the last ones: then a quarter."""
    allowed = MOST_ROWS // rows
    return min(MOST_STATES, allowed if allowed > 5000 else max(100, allowed // 4))


def _multipliers(atoms: np.ndarray, sets: int) -> np.ndarray:
    """Numbers that turn the sums of an image into one whole number of its own: mixed radix if that
    fits into 64 bits, else fixed random odd numbers modulo 2^64 (two of a million states then meet
    with a chance of 3e-8)."""
    spans = [max(int(np.ptp(column)), 0) * sets + 1 for column in atoms.T]
    if prod(spans) < 2**62:
        return np.asarray([prod(spans[number + 1 :]) for number in range(len(spans))], np.int64)
    return _random_odd(len(spans))


def _random_odd(number: int) -> np.ndarray:
    return np.random.default_rng(SEED).integers(-(2**62), 2**62, number) * 2 + 1


def _extended(
    sums: np.ndarray, probability: np.ndarray, atoms: np.ndarray, chances: np.ndarray,
    multipliers: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """One more random set: every state with every type, states of equal code merged."""
    with np.errstate(over="ignore"):
        code = np.add.outer(sums @ multipliers, atoms @ multipliers).ravel()
    order = np.argsort(code, kind="stable")
    ranked = code[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    first = order[starts]
    merged = np.add.reduceat(np.multiply.outer(probability, chances).ravel()[order], starts)
    return sums[first // len(atoms)] + atoms[first % len(atoms)], merged


def _set_types(
    set_size: int, spurious_rate: float, degree: int, only_sums: bool
) -> tuple[np.ndarray, np.ndarray]:
    """What one random set adds to the sums (s^1..s^p, then m s^0..m s^(p-2)), for every possible
    (n+, n-), with trinomial chances."""
    rows, chances = [], []
    for plus in range(set_size + 1):
        for minus in range(set_size + 1 - plus):
            busy, empty = plus + minus, set_size - plus - minus
            ways = factorial(set_size) // (factorial(plus) * factorial(minus) * factorial(empty))
            rows.append(_powers(plus - minus, busy, degree, only_sums))
            chances.append(ways * (spurious_rate / 2) ** busy * (1 - spurious_rate) ** empty)
    possible = np.asarray(chances) > 0
    return _merge(np.asarray(rows, np.int64)[possible], np.asarray(chances)[possible])


def _powers(total: int, busy: int, degree: int, only_sums: bool) -> list[int]:
    powers = [total**k for k in range(1, degree + 1)]
    return powers if only_sums else powers + [busy * total**k for k in range(degree - 1)]


def _merge(sums: np.ndarray, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal rows become one, with the sum of their probabilities."""
    distinct, back = np.unique(sums, axis=0, return_inverse=True)
    return distinct, np.bincount(back.ravel(), probability)


def _coefficients(
    sums: np.ndarray, patches: int, set_size: int, degree: int, only_sums: bool
) -> np.ndarray:
    """Coefficients of a^i b^j c^k: p!/(i!j!k!) K^k times the sum over sets of s^j, weighted by C, s
    or m for i = 0, odd, even; the signal set (s = m = C for label +1) is one more set."""
    total = (sums + np.asarray(_powers(set_size, set_size, degree, only_sums))).astype(float)
    power = [np.full(len(total), float(patches // set_size)), *total.T[:degree]]
    busy, rows = total.T[degree:], []
    for i, j, k in exponents(degree):
        if i > 0 and only_sums:
            part = np.zeros(len(total))
        else:
            part = set_size * power[j] if i == 0 else power[j + 1] if i % 2 else busy[j]
        rows.append(comb(degree, i) * comb(degree - i, j) * power[1] ** k * part)
    return np.stack([*rows, power[1]])


def thinned(states: States, most: int) -> States:
    """About `most` states that stand for all: see `_thinned_weights`."""
    weight, lost = _thinned_weights(states.probability, most)
    keep = weight > 0
    coefficients = np.ascontiguousarray(states.coefficients[:, keep])
    return States(coefficients, weight[keep] / weight.sum(), states.thinned + lost)


def _thinned_weights(probability: np.ndarray, most: int) -> tuple[np.ndarray, float]:
    """New weights of which about `most` are not zero, and the probability that had to be thinned.

    Likely states keep their probability. Of the others every so many-th in the list survives, with
    the same weight c, where sum_i min(p_i / c, 1) = most (Fearnhead and Clifford 2003, systematic
    selection). Neighbours are alike, so this errs far less than drawing at random.
    """
    if len(probability) <= most:
        return probability, 0.0
    share = _share(probability, most)
    sure = probability >= share
    ladder = np.cumsum(np.where(sure, 0.0, probability)) / share + 0.5
    chosen = np.floor(ladder) > np.floor(np.concatenate([[0.5], ladder[:-1]]))
    weights = np.where(sure, probability, np.where(chosen, share, 0.0))
    return weights, float(probability[~sure].sum())


def _share(probability: np.ndarray, most: int) -> float:
    """The c with sum_i min(p_i / c, 1) = most, by bisection in log c."""
    low, high = -700.0, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        too_many = np.minimum(probability * np.exp(-middle), 1).sum() > most
        low, high = (middle, high) if too_many else (low, middle)
    return float(np.exp(high))


def listed_states(set_sums: np.ndarray, busy: np.ndarray, set_size: int, degree: int) -> States:
    """The states of given images with label +1, equally likely: sums and numbers of busy patches of
    their random sets (images, sets)."""
    powers = [np.sum(set_sums**k, axis=1) for k in range(1, degree + 1)]
    powers += [np.sum(busy * set_sums**k, axis=1) for k in range(degree - 1)]
    images = len(set_sums)
    sums, probability = _merge(np.stack(powers, 1).astype(np.int64), np.full(images, 1 / images))
    patches = (set_sums.shape[1] + 1) * set_size
    return States(_coefficients(sums, patches, set_size, degree, False), probability, 0.0)
