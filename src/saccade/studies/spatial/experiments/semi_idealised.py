"""The semi-idealised process beside descent that is written out: every image of a small population,
every entry of A, slopes by differences."""

from typing import Any

import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.spatial.dynamics.coupling import semi_idealised
from saccade.studies.spatial.dynamics.descent import Setting
from saccade.studies.spatial.task import Images, all_images

DIFFERENCE = 1e-5


def _loss(at: np.ndarray, images: Images, sets: np.ndarray, setting: Setting) -> float:
    """The mean over all images of log(1 + e^(-y F)), F = sum_i z_i^p + nu z_i."""
    alpha, gamma, rho = at
    D = len(sets)
    weights = np.exp([
        [setting.diagonal if i == j else gamma if sets[i] == sets[j] else rho for j in range(D)]
        for i in range(D)])
    weights = weights / np.sum(weights, axis=1)[:, None]
    losses = []
    for x, y in zip(images.signals, images.y, strict=True):
        z = D * alpha * np.array([weights[i] @ x for i in range(D)])
        losses.append(np.log(1 + np.exp(-y * np.sum(z**setting.degree + setting.slope * z))))
    return float(np.dot(losses, images.probability))


def _pull(which: int, at: np.ndarray, images: Images, sets: np.ndarray, setting: Setting) -> float:
    """The slope by one entry of A of a kind, given that along all of them together."""
    side = DIFFERENCE * np.eye(3)[which]
    ends = [_loss(at + sign * side, images, sets, setting) for sign in (1, -1)]
    same = int(np.sum(sets[:, None] == sets)) - len(sets)
    number = same if which == 1 else len(sets) ** 2 - len(sets) - same
    return (ends[0] - ends[1]) / (2 * DIFFERENCE) / number


@experiment("spatial.semi-idealised")
def semi_idealised_by_hand(
    key: Any, *, alphas: tuple[float, ...] = (0.5, 0.35, 0.6), spurious_rate: float = 0.3,
    slope: float = 0.05, diagonal: float = 0.7, eta_a: float = 4.0, longer: float = 1.0,
) -> xarray.Dataset:
    """gamma and rho after each step while alpha takes given values, by the study and written out,
    for six patches in two sets; by hand steps are `longer` by a factor."""
    sets = np.array([0, 1, 1, 0, 1, 0])
    setting = Setting(6, 3, spurious_rate, 3, slope, diagonal)
    images = all_images(tuple(sets.tolist()), spurious_rate)
    made = semi_idealised(np.asarray(alphas), setting, eta_a, setting.states())
    gamma, rho, plain = 0.0, 0.0, []
    for alpha in alphas:
        at = np.array([alpha, gamma, rho])
        gamma, rho = (
            value - longer * eta_a * _pull(which, at, images, sets, setting)
            for which, value in ((1, gamma), (2, rho)))
        plain.append([gamma, rho])
    axes = ("step", "entry")
    return xarray.Dataset(
        {"made": (axes, np.stack(made, axis=1)), "plain": (axes, np.array(plain))},
        {"entry": ["gamma", "rho"]})
