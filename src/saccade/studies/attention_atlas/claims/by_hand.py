"""Claims on what the map computes with, beside plain versions of it."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.kinds import ESTIMATE, IDENTITY
from saccade.studies.attention_atlas.claims import ours
from saccade.studies.attention_atlas.experiments import (
    bounds_by_hand,
    by_hand,
    learners_by_hand,
    small_parts,
)
from saccade.studies.attention_atlas.theory import (
    blind_to_places_classification,
    linear_in_all_tokens,
    looking_along_the_direction,
)

WHATS = ("objective", "slopes", "prediction", "weights")

LAYERS = Claim(
    id="attention-atlas.layers-by-hand", spec="AA-H1", source="saccade's atlas", status="exact",
    experiment=by_hand.layers_by_hand,
    statement=(
        "Layers of the map are the formulas of their pages: softmax heads with and without places"
        " and with missing tokens, the tied layer they start from, attention by place for numbers"
        " and labels, and erf: objectives, slopes, what they say of fresh tokens and how they"
        " weigh them."),
    kind=IDENTITY, measure=lambda run: one_row(run.data.off.values.max(axis=0)), resolution=1e-7,
    argued="central differences over 1e-5 leave 1e-9; everything else is rounding", parts=WHATS,
    scales={"quick": Scale(seconds=1)},
    citation=ours("formulas at the heads of models/heads.py and models/places.py"),
    sabotages=(
        Sabotage("other ridge", "By hand a ridge of .35 for .3.", {"ridge_by_hand": 0.35}),
        Sabotage("sharper", "By hand scores are a hundredth larger.", {"sharper": 1.01})))

PARTS = Claim(
    id="attention-atlas.small-parts", spec="AA-H1", source="saccade's atlas", status="exact",
    experiment=small_parts.small_parts,
    statement=(
        "Errors, the error of a constant, looks with ties, where layers start, minima of the group"
        " lasso, and the choice of a setting on the last quarter of the samples are those of loops."
    ),
    kind=IDENTITY, measure=lambda run: one_row(run.data.made.values),
    predict=lambda run: run.data.plain.values,
    resolution=[*[1e-10] * 8, 5e-3, 1e-10, 1e-10, 1e-3, 1e-10, 1e-10],
    argued="rounding, but for the slopes at the tied start, where descent ends at 1e-4 or where a"
    " step gains a share of 1e-5; 150 steps of the group lasso leave some 1e-5",
    parts=small_parts.PARTS, scales={"quick": Scale(seconds=1)},
    citation=ours("measures.py and the starts of models/heads.py and models/places.py"),
    sabotages=(
        Sabotage(
            "ties lost", "By hand a tie is lost, and the last quarter does not join the fit.",
            {"ties": False}),
        Sabotage(
            "other starts",
            "By hand other heads start at .29 of the first, places at .87, and the group lasso has"
            " 3 % less penalty.", {"rate": 0.29}),
        Sabotage(
            "otherwise", "By hand: targets of the next sample, another constant, a generator begun"
            " anew, a ridge of .2 for .1.", {"otherwise": True})))


def _moments(run, share: float | None = None, longer: int = 0, wider: float = 0.0) -> np.ndarray:
    p = run.parameters
    s, count = p.share if share is None else share, p.length + longer
    return np.array([
        1 + wider, np.sqrt(s / 2), np.sqrt(1 - s), np.sqrt((p.dim + longer) / 2),
        (1 + wider) / 2, (1 + wider) / 2, 1 + wider, 1 / (count - 1), 1 / (count - 1), 0.0,
        wider])


SPLIT = Claim(
    id="attention-atlas.split-moments", spec="AA-H1", source="saccade's atlas", status="exact",
    statistic="mean", experiment=small_parts.split_moments,
    statement=(
        "The split task is what it says: y of variance one, sqrt(1 - s) of it read at the first"
        " token and the rest at a marked one, N(sqrt(d/2) k, I/2), uniform over the other places."),
    kind=ESTIMATE, measure=lambda run: run.data.moment.values, predict=_moments,
    resolution=[*[0.02] * 7, 0.01, 0.01, 1e-9, 1e-9],
    argued="256,000 samples leave .003 in the first and .001 in the shares",
    parts=small_parts.MOMENTS, scales={"quick": Scale(repetitions=8, seconds=1)},
    citation=ours("the task split, s = 0.3"),
    sabotages=(
        Sabotage("told a quarter", "The samples are checked for s = 1/4.", {"told": 0.25}),
        Sabotage(
            "another task", "Moments of s = 1/2, six tokens in seven dimensions, variances a tenth"
            " larger, and axes that are off by a tenth.",
            predict=lambda run: _moments(run, 0.5, 1, 0.1))))


def _bounds(run, more: int = 0, weaker: float = 0.0) -> list[float]:
    """Of the theory; maybe with tokens more, and a gamma and a theta that are smaller."""
    law = np.array(bounds_by_hand.LAW)
    return [
        *(
            linear_in_all_tokens(law, gamma - weaker, bounds_by_hand.BEST)
            for gamma in bounds_by_hand.GAMMAS),
        *(
            value for length, count, signal in bounds_by_hand.LOOKS
            for value in looking_along_the_direction(length + more, count, signal - weaker)),
        *(blind_to_places_classification(length + 2 * more) for length in bounds_by_hand.LENGTHS),
        0.0, 0.0]


BOUNDS = Claim(
    id="attention-atlas.bounds-by-hand", spec="AA-H1", source="saccade's atlas", status="exact",
    experiment=bounds_by_hand.bounds_by_hand,
    statement=(
        "The bounds are those of other computations: of least squares on all tokens from second"
        " moments at gamma = .5 and .9, of looking from the other integral, of majorities from all"
        " signs; the guesses of the split task are sums over who may be first and who marked."),
    kind=IDENTITY, measure=lambda run: one_row(run.data.value.values), predict=_bounds,
    resolution=1e-8, argued="rounding, and quadratures that leave 1e-9", parts=bounds_by_hand.PARTS,
    scales={"quick": Scale(seconds=1)},
    citation=ours("docstrings of theory.py and task.py; four to six tokens"),
    sabotages=(
        Sabotage(
            "otherwise", "The theory of tokens more, and of a gamma and a theta less by a tenth.",
            predict=lambda run: _bounds(run, 1, 0.1)),
        Sabotage("any place", "By hand the first place is any of the four.", {"among": 4}),
        Sabotage("longer marks", "By hand marks are a tenth longer.", {"longer": 1.1})))

LEARNERS = Claim(
    id="attention-atlas.learners-by-hand", spec="AA-H1", source="saccade's atlas", status="exact",
    experiment=learners_by_hand.learners_by_hand,
    statement=(
        "Linear learners, also where tokens are missing, are scikit-learn's regressions at every"
        " ridge; the transformer's layer is that of loops over its heads; and two steps learn from"
        " samples with missing tokens what the estimator learns from a list of bags."),
    kind=IDENTITY, measure=lambda run: one_row(run.data.off.values),
    resolution=[*[1e-3] * 3, 1e-5, 1e-5, 1e-9, 1e-9],
    argued="logistic fits end at slopes of 1e-6, which a ridge of .001 makes 1e-3; the transformer"
    " has seven digits; the rest is rounding", parts=learners_by_hand.PARTS,
    scales={"quick": Scale(seconds=1)},
    citation=ours("docstrings of learners/linear.py, transformer.py and estimated.py; 40 samples"),
    sabotages=(
        Sabotage("larger ridges", "By hand ridges larger by a tenth.", {"factor": 1.1}),
        Sabotage("one head", "By hand scores are over the root of the whole width.", {"heads": 1}),
        Sabotage(
            "less sharp", "By hand two steps choose among 1/2 and 2.", {"sharpness": (0.5, 2.0)})))
