"""Many LASSO problems at once, by proximal steps on their Gram matrices.

    minimise over b   1/(2N) |y - X b|^2 + alpha |b|_1         (scikit-learn's alpha)

A problem enters by G = X^T X/N, c = X^T y/N and |y|^2/N. With one X for all problems G is one
matrix and a step is one matrix product; else G has one matrix a problem. Every result carries its
duality gap: its objective is no further than that above the minimum.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

CHECK = 20
"""Steps between two looks at the duality gaps."""


@dataclass(frozen=True)
class Problems:
    """`gram` (1 or P, d, d), `moment` (P, d), `power` (P,): |y|^2/N."""

    gram: np.ndarray
    moment: np.ndarray
    power: np.ndarray

    @property
    def shared(self) -> bool:
        return len(self.gram) == 1

    def take(self, keep: np.ndarray) -> "Problems":
        gram = self.gram if self.shared else self.gram[keep]
        return Problems(gram, self.moment[keep], self.power[keep])

    def times(self, coefficients: np.ndarray) -> np.ndarray:
        """G b of every problem."""
        if self.shared:
            return coefficients @ self.gram[0]
        return (self.gram @ coefficients[:, :, None])[:, :, 0]

    def lipschitz(self) -> np.ndarray:
        """The largest eigenvalue of each G, (1 or P, 1); a shade more, for rounding."""
        largest = np.linalg.eigvalsh(self.gram)[:, -1:]
        return np.maximum(largest * (1 + 1e-9), np.finfo(float).tiny)

    def gap(self, coefficients: np.ndarray, alpha: float) -> np.ndarray:
        """Duality gap of each problem: objective minus the dual value at the scaled residual."""
        product = self.times(coefficients)
        fit = (coefficients * product).sum(axis=1)
        cross = (coefficients * self.moment).sum(axis=1)
        residual = np.maximum(self.power - 2 * cross + fit, 0)
        largest = np.abs(self.moment - product).max(axis=1)
        scale = np.minimum(1.0, alpha / np.maximum(largest, np.finfo(float).tiny))
        primal = residual / 2 + alpha * np.abs(coefficients).sum(axis=1)
        dual = (
            self.power / 2
            - (self.power - 2 * scale * (self.power - cross) + scale**2 * residual) / 2)
        return np.maximum(primal - dual, 0)


def shrink(values: np.ndarray, threshold: np.ndarray | float) -> np.ndarray:
    """Soft threshold: sign(u) max(|u| - t, 0)."""
    return np.sign(values) * np.maximum(np.abs(values) - threshold, 0)


class Momentum(NamedTuple):
    """Where the iteration is: coefficients, the point it looks ahead to, and t of each problem."""

    coefficients: np.ndarray
    ahead: np.ndarray
    t: np.ndarray

    def take(self, keep: np.ndarray) -> "Momentum":
        return Momentum(self.coefficients[keep], self.ahead[keep], self.t[keep])


def step(
    problems: Problems, at: Momentum, alpha: float, lipschitz: np.ndarray, method: str,
    restart: bool = False,
) -> Momentum:
    """One proximal gradient step, with FISTA's momentum unless `method` is "ista"; `restart` drops
    the momentum of problems where it points uphill."""
    slope = problems.times(at.ahead) - problems.moment
    new = shrink(at.ahead - slope / lipschitz, alpha / lipschitz)
    if method == "ista":
        return Momentum(new, new, at.t)
    moved = new - at.coefficients
    t = at.t
    if restart:
        t = np.where(((at.ahead - new) * moved).sum(axis=1, keepdims=True) > 0, 1.0, t)
    following = (1 + np.sqrt(1 + 4 * t**2)) / 2
    return Momentum(new, new + (t - 1) / following * moved, following)


def begin(problems: Problems) -> Momentum:
    zeros = np.zeros_like(problems.moment)
    return Momentum(zeros, zeros, np.ones((len(zeros), 1)))


def unrolled(problems: Problems, alpha: float, steps: int, method: str) -> np.ndarray:
    """Exactly `steps` steps from zero: what a network of that depth computes."""
    at, lipschitz = begin(problems), problems.lipschitz()
    for _ in range(steps):
        at = step(problems, at, alpha, lipschitz, method)
    return at.coefficients


def converged(
    problems: Problems, alpha: float, tolerance: float, max_iter: int, method: str
) -> tuple[np.ndarray, int]:
    """Until each duality gap is below `tolerance` |y|^2/N. Problems that are done leave; at every
    look the support is tried as the final one (`polish`), which ends most of them."""
    coefficients = np.zeros_like(problems.moment)
    left, at, lipschitz = np.arange(len(coefficients)), begin(problems), problems.lipschitz()
    count = 0
    while len(left) and count < max_iter:
        for _ in range(min(CHECK, max_iter - count)):
            at = step(problems, at, alpha, lipschitz, method, restart=True)
            count += 1
        coefficients[left] = at.coefficients
        best = polish(problems, at.coefficients, alpha)
        gaps = np.stack([problems.gap(one, alpha) for one in (at.coefficients, best)])
        coefficients[left] = np.where((gaps[1] < gaps[0])[:, None], best, at.coefficients)
        open_ = gaps.min(axis=0) > tolerance * np.maximum(problems.power, np.finfo(float).tiny)
        left, problems, at = left[open_], problems.take(open_), at.take(open_)
        lipschitz = lipschitz if len(lipschitz) == 1 else lipschitz[open_]
    return coefficients, count


def polish(problems: Problems, coefficients: np.ndarray, alpha: float) -> np.ndarray:
    """The exact minimum if the support and signs are already those of the solution: G_SS b_S = c_S
    - alpha sign_S, problem by problem; a singular system leaves coefficients as they are."""
    out = coefficients.copy()
    for index, row in enumerate(coefficients):
        support = np.flatnonzero(row)
        if len(support) == 0:
            continue
        gram = problems.gram[0 if problems.shared else index][np.ix_(support, support)]
        right = problems.moment[index, support] - alpha * np.sign(row[support])
        try:
            out[index, support] = np.linalg.solve(gram, right)
        except np.linalg.LinAlgError:
            continue
    return out
