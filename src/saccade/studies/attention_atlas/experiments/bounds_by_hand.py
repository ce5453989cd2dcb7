"""What learners that are blind to something leave, by linear algebra, enumeration and quadrature;
guesses of the split task from densities, one hypothesis after the other."""

from itertools import product
from typing import Any

import jax
import numpy as np
import xarray
from scipy.integrate import quad
from scipy.stats import norm

from saccade.lab.experiment import experiment
from saccade.studies.attention_atlas.task import Split, generator

GAMMAS, LAW, BEST = (0.5, 0.9), (0.5, 0.3, 0.15, 0.05), 0.1
LOOKS = ((6, 2, 1.0), (5, 3, 0.7))
"""L, R and theta"""
LENGTHS = (4, 5)
PARTS = (
    *(f"linear, gamma = {gamma:g}" for gamma in GAMMAS),
    *(f"{what}, R = {one[1]}" for one in LOOKS for what in ("AUROC", "top-1")),
    *(f"majority of {length}" for length in LENGTHS), "best guess", "guess without order")


def _linear(gamma: float, law: np.ndarray) -> float:
    """The excess error of least squares on (1, x_l . k, x_l . v), l = 1 .. L, from second moments:
    place J has the chance p_J, its token is N(2 k, gamma^2 I), the others N(0, I), y = x_J . v."""
    count = len(law)
    moments, with_y = np.zeros((2 * count + 1,) * 2), np.zeros(2 * count + 1)
    for J, chance in enumerate(law):
        mean = np.concatenate([[1.0], 2.0 * np.eye(count)[J], np.zeros(count)])
        spread = np.tile(np.where(np.arange(count) == J, gamma**2, 1.0), 2)
        moments += chance * (np.outer(mean, mean) + np.diag(np.append(0.0, spread)))
        with_y[1 + count + J] += chance * gamma**2
    error = gamma**2 - with_y @ np.linalg.solve(moments, with_y)
    return float((error - BEST) / (gamma**2 - BEST))


def _looks(length: int, informative: int, signal: float) -> list[float]:
    """P(shifted > other), and 1 - P(the largest of the others is above all that are shifted)."""
    others = length - informative

    def missed(x: float) -> float:
        below = norm.cdf(x) ** (others - 1) * norm.cdf(x - signal) ** informative
        return float(others * norm.pdf(x) * below)

    above = quad(lambda x: norm.pdf(x - signal) * norm.cdf(x), -9, 11)[0]
    return [float(above), float(1 - quad(missed, -9, 9)[0])]


def _majority(length: int) -> float:
    """Twice the share of sign patterns in which the majority is not the first sign; ties count by
    halves."""
    wrong = [
        0.5 if sum(signs) == 0 else float(np.sign(sum(signs)) != signs[0])
        for signs in product((-1, 1), repeat=length)]
    return 2 * float(np.mean(wrong))


def _guesses(random: np.random.Generator, key: Any, among: int, longer: float) -> list[float]:
    """How far E[y | X] is from a sum over marked places J, and without the order from a sum over
    pairs of a first place, `among` so many, and a marked one, whose mark is `longer`."""
    off = []
    for share in (0.3, 0.0):
        task = Split.create(key, 4, 5, share)
        k, u, v = task.directions
        X = random.standard_normal((8, 4, 5)) + random.uniform(0, 0.6, (8, 4, 1)) * k
        mark = [
            [
                np.prod(norm.pdf(x, longer * np.sqrt(2.5) * k, np.sqrt(0.5)) / norm.pdf(x))
                for x in row]
            for row in X]
        guesses = []
        for row, densities in zip(X, mark, strict=True):
            pairs = [
                (first, J, densities[J]) for first in range(among if share == 0 else 1)
                for J in range(4) if first != J]
            said = [
                chance * (np.sqrt(1 - share) * row[first] @ u + np.sqrt(2 * share) * row[J] @ v)
                for first, J, chance in pairs]
            guesses.append(sum(said) / sum(chance for _, _, chance in pairs))
        made = task.without_order(X, 3) if share == 0 else task.best(X)
        off.append(float(np.abs(made - guesses).max()))
    return off


@experiment("attention-atlas.bounds-by-hand")
def bounds_by_hand(key: Any, *, among: int = 3, longer: float = 1.0) -> xarray.Dataset:
    """The numbers of PARTS; the last two are differences: by hand the first place is `among` so
    many, and marks are `longer`."""
    values = [
        *(_linear(gamma, np.array(LAW)) for gamma in GAMMAS),
        *(value for one in LOOKS for value in _looks(*one)), *map(_majority, LENGTHS),
        *_guesses(generator(key), jax.random.fold_in(key, 1), among, longer)]
    return xarray.Dataset({"value": ("part", np.array(values))}, {"part": list(PARTS)})
