"""Claims on the networks of the real images, beside loops in NumPy and counts by hand."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.studies.spatial.claims import IDENTICAL, OURS, SAMPLED
from saccade.studies.spatial.experiments import networks_by_hand, starts_by_hand

MINE = partial(IDENTICAL, source="ours", citation=OURS)
KINDS = ("vanilla", "positional")


def _gap(run: Run) -> np.ndarray:
    return one_row(run.data.gap.values)


VISION = MINE(
    id="spatial.vision-by-hand", spec="VS-I1",
    statement="A vision transformer, vanilla or positional, says what loops over heads and patches"
    " say, looks where they do, and has their derivative: scores over the root of a head's width,"
    " queries and keys of the positional one from LayerNorm(P), which is added to the tokens of the"
    " vanilla one only.", experiment=networks_by_hand.vision_by_hand, measure=_gap,
    resolution=[1e-10, 1e-12, 1e-4] * 2,
    parts=tuple(f"{kind}: {what}" for kind in KINDS for what in ("scores", "looks", "slope")),
    argued="Double precision, two layers, every bias and scale moved from where it starts."
    " Differences of fourth order over 1e-4 leave 1e-9 to 1e-6.",
    scales={"quick": Scale(seconds=3)},
    sabotages=(
        Sabotage("by-width", "By hand over the root of the whole width, 6.", {"divided": 6}),
        Sabotage("raw-encodings", "By hand encodings are not normalised.", {"normed": False}),
        Sabotage(
            "added-elsewhere", "By hand P is added in the positional network, not in the other.",
            {"added": False})))

CONVOLUTIONS = MINE(
    id="spatial.convolutions-by-hand", spec="VS-I2",
    statement="Convolutions, the small networks, and ResNet and VGG with batch normalisation (their"
    " statistics of another batch, and what they say by such) are what loops over pixels give.",
    experiment=networks_by_hand.convolutions_by_hand, measure=_gap, resolution=1e-9,
    parts=("convolution", "every second pixel", "as CNN-A", "as CNN-B", "ResNet", "VGG"),
    argued="Double precision; narrow layers, a ResNet of two blocks, a VGG of all sixteen layers,"
    " in which rounding grows to 1e-11 at most.", scales={"quick": Scale(seconds=4)},
    sabotages=(
        Sabotage("turned", "By hand kernels have rows for columns.", {"turned": True}),
        Sabotage(
            "early", "By hand ReLU comes before the short cut is added; means for maxima in VGG.",
            {"early": True})))


def _counted(run: Run, shift: bool = True) -> np.ndarray:
    """Weights, biases and two numbers for each normalised channel, layer by layer."""
    c, k = run.parameters.channels, run.parameters.outputs
    both = 2 if shift else 1
    layer = 64 * 192 + 192 + 64 * 64 + 64 + 64 * 128 + 128 + 128 * 64 + 64 + 2 * both * 64
    vit = 16 * c * 64 + 64 + 64 * 64 + 2 * layer + both * 64 + 64 * k + k

    def plain(into: int, widths: tuple[int, ...], biases: int) -> int:
        pairs = zip((into, *widths), widths, strict=False)
        layers = sum(9 * a * b + (biases + both) * b for a, b in pairs)
        return layers + widths[-1] * k + k

    vgg = plain(c, (64,) * 2 + (128,) * 2 + (256,) * 4 + (512,) * 8, 1)
    resnet, into = 9 * c * 64 + both * 64, 64
    for width in (64, 128, 256, 512):
        resnet += 9 * into * width + 27 * width**2 + 4 * both * width
        resnet += into * width + both * width if into != width else 0
        into = width
    return np.asarray([
        vit, vit + 2 * both * 64, plain(c, (16, 32, 64), 0), plain(4 * c, (64, 128, 128), 0),
        resnet + 512 * k + k, vgg])


SIZES = MINE(
    id="spatial.network-sizes", spec="VS-I2",
    statement="The networks for 32 x 32 pictures have as many numbers as their layers call for:"
    " 11,173,962 in ResNet-18 and 20,040,522 in VGG-19 with ten classes.",
    experiment=networks_by_hand.network_sizes,
    measure=lambda run: one_row(run.data["count"].values), predict=_counted, resolution=0.0,
    argued="Whole numbers.", scales={"quick": Scale(seconds=1)},
    parts=("vanilla", "positional", "CNN-A", "CNN-B", "ResNet-18", "VGG-19"),
    sabotages=(Sabotage(
        "no-shift", "Count one number for each normalised channel.",
        predict=lambda run: _counted(run, shift=False)),))

STARTS = SAMPLED(
    id="spatial.network-starts", spec="VS-I1", source="ours", citation=OURS,
    statement="Initial matrices have variance one over the numbers that enter a unit, a quarter of"
    " that where a vision transformer adds to its states, twice that before ReLU in ResNet and VGG;"
    " the encodings have the standard deviation asked for, 0.3.",
    experiment=starts_by_hand.network_starts, measure=lambda run: run.data.square.values,
    predict=lambda run: [1, 0.09, 1, 1, 0.25, 1, 0.25, 1, 1, 1, 1, 2, 1, 2, 2, 1, 2, 1],
    resolution=[
        0.25, 0.03, 0.15, 0.2, 0.06, 0.2, 0.06, 0.3, 0.2, 0.15, 0.3, 0.1, 0.25, 0.3, 0.1, 0.15, 0.1,
        0.15],
    parts=starts_by_hand.VISION_PARTS + starts_by_hand.CONVOLUTION_PARTS,
    argued="Means of 64 blocks of 20 to 2304 squares, which spread by (2/n)^(1/2) of them; nine"
    " standard errors and more.", scales={"quick": Scale(repetitions=4, seconds=3)},
    sabotages=(
        Sabotage("fan-out", "Times the numbers that leave a unit.", {"fan": "out"}),
        Sabotage("plain", "Times neither.", {"fan": "neither"}),
        Sabotage("other-encodings", "Ask for encodings of 0.5.", {"encodings": 0.5})))

EVEN = MINE(
    id="spatial.even-starts", spec="VS-I1",
    statement="Networks start with biases and shifts of zero and norms of scale one.",
    experiment=starts_by_hand.even_starts, measure=lambda run: one_row(run.data.gap.values.ravel()),
    resolution=0.0, argued="Whole numbers.", scales={"quick": Scale(seconds=1)},
    parts=tuple(
        f"{name}: {what}" for name in ("vanilla", "positional", "small CNN", "ResNet-18", "VGG-19")
        for what in ("scales", "biases and shifts")),
    sabotages=(
        Sabotage("small-scales", "Look for scales of a half.", {"scale": 0.5}),
        Sabotage("moved", "Look for biases and shifts of 0.1.", {"moved": 0.1})))

DECAYS = MINE(
    id="spatial.decay-by-hand", spec="VS-I1",
    statement="Weight decay moves every matrix of a vision transformer, of a small convolutional"
    " network and of ResNet, and neither biases, norms nor encodings; without warm-up the"
    " first step has the whole rate.", experiment=starts_by_hand.decay_by_hand, measure=_gap,
    resolution=1e-7, parts=("vision transformer", "small CNN", "ResNet"),
    argued="One step where every gradient is zero; the schedule is in single precision.",
    scales={"quick": Scale(seconds=2)},
    sabotages=(
        Sabotage("all-decay", "By hand everything decays.", {"all_decay": True}),
        Sabotage("half-rate", "By hand the first step has half the rate.", {"rate": 0.01})))

LOOP = MINE(
    id="spatial.loop-by-hand", spec="VS-I1",
    statement="Training in chunks takes the steps of a plain loop, with the batch that the key of"
    " each step draws, records losses and norms of gradients before them, measures at the start,"
    " every so many steps and at the end, and ends the same when it is broken off and resumed; told"
    " to accumulate, a step takes the mean over batches of keys of their own.",
    experiment=starts_by_hand.loop_by_hand, measure=_gap, resolution=1e-10,
    parts=(
        "losses", "norms", "end", "measured at", "measured", "resumed", "of three batches",
        "end, of three batches"),
    argued="Seven steps of least squares in double precision, four of three batches.",
    scales={"quick": Scale(seconds=2)},
    sabotages=(
        Sabotage("later-keys", "By hand steps count from 1.", {"first": 1}),
        Sabotage("rarely", "By hand measured every three steps.", {"measured": 3}),
        Sabotage("two-batches", "By hand the mean of the first two of three.", {"taken": 2})))
