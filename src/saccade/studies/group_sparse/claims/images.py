"""Claims on real images in one patch among noise: whether attention looks at the picture."""

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.kinds import ABOVE
from saccade.studies.group_sparse.experiments import images

DIGITS = Claim(
    id="group-sparse.attention-finds-image", spec="GS-R1",
    statement=(
        "Digits 0 and 1 in one of nine patches, noise elsewhere, 120 images: attention on the"
        " image's patch is above uniform by half."),
    source="stands in for the paper's CIFAR-10 experiment", status="heuristic", kind=ABOVE,
    experiment=images.images, measure=lambda run: run.data.attention.values,
    predict=lambda run: 1.5 / run.parameters.groups, resolution=0.0,
    argued="Uniform attention is 1/9; medians over splits and noise.", statistic="median",
    scales={"quick": Scale(seconds=12), "standard": Scale(seconds=120)},
    figure="group-sparse/images",
    sabotages=(Sabotage(
        "moving-image", "The image in a random patch each time: position says nothing.",
        {"shuffled_patches": True}),))

FROGS = Claim(
    id="group-sparse.attention-finds-frog", spec="GS-R1",
    statement=(
        "CIFAR-10's airplanes and frogs (500 each, means over 4 x 4 pixels) in one of nine patches,"
        " noise elsewhere: attention on the image's patch is above uniform by half."),
    source="the paper's CIFAR-10 experiment, at a quarter of the resolution a side",
    status="heuristic", kind=ABOVE, experiment=images.images,
    measure=lambda run: run.data.attention.values, predict=lambda run: 1.5 / run.parameters.groups,
    resolution=0.0,
    argued=(
        "Uniform attention is 1/9; medians over splits (800 images to train, 200 to test) and"
        " noise. Of two step sizes tried on one split, 0.02 and 0.005, the first is taken."),
    statistic="median", scales={"standard": Scale(images.FROGS, seconds=160)},
    requires="data:cifar10", figure="group-sparse/images",
    sabotages=(Sabotage(
        "moving-image", "The image in a random patch each time: position says nothing.",
        {"shuffled_patches": True}),))
