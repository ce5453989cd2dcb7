"""Figure 5a on CIFAR-10 for CIFAR-100. As the paper has it, at the scale `paper` alone: cells of 2,
4, 8, 16 and 32 pixels, patches of 2, ResNet-18 and VGG-19 beside the vision transformers. Small, at
the scale `standard`: half of its recipe's images and a third of the epochs, CNN-B on all five
sizes, vision transformers with patches of 4 on the four that these divide."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, ORDERING
from saccade.studies.spatial.claims import proxy
from saccade.studies.spatial.experiments import images

PARTS = tuple(f"cells of {cell}" for cell in images.CELLS[1:])
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
    scales={"paper": Scale({"cells": images.CELLS, "patch": 2}, seconds=1e6)},
    sabotages=(Sabotage(
        "other-order", "Show the networks that were trained on shuffled cells whole pictures.",
        measure=lambda run: _change(run, "right_whole")),))

SHORT_FLAT = FIGURE_5A(
    id="spatial.vit-flat-in-cells-briefly", spec="VS-I2",
    citation=proxy(
        "Figure 5a (CIFAR-100)",
        "their performance remains unchanged for all s [s in 2, 4, 8, 16, 32]"),
    statement="On CIFAR-10, after 156 steps, small vision transformers with patches of 4 are as"
    " accurate (within four points) on whole pictures and on cells of 16, 8 and 4 pixels.",
    kind=ESTIMATE, experiment=images.vision, measure=_change, resolution=0.04, parts=PARTS[:-1],
    argued="Paired over 10,000 test images, averaged over one vanilla and one positional network,"
    " whose own luck the interval does not cover. Cells of 2 would cut through the patches.",
    scales={"standard": Scale(images.BRIEF_VISION, seconds=200)},
    sabotages=(Sabotage(
        "other-order", "Show the networks that were trained on shuffled cells whole pictures.",
        measure=lambda run: _change(run, "right_whole")),))

LOST = np.array([0.05, 0.02])  # of accuracy: from 16 to 2 pixels, from whole pictures to 8


def _between_seeds(run: Run) -> np.ndarray:
    """Right answers on whole pictures of one seed less those of another, by test image."""
    whole = run.data.right.isel(cell=0).astype(float)
    return (whole.isel(seed=0) - whole.isel(seed=1)).mean("kind").values


def _lost(run: Run) -> np.ndarray:
    """By test image: what is lost from 16 to 2 pixels and from whole to 8, less what is asked."""
    change = _change(run)
    return np.column_stack([change[:, 0] - change[:, 3], -change[:, 1]]) - LOST


FALLS = partial(
    FIGURE_5A, spec="VS-I2",
    citation=proxy(
        "section 6, Figure 5a (CIFAR-100)", "When s is small [...] CNNs struggle to generalize. As"
        " s increases [...] the CNNs well-perform"),
    kind=ORDERING, experiment=images.convolution, measure=_lost, resolution=0.01,
    parts=("16 to 2", "whole to 8"),
    sabotages=(Sabotage(
        "other-seed", "Compare whole pictures with whole pictures, trained from another seed.",
        measure=lambda run: _between_seeds(run)[:, None] - LOST),))

STEPS = FALLS(
    id="spatial.cnn-falls-with-cells",
    statement="On CIFAR-10 ResNet-18 and VGG-19 lose more than five points between cells of 16 and"
    " of 2 pixels, and more than two from whole pictures to cells of 8.",
    argued="Paired over 10,000 test images, averaged over networks and seeds, which the interval"
    " does not cover." + NOT_RUN, scales={"paper": Scale({"cells": images.CELLS}, seconds=1e6)})

SHORT_STEPS = FALLS(
    id="spatial.cnn-falls-with-cells-briefly",
    statement="On CIFAR-10, after 156 steps, CNN-B loses more than five points between cells of 16"
    " and of 2 pixels, and more than two from whole pictures to cells of 8.",
    argued="Paired over 10,000 test images, averaged over two seeds, which the interval does not"
    " cover.", scales={"standard": Scale(images.BRIEF_CNN, seconds=200)})
