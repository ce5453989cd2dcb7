"""How local learned encodings are: are the encodings most similar to that of a cell those of its
neighbours in the picture?

Encodings P (tokens x width) are centred over tokens and compared by their cosines. Coordinates are
where the tokens lie: on the screen, `grid(side)`, or in the original picture, where token k lies at
cell permutation[k]: `grid(side)[permutation]`.
"""

from typing import Any, NamedTuple

import numpy as np


class Locality(NamedTuple):
    """`overlap` of every token, `spearman` of cosine and closeness, and the overlap by chance."""

    overlap: np.ndarray
    spearman: float
    chance: float


def cosines(encodings: np.ndarray) -> np.ndarray:
    """Cosines of the centred encodings, (tokens, tokens)."""
    centred = encodings - encodings.mean(axis=0)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = centred / np.where(length > 0, length, 1.0)
    return unit @ unit.T


def grid(side: int) -> np.ndarray:
    """Row and column of each of side x side cells, row by row."""
    return np.stack(np.divmod(np.arange(side * side), side), axis=1)


def distances(coordinates: np.ndarray) -> np.ndarray:
    """Euclidean distances between all pairs of places."""
    return np.linalg.norm(coordinates[:, None] - coordinates[None], axis=-1)


def overlaps(similarity: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """|Top_k(row i, j != i) and neighbours of i| / k, with k the number of neighbours of i. Ties at
    the last place are shared evenly."""
    count = len(similarity)
    wanted = neighbours.sum(axis=1)
    values = np.where(np.eye(count, dtype=bool), -np.inf, similarity)
    last = np.take_along_axis(-np.sort(-values, axis=1), wanted[:, None] - 1, axis=1)
    above, tied = values > last, values == last
    share = (wanted - above.sum(axis=1)) / tied.sum(axis=1)
    return ((above & neighbours).sum(axis=1) + share * (tied & neighbours).sum(axis=1)) / wanted


def _neighbours(coordinates: np.ndarray) -> np.ndarray:
    """Which tokens (up to eight) lie around each."""
    return (distances(coordinates) < 1.5) & ~np.eye(len(coordinates), dtype=bool)


def locality(similarity: np.ndarray, coordinates: np.ndarray) -> Locality:
    """Overlap of the most similar with the neighbours, and rank correlation with closeness."""
    from scipy.stats import spearmanr

    apart, neighbours = distances(coordinates), _neighbours(coordinates)
    other = ~np.eye(len(apart), dtype=bool)
    ranks: Any = (
        spearmanr(similarity[other], -apart[other])[0] if np.ptp(similarity[other]) > 0 else 0.0)
    chance = float(neighbours.sum(axis=1).mean() / (len(apart) - 1))
    return Locality(overlaps(similarity, neighbours), float(ranks), chance)


def null_overlaps(similarity: np.ndarray, side: int, draws: int, seed: int = 0) -> np.ndarray:
    """The mean overlap under random coordinates, (draws,): what it would be if place said nothing.
    For similarities without ties."""
    random = np.random.default_rng(seed)
    neighbours = _neighbours(grid(side))
    values = np.where(np.eye(len(neighbours), dtype=bool), -np.inf, similarity)
    rank = np.argsort(np.argsort(-values, axis=1), axis=1)  # sorted once; a draw then only compares
    means = np.empty(draws)
    for number in range(draws):
        order = random.permutation(len(neighbours))
        near = neighbours[np.ix_(order, order)]
        wanted = near.sum(axis=1)
        means[number] = np.mean(np.sum(near & (rank < wanted[:, None]), axis=1) / wanted)
    return means
