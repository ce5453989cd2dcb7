"""The layer of patches that look at each other by place, its gradient, and its fitted form.

    F = b + sum_i z_i^p + nu z_i,   z_i = sum_j S_ij u_j,   u_j = v . x_j,   S = row softmax of A

Sums go over the patches a bag has; the diagonal of A stays 1. Status: exact gradient.
"""

from dataclasses import dataclass

import numpy as np

from saccade.estimators.bags import Bags
from saccade.estimators.held_out import Target
from saccade.estimators.objective import Data, Loss, ridged
from saccade.estimators.places import by_place, by_token


@dataclass(frozen=True)
class Layer:
    """z_i = sum_j S_ij u_j over the patches that are there, S = softmax of the rows of A;
    F = b + sum_i z_i^p + nu z_i."""

    degree: int
    slope: float

    def mix(self, A: np.ndarray, u: np.ndarray, here: np.ndarray):
        """(exp A, u where there is a patch, normaliser, z)."""
        kernel = np.exp(A - A.max(axis=1, keepdims=True))
        total = here @ kernel.T
        u = u * here
        return kernel, u, total, (u @ kernel.T) / total

    def read(self, z: np.ndarray, here: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F - b of each bag, and its derivative in z."""
        power = z ** (self.degree - 1)
        value = (here * (power * z + self.slope * z)).sum(axis=1)
        return value, here * (self.degree * power + self.slope)


@dataclass(frozen=True)
class PatchModel:
    """The fitted layer in the units of the tokens: u_j = v . x_j - shift."""

    layer: Layer
    intercept: float
    A: np.ndarray
    value: np.ndarray
    shift: float
    sets: np.ndarray | None = None

    def decision(self, bags: Bags) -> np.ndarray:
        here, (_, _, _, z) = self._mixed(bags)
        return self.intercept + self.layer.read(z, here)[0]

    def attention(self, bags: Bags) -> np.ndarray:
        """What each patch receives, averaged over those that look, each by how much its own term
        moves F (equally where nothing does)."""
        here, (kernel, _, total, z) = self._mixed(bags)
        strength = here * np.abs(z * self.layer.read(z, here)[1])
        sums = strength.sum(axis=1, keepdims=True)
        strength = np.where(sums > 0, strength, here)
        strength /= strength.sum(axis=1, keepdims=True)
        return by_token(bags, (strength / total) @ kernel)

    def _mixed(self, bags: Bags):
        """Which patches are there, and what `Layer.mix` makes of them."""
        here = by_place(bags, np.ones(len(bags.tokens)), len(self.A))
        u = by_place(bags, bags.tokens @ self.value - self.shift, len(self.A))
        return here, self.layer.mix(self.A, u, here)


class PatchObjective:
    """J of theta = (b, v, A row by row); the diagonal of A stays 1."""

    def __init__(
        self, data: Data, target: Target, count: int, layer: Layer, ratio: float, loss: Loss
    ) -> None:
        self.data, self.target, self.count, self.layer, self.loss = data, target, count, layer, loss
        self.width = data.tokens.shape[1]
        self.here = by_place(data.bags, np.ones(len(data.tokens)), count)
        self.off_diagonal = ~np.eye(count, dtype=bool)
        pairs = np.full(count * (count - 1), ratio)
        self.penalties = np.concatenate([[0.0], np.ones(self.width), pairs])

    def parts(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        A = np.eye(self.count)
        A[self.off_diagonal] = theta[1 + self.width :]
        return theta[0], theta[1 : 1 + self.width], A

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        b, v, A = self.parts(theta)
        u = by_place(self.data.bags, self.data.along(v), self.count)
        kernel, u, total, z = self.layer.mix(A, u, self.here)
        level, steep = self.layer.read(z, self.here)
        losses, slope = self.loss(b + level, self.target.y)
        slope = self.target.share * slope
        pull = slope[:, None] * steep / total
        by_kernel = kernel * (pull.T @ u - (pull * z).T @ self.here)
        by_u = pull @ kernel
        by_value = self.data.pulled(by_token(self.data.bags, by_u))
        gradient = np.concatenate([[slope.sum()], by_value, by_kernel[self.off_diagonal]])
        return ridged(self.target.share @ losses, gradient, theta, ridge * self.penalties)

    def start(self) -> np.ndarray:
        """A = 0 off the diagonal; v along the difference of the mean tokens of the classes, so long
        that the mean bag's terms are of order 1."""
        theta = np.zeros(len(self.penalties))
        bags = self.data.bags
        signed = np.repeat(self.target.share * self.target.y / bags.lengths, bags.lengths)
        standard = self.data.standard
        gap = (signed @ bags.tokens - signed.sum() * standard.mean) * standard.inverse
        theta[1 : 1 + self.width] = gap / max(float(np.linalg.norm(gap)), 1e-12)
        return theta

    def model(self, theta: np.ndarray) -> PatchModel:
        b, v, A = self.parts(theta)
        raw = v * self.data.standard.inverse
        return PatchModel(self.layer, float(b), A, raw, float(raw @ self.data.standard.mean))


class TiedObjective:
    """The same J for theta = (b, v, gamma): A is gamma between places of one set, else 0."""

    def __init__(self, free: PatchObjective, sets: np.ndarray, ratio: float) -> None:
        self.free = free
        self.same = (sets[:, None] == sets)[free.off_diagonal].astype(float)
        self.penalties = np.concatenate([[0.0], np.ones(free.width), [ratio]])

    def _whole(self, theta: np.ndarray) -> np.ndarray:
        return np.concatenate([theta[:-1], theta[-1] * self.same])

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        value, gradient = self.free(self._whole(theta), 0.0)
        own = np.append(
            gradient[: 1 + self.free.width], self.same @ gradient[1 + self.free.width :])
        return ridged(value, own, theta, ridge * self.penalties)

    def model(self, theta: np.ndarray) -> PatchModel:
        return self.free.model(self._whole(theta))
