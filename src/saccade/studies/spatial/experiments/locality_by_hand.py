"""How local encodings are, beside loops over cells: cosines, neighbours, overlaps, chance."""

from typing import Any

import numpy as np
import xarray
from scipy.stats import rankdata

from saccade.arrays import generator
from saccade.datasets.images.locality import cosines, grid, locality, null_overlaps
from saccade.lab.experiment import experiment

SIDE, WIDTH = 4, 3
PARTS = ("cosines", "overlaps", "with ties", "rank correlation", "chance", "at random places")


def _overlap(row: np.ndarray, own: int, near: list[int]) -> float:
    """The share of the k most similar others that are near, k the number of those; who ties for the
    last places has an equal chance of each."""
    others = [cell for cell in range(len(row)) if cell != own]
    last = sorted((row[cell] for cell in others), reverse=True)[len(near) - 1]
    above = [cell for cell in others if row[cell] > last]
    tied = [cell for cell in others if row[cell] == last]
    chance = (len(near) - len(above)) / len(tied)
    found = len(set(above) & set(near)) + chance * len(set(tied) & set(near))
    return found / len(near)


def _near(places: list[tuple[int, int]], diagonal: bool) -> list[list[int]]:
    """Which cells lie around each."""
    return [
        [
            j for j, (a, b) in enumerate(places) if i != j
            and max(abs(a - row), abs(b - column)) == 1
            and (diagonal or abs(a - row) + abs(b - column) == 1)]
        for i, (row, column) in enumerate(places)]


@experiment("spatial.locality-by-hand")
def locality_by_hand(
    key: Any, *, diagonal: bool = True, centred: bool = True, moved: bool = False
) -> xarray.Dataset:
    """The largest gaps of PARTS, for random encodings of cells in another order. By hand diagonal
    neighbours count if `diagonal`, encodings are `centred`, and cells lie as shown if `moved`."""
    random = generator(key)
    encodings, order = random.standard_normal((SIDE**2, WIDTH)) + 0.7, random.permutation(SIDE**2)
    places = [divmod(int(cell), SIDE) for cell in (range(SIDE**2) if moved else order)]
    near = _near(places, diagonal)
    away = encodings - (encodings.mean(axis=0) if centred else 0)
    by_hand = np.array([[a @ b / np.sqrt((a @ a) * (b @ b)) for b in away] for a in away])
    made, coarse = cosines(encodings), np.round(2 * cosines(encodings))
    found, with_ties = (locality(one, grid(SIDE)[order]) for one in (made, coarse))
    cells = [(i, j) for i in range(SIDE**2) for j in range(SIDE**2) if i != j]
    ranks = [
        rankdata([by_hand[pair] for pair in cells]),
        rankdata([-np.hypot(*np.subtract(places[i], places[j])) for i, j in cells])]
    draw = np.random.default_rng(5)
    chances = []
    for _ in range(3):
        around = _near([divmod(cell, SIDE) for cell in draw.permutation(SIDE**2)], diagonal)
        chances.append(np.mean([_overlap(row, i, around[i]) for i, row in enumerate(by_hand)]))
    gaps = [
        np.abs(made - by_hand).max(),
        *(
            np.abs(one.overlap - [_overlap(row, i, near[i]) for i, row in enumerate(table)]).max()
            for one, table in ((found, by_hand), (with_ties, np.round(2 * by_hand)))),
        abs(found.spearman - np.corrcoef(ranks)[0, 1]),
        abs(found.chance - sum(map(len, near)) / SIDE**2 / (SIDE**2 - 1)),
        np.abs(null_overlaps(made, SIDE, 3, 5) - chances).max()]
    return xarray.Dataset({"gap": ("what", np.array(gaps))})
