"""Figure 5a on CIFAR-10 for CIFAR-100. As the paper has it, at the scale `paper` alone: cells of 2,
4, 8, 16 and 32 pixels, patches of 2, ResNet-18 and VGG-19 beside the vision transformers. Briefly,
at the scale `standard`: half of its recipe's images and a third of the epochs, vision transformers
with patches of 4 (two seeds) and CNN-B (three)."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, ORDERING
from saccade.studies.spatial.claims import OURS, proxy
from saccade.studies.spatial.experiments import images

CELLS, KINDS = images.CELLS, tuple(images.VISION)
PARTS = tuple(f"cells of {cell}" for cell in CELLS[1:])
FIGURE_5A = partial(
    Claim, spec="VS-I2", source="Figure 5a, on CIFAR-10", status="heuristic", statistic="mean",
    requires="data:cifar10", figure="spatial/5a")
BRIEFLY = partial(FIGURE_5A, figure="spatial/5a-cells")
VISION_BRIEFLY = partial(
    BRIEFLY, experiment=images.vision,
    scales={"standard": Scale({**images.BRIEF, "seeds": 2}, seconds=500)})
NOT_RUN = " Not run."
UNCHANGED = proxy(
    "Figure 5a (CIFAR-100)", "their performance remains unchanged for all s [s in 2, 4, 8, 16, 32]")
FALLING = proxy(
    "section 6, Figure 5a (CIFAR-100)",
    "When s is small [...] CNNs struggle to generalize. As s increases [...] the CNNs well-perform")
LUCK = " seeds, whose luck the interval does not cover."


def _by_kind(run: Run, name: str = "right") -> np.ndarray:
    """Right answers on shuffled cells less those on whole pictures, by test image, kind of network
    and cell, mean over seeds. `name` may be what those networks answer on whole pictures."""
    whole = run.data.right.isel(cell=0).astype(float)
    shuffled = run.data[name].isel(cell=slice(1, None)).astype(float)
    return (shuffled - whole).mean("seed").transpose("image", "kind", "cell").values


def _change(run: Run, name: str = "right") -> np.ndarray:
    """The same, mean over the kinds, too: [image][cell]."""
    return _by_kind(run, name).mean(1)


FLAT = FIGURE_5A(
    id="spatial.vit-flat-in-cells", citation=UNCHANGED,
    statement="On CIFAR-10 vision transformers are as accurate (within two points) at every size of"
    " shuffled cells.", kind=ESTIMATE, experiment=images.vision, measure=_change, resolution=0.02,
    parts=PARTS,
    argued="Paired over 10,000 test images, averaged over both kinds of attention and three" + LUCK
    + NOT_RUN, scales={"paper": Scale({"cells": CELLS, "patch": 2}, seconds=1e6)},
    sabotages=(Sabotage(
        "other-order", "Show the networks that were trained on shuffled cells whole pictures.",
        measure=lambda run: _change(run, "right_whole")),))


def _uncut(run: Run, name: str = "right") -> np.ndarray:
    """Changes by test image, for both kinds and the cells that patches of 4 divide."""
    change = _by_kind(run, name)[:, :, :-1]
    return change.reshape(len(change), -1)


def _other_order(run: Run) -> np.ndarray:
    """What networks trained on cells of 2 pixels lose on whole pictures, for every uncut cell."""
    return np.repeat(_by_kind(run, "right_whole")[:, :, -1], len(PARTS) - 1, axis=1)


FLAT_BRIEFLY = VISION_BRIEFLY(
    id="spatial.vit-flat-in-cells-briefly", citation=UNCHANGED,
    statement="On CIFAR-10, after 156 steps, small vision transformers with patches of 4, vanilla"
    " and positional, are as accurate (within four points) on cells of 16, 8 and 4 pixels as on"
    " whole pictures.", kind=ESTIMATE, measure=_uncut, resolution=0.04,
    parts=tuple(f"{kind}, {part}" for kind in KINDS for part in PARTS[:-1]),
    argued="Paired over 10,000 test images, averaged over two" + LUCK,
    sabotages=(
        Sabotage(
            "other-order", "Show the networks that were trained on shuffled cells whole pictures.",
            measure=lambda run: _uncut(run, "right_whole")),
        Sabotage(
            "trained-on-cut-patches", "Show whole pictures to networks trained on cells of 2"
            " pixels, in the place of those trained on larger ones.", measure=_other_order)))


def _between_seeds(run: Run) -> np.ndarray:
    """Right answers on whole pictures of one seed less those of another, by test image and kind."""
    whole = run.data.right.isel(cell=0).astype(float)
    return (whole.isel(seed=0) - whole.isel(seed=1)).transpose("image", "kind").values


def _lost_by_vanilla(run: Run, cell: int) -> np.ndarray:
    """By test image: what vanilla attention loses from whole pictures to the cell so numbered."""
    return -_by_kind(run)[:, 0, cell]


FALLS_WHERE_CUT = VISION_BRIEFLY(
    id="spatial.vit-falls-where-patches-are-cut", source="ours", citation=OURS,
    statement="On CIFAR-10, after 156 steps, small vision transformers with vanilla attention lose"
    " more than one point with cells of 2 pixels, which cut through their patches of 4.",
    kind=ORDERING, measure=lambda run: _lost_by_vanilla(run, -1), predict=lambda run: 0.01,
    resolution=0.01, parts=KINDS[:1],
    argued="Paired over 10,000 test images, averaged over two" + LUCK,
    finding="That shuffling changes nothing is a matter of patches, not of pictures: it holds for"
    " cells made of whole patches.",
    sabotages=(Sabotage(
        "whole-patches", "Cells of 4 pixels, as large as the patches.",
        measure=lambda run: _lost_by_vanilla(run, -2)),))

LOST = np.array([0.05, 0.02])  # of accuracy: from 16 to 2 pixels, from whole pictures to 8


def _lost(run: Run) -> np.ndarray:
    """By test image: what is lost from 16 to 2 pixels and from whole to 8, less what is asked."""
    change = _change(run)
    return np.column_stack([change[:, 0] - change[:, 3], -change[:, 1]]) - LOST


FALLS = {
    "citation": FALLING, "kind": ORDERING, "experiment": images.convolution, "measure": _lost,
    "resolution": 0.01, "parts": ("16 to 2", "whole to 8"),
    "sabotages": (Sabotage(
        "other-seed", "Compare whole pictures with whole pictures, trained from another seed.",
        measure=lambda run: _between_seeds(run).mean(1)[:, None] - LOST),)}

STEPS = FIGURE_5A(
    id="spatial.cnn-falls-with-cells",
    statement="On CIFAR-10 ResNet-18 and VGG-19 lose more than five points between cells of 16 and"
    " of 2 pixels, and more than two from whole pictures to cells of 8.",
    argued="Paired over 10,000 test images, averaged over networks and" + LUCK + NOT_RUN,
    scales={"paper": Scale({"cells": CELLS}, seconds=1e6)}, **FALLS)

STEPS_BRIEFLY = BRIEFLY(
    id="spatial.cnn-falls-with-cells-briefly",
    statement="On CIFAR-10, after 156 steps, CNN-B loses more than five points between cells of 16"
    " and of 2 pixels, and more than two from whole pictures to cells of 8.",
    argued="Paired over 10,000 test images, averaged over three" + LUCK,
    scales={"standard": Scale(images.BRIEF, seconds=500)}, **FALLS)
