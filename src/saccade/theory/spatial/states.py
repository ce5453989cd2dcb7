"""The population as a list of distinct images: which whole numbers an image enters by, and how likely each combination is.

With z = a x + b s + c K (see `setting.mixing`) and sigma(z) = z^p + nu z, the output F is a polynomial in (a, b, c) whose coefficients are
whole numbers of the image: the sums over sets of s^k and of m s^k, where s is the sum of a set's signals and m the number that are not
zero. Two images with the same sums get the same output from every three-scalar model, so they are one state. At D = 36, C = 4, p = 3
there are 229,062 states in place of 3^32 images.
"""

from functools import lru_cache
from math import comb, factorial
from typing import NamedTuple

import numpy as np

MOST_STATES = 600_000
MOST_ROWS = 8_000_000  # rows of one addition, states times set types: what memory allows
MOST_WORK = 150_000_000  # rows of all additions together: what patience allows, about half a minute
LEAST_MASS = 1e-10
MOST_LOST = 0.001
DRAWS = 200_000
SEED = 20221


class States(NamedTuple):
    """Distinct states of images with label +1: coefficients (terms, states), probabilities, and how they were found.

    `dropped` is the probability of the states left out as too unlikely (the rest is scaled up to one): 0 means exact. `drawn` counts random
    draws where listing was out of reach, else it is 0.
    """

    coefficients: np.ndarray
    probability: np.ndarray
    dropped: float
    drawn: int


def exponents(degree: int) -> list[tuple[int, int, int]]:
    """The monomials a^i b^j c^k of degree p, in the order of the coefficients; the last coefficient belongs to nu (a + C b + D c)."""
    return [(i, j, degree - i - j) for i in range(degree + 1) for j in range(degree + 1 - i)]


@lru_cache(maxsize=4)
def population_states(
    patches: int, set_size: int, spurious_rate: float, degree: int, only_sums: bool = False, most: int = MOST_STATES
) -> States:
    """All states with their probabilities, by adding one random set after the other and merging equal sums.

    Status: exact while no more than `most` states arise; then states below `LEAST_MASS` (or as much more as is needed) are dropped at every
    addition; when that would lose more than `MOST_LOST`, or take too long, `DRAWS` images are drawn with a fixed seed instead. `only_sums`
    merges all images whose set sums agree, which is enough when a = 0.
    """
    atoms, chances = _set_types(set_size, spurious_rate, degree, only_sums)
    sets = patches // set_size - 1
    listed = _listed(atoms, chances, sets, min(most, MOST_ROWS // len(atoms)))
    sums, probability, dropped = listed or (*_draw(atoms, chances, sets), 0.0)
    made = _coefficients(sums, patches, set_size, degree, only_sums)
    return States(made, probability / probability.sum(), dropped, 0 if listed else DRAWS)


def _listed(
    atoms: np.ndarray, chances: np.ndarray, sets: int, most: int
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """The states and their probabilities, with the probability dropped on the way; None when the list would be too long."""
    sums, probability, dropped, work = np.zeros((1, atoms.shape[1]), np.int64), np.ones(1), 0.0, 0
    for done in range(sets):
        work += len(probability) * len(atoms)
        to_come = (
            (sets - done) * len(probability) * len(atoms) if dropped > 0 else 0
        )  # the list has reached its full length
        if work + to_come > MOST_WORK or dropped > MOST_LOST:
            return None
        sums, probability = _merge(_add(sums, atoms), np.multiply.outer(probability, chances).ravel())
        if len(probability) > most:
            sums, probability, lost = _prune(sums, probability, most)
            dropped += lost
    return None if dropped > MOST_LOST else (sums, probability, dropped)


def _set_types(set_size: int, spurious_rate: float, degree: int, only_sums: bool) -> tuple[np.ndarray, np.ndarray]:
    """What one random set adds to the sums (s^1..s^p, then m s^0..m s^(p-2)), for every possible (n+, n-), with trinomial chances."""
    rows, chances = [], []
    for plus in range(set_size + 1):
        for minus in range(set_size + 1 - plus):
            empty = set_size - plus - minus
            ways = factorial(set_size) // (factorial(plus) * factorial(minus) * factorial(empty))
            chance = ways * (spurious_rate / 2) ** (plus + minus) * (1 - spurious_rate) ** empty
            rows.append(_powers(plus - minus, plus + minus, degree, only_sums))
            chances.append(chance)
    possible = np.asarray(chances) > 0
    return _merge(np.asarray(rows, np.int64)[possible], np.asarray(chances)[possible])


def _powers(total: int, busy: int, degree: int, only_sums: bool) -> list[int]:
    powers = [total**k for k in range(1, degree + 1)]
    return powers if only_sums else powers + [busy * total**k for k in range(degree - 1)]


def _add(sums: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    return (sums[:, None, :] + atoms[None]).reshape(-1, atoms.shape[1])


def _merge(sums: np.ndarray, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal rows become one, with the sum of their probabilities; the order is that of the rows."""
    code, width = np.zeros(len(sums), np.int64), 1
    for column in sums.T:
        low, span = int(column.min()), int(np.ptp(column)) + 1
        if width > 2**62 // span:  # rank the code so far: at most as many values as rows
            code = np.unique(code, return_inverse=True)[1]
            width = int(code.max()) + 1
        code, width = code * span + (column - low), width * span
    _, first, back = np.unique(code, return_index=True, return_inverse=True)
    return sums[first], np.bincount(back, probability)


def _prune(sums: np.ndarray, probability: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Drop what is below `LEAST_MASS`, or more if more than `most` states would stay."""
    floor = max(LEAST_MASS, float(np.partition(probability, -most)[-most]))
    keep = probability >= floor
    return sums[keep], probability[keep], float(probability[~keep].sum())


def _draw(atoms: np.ndarray, chances: np.ndarray, sets: int) -> tuple[np.ndarray, np.ndarray]:
    """Multinomial numbers of sets of each type, equal sums merged; the frequency is the probability."""
    generator = np.random.default_rng(SEED)
    numbers = generator.multinomial(sets, chances / chances.sum(), size=DRAWS)
    return _merge(numbers @ atoms, np.full(DRAWS, 1 / DRAWS))


def _coefficients(sums: np.ndarray, patches: int, set_size: int, degree: int, only_sums: bool) -> np.ndarray:
    """Coefficients of a^i b^j c^k: p!/(i!j!k!) K^k times the sum over sets of s^j, weighted by C, s or m for i = 0, odd, even.

    The signal set (s = m = C for label +1) is one more set.
    """
    total = (sums + np.asarray(_powers(set_size, set_size, degree, only_sums))).astype(float)
    sets = patches // set_size
    power = {k: total[:, k - 1] for k in range(1, degree + 1)} | {0: np.full(len(total), float(sets))}
    busy = {} if only_sums else {k: total[:, degree + k] for k in range(degree - 1)}
    rows = []
    for i, j, k in exponents(degree):
        if i > 0 and only_sums:
            rows.append(np.zeros(len(total)))
            continue
        part = set_size * power[j] if i == 0 else power[j + 1] if i % 2 else busy[j]
        rows.append(comb(degree, i) * comb(degree - i, j) * power[1] ** k * part)
    return np.stack([*rows, power[1]])


def thinned(states: States, most: int) -> States:
    """At most about `most` states: likely ones are kept, the rest is thinned evenly in the order of the list, each survivor standing for
    an equal share (the resampling of Fearnhead and Clifford 2003, systematic). Status: unbiased up to the fixed offset; exact when
    nothing is thinned."""
    probability = states.probability
    if len(probability) <= most:
        return states
    share = _share(probability, most)
    sure = probability >= share
    ladder = np.cumsum(np.where(sure, 0.0, probability)) / share
    chosen = np.floor(ladder + 0.5) > np.floor(np.concatenate([[0.0], ladder[:-1]]) + 0.5)
    kept = np.where(sure, probability, np.where(chosen & ~sure, share, 0.0))
    keep = kept > 0
    return States(
        np.ascontiguousarray(states.coefficients[:, keep]), kept[keep] / kept.sum(), states.dropped, int(keep.sum())
    )


def _share(probability: np.ndarray, most: int) -> float:
    """The c with sum_i min(p_i / c, 1) = most, by bisection in log c."""
    low, high = -700.0, 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(probability * np.exp(-middle), 1).sum() > most else (low, middle)
    return float(np.exp(high))
