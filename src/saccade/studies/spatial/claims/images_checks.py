"""Two claims near the real images: permuted training, and learning without association."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, IDENTITY, ORDERING
from saccade.studies.spatial.experiments.images_checks import gaussian_images, permuted_training

GAUSSIAN = partial(
    Claim, status="heuristic", experiment=gaussian_images, statistic="mean",
    scales={"quick": Scale(seconds=25), "standard": Scale(seconds=150)}, figure="spatial/2")


def _apart(run: Run) -> np.ndarray:
    """Largest difference of the losses and of the encodings, for both kinds of attention."""
    loss = np.abs(run.data.loss[:, 0] - run.data.loss[:, 1]).max("step").values
    table = (
        np.abs(run.data.encodings[:, 0] - run.data.encodings[:, 1]).max(("token", "width")).values)
    return one_row([*loss, *table])


PERMUTED = Claim(
    id="spatial.training-commutes-with-permutation", spec="VS-PERM",
    statement="Permute the patches of all images and the initial encodings alike: every loss of the"
    " training stays the same, and the encodings move along.",
    source="section 6 (why a ViT does not mind shuffling)", kind=IDENTITY,
    experiment=permuted_training, measure=_apart, resolution=1e-11,
    argued="Two float64 trainings of 30 Adam steps that differ in the order of sums only: rounding"
    " of 1e-16 a step, with room for its growth.",
    parts=("vanilla loss", "positional loss", "vanilla encodings", "positional encodings"),
    scales={"quick": Scale(seconds=10)}, figure="spatial/5a",
    sabotages=(Sabotage(
        "encodings-stay", "Permute the patches but not the encodings.",
        parameters={"move_encodings": False}),))

FALLS = GAUSSIAN(
    id="spatial.gaussian-error-falls", spec="VS-F2",
    statement="On Gaussian patches labelled by a cubic convolutional rule a one-layer ViT learns:"
    " its error falls by more than 0.2.", source="Figure 2", kind=ORDERING,
    measure=lambda run: np.moveaxis(
        run.data.wrong.sel(time="start").values.astype(float)
        - run.data.wrong.sel(time="end").values, -1, 0),
    predict=lambda run: 0.2, resolution=0.05,
    argued="Paired over 2000 test images (standard: 6000), a part per seed; the untrained network"
    " is at chance.", parts=tuple(f"seed {number}" for number in range(8)),
    sabotages=(Sabotage("hardly-trained", "Stop after nine steps.", parameters={"steps": 9}),))


def _rows(run: Run, name: str) -> np.ndarray:
    return run.data[name].sel(time="end").values.ravel()


NOT_BY_SET = GAUSSIAN(
    id="spatial.gaussian-no-association", spec="VS-F2",
    statement="On Gaussian patches labelled by a cubic convolutional rule a ViT learns without"
    " patch association: the patches most similar in P P^T lie in the own set no more often than"
    " by chance.", source="Figure 2", kind=BELOW, measure=lambda run: _rows(run, "by_set"),
    predict=lambda run: float(run.data.chance), resolution=0.0,
    argued="The replicates are the 16 patches of all seeds; seeds are independent, patches of one"
    " seed are not quite.",
    finding="Association is even below chance: the encodings sort patches by the filter tap that"
    " weighs them, and patches of one set have different taps.",
    sabotages=(Sabotage(
        "by-tap", "Ask for patches with the same filter tap.",
        measure=lambda run: _rows(run, "by_tap")),))

BY_TAP = GAUSSIAN(
    id="spatial.gaussian-sorts-by-tap", spec="VS-F2",
    statement="What looks random in Figure 2 is structured: the most similar encodings are those of"
    " patches with the same filter tap.", source="ours", kind=ORDERING,
    measure=lambda run: _rows(run, "by_tap"), predict=lambda run: float(run.data.chance),
    resolution=0.1, argued="Asked is more than chance, over the 16 patches of all seeds.",
    sabotages=(Sabotage(
        "by-set", "Ask for patches of the same set.", measure=lambda run: _rows(run, "by_set")),))
