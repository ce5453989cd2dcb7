"""Figure 5a as the paper has it, at the scale `paper` alone: cells of 2, 4, 8, 16 and 32 pixels,
patches of 2, ResNet-18 and VGG-19 beside the vision transformers; on CIFAR-10 for CIFAR-100."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, ORDERING
from saccade.studies.spatial.claims import proxy
from saccade.studies.spatial.experiments import images

CELLS = (32, 16, 8, 4, 2)
PARTS = tuple(f"cells of {cell}" for cell in CELLS[1:])
FIGURE_5A = partial(
    Claim, source="Figure 5a, on CIFAR-10", status="heuristic", statistic="mean",
    requires="data:cifar10", figure="spatial/5a")
NOT_RUN = " Not run."


def _change(run: Run, name: str = "right") -> np.ndarray:
    """Right answers on shuffled cells less those on whole pictures, by test image and cell, mean
    over networks and seeds. `name` may be what those networks answer on whole pictures."""
    whole = run.data.right.isel(cell=0).astype(float)
    shuffled = run.data[name].isel(cell=slice(1, None)).astype(float)
    return (shuffled - whole).mean(("kind", "seed")).transpose("image", "cell").values


FLAT = FIGURE_5A(
    id="spatial.vit-flat-in-cells", spec="VS-I2",
    citation=proxy(
        "Figure 5a (CIFAR-100)",
        "their performance remains unchanged for all s [s in 2, 4, 8, 16, 32]"),
    statement="On CIFAR-10 vision transformers are as accurate (within two points) at every size of"
    " shuffled cells.", kind=ESTIMATE, experiment=images.vision, measure=_change, resolution=0.02,
    parts=PARTS,
    argued="Paired over 10,000 test images, averaged over both kinds of attention and three seeds,"
    " which the interval does not cover." + NOT_RUN,
    scales={"paper": Scale({"cells": CELLS, "patch": 2}, seconds=1e6)},
    sabotages=(Sabotage(
        "other-order", "Show the networks that were trained on shuffled cells whole pictures.",
        measure=lambda run: _change(run, "right_whole")),))

LOST = np.array([0.05, 0.02])  # of accuracy: from 16 to 2 pixels, from whole pictures to 8


def _between_seeds(run: Run) -> np.ndarray:
    """Right answers on whole pictures of one seed less those of another, by test image."""
    whole = run.data.right.isel(cell=0).astype(float)
    return (whole.isel(seed=0) - whole.isel(seed=1)).mean("kind").values


STEPS = FIGURE_5A(
    id="spatial.cnn-falls-with-cells", spec="VS-I2",
    citation=proxy(
        "section 6, Figure 5a (CIFAR-100)", "When s is small [...] CNNs struggle to generalize. As"
        " s increases [...] the CNNs well-perform"),
    statement="On CIFAR-10 ResNet-18 and VGG-19 lose more than five points between cells of 16 and"
    " of 2 pixels, and more than two from whole pictures to cells of 8.", kind=ORDERING,
    experiment=images.convolution,
    measure=lambda run: (
        np.column_stack([_change(run)[:, 0] - _change(run)[:, 3], -_change(run)[:, 1]]) - LOST),
    resolution=0.01, parts=("16 to 2", "whole to 8"),
    argued="Paired over 10,000 test images, averaged over networks and seeds, which the interval"
    " does not cover." + NOT_RUN, scales={"paper": Scale({"cells": CELLS}, seconds=1e6)},
    sabotages=(Sabotage(
        "other-seed", "Compare whole pictures with whole pictures, trained from another seed.",
        measure=lambda run: _between_seeds(run)[:, None] - LOST),))
