"""How local learned encodings are: are the encodings most similar to that of a cell those of its
neighbours in the picture?

Encodings P (tokens x width) are centred over tokens and compared by their cosines. Coordinates are
where the tokens lie: on the screen (apparent), or in the original picture (un-permuted), token k
lying at cell permutation[k].
"""

from typing import Any, NamedTuple

import numpy as np

from saccade.errors import require


class Locality(NamedTuple):
    """`overlap` of every token; `spearman` of cosine and closeness; mean cosine of neighbours less
    that of the others; chance."""

    overlap: np.ndarray
    spearman: float
    near_minus_far: float
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


def places(permutation: np.ndarray) -> np.ndarray:
    """Where in the original picture each token lies: token k shows old cell permutation[k]."""
    side = round(len(permutation) ** 0.5)
    require(
        side * side == len(permutation), "number of cells", len(permutation), "must be a square")
    return grid(side)[permutation]


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


def locality(similarity: np.ndarray, coordinates: np.ndarray) -> Locality:
    """Overlap of the most similar with the (up to eight) neighbours, and rank correlation of
    similarity with closeness."""
    from scipy.stats import spearmanr

    apart = distances(coordinates)
    other = ~np.eye(len(apart), dtype=bool)
    neighbours = other & (apart < 1.5)
    far = other & ~neighbours
    ranks: Any = (
        spearmanr(similarity[other], -apart[other])[0] if np.ptp(similarity[other]) > 0 else 0.0)
    contrast = float(similarity[neighbours].mean() - (similarity[far].mean() if far.any() else 0.0))
    chance = float(neighbours.sum(axis=1).mean() / (len(apart) - 1))
    return Locality(overlaps(similarity, neighbours), float(ranks), contrast, chance)


def null_overlaps(similarity: np.ndarray, side: int, draws: int, seed: int = 0) -> np.ndarray:
    """The mean overlap under random coordinates: what it would be if place said nothing. (draws,);
    similarities without ties."""
    random = np.random.default_rng(seed)
    apart = distances(grid(side))
    neighbours = (apart < 1.5) & ~np.eye(len(apart), dtype=bool)
    values = np.where(np.eye(len(apart), dtype=bool), -np.inf, similarity)
    rank = np.argsort(np.argsort(-values, axis=1), axis=1)  # sorted once; a draw then only compares
    found = np.empty(draws)
    for number in range(draws):
        order = random.permutation(len(apart))
        near = neighbours[np.ix_(order, order)]
        wanted = near.sum(axis=1)
        found[number] = np.mean(np.sum(near & (rank < wanted[:, None]), axis=1) / wanted)
    return found
