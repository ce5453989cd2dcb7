"""What cannot be learned, whatever the samples: a place without encodings, a moving token by its
place. The reasons are closed forms of `theory`."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.kinds import ABOVE, ESTIMATE
from saccade.studies.attention_atlas.claims import each, of_map, ours
from saccade.studies.attention_atlas.experiments.oracles import without_order
from saccade.studies.attention_atlas.theory import (
    blind_to_places_classification,
    blind_to_places_regression,
    linear_in_all_tokens,
)

GAMMA = np.sqrt(0.5)


def _no_order(run, more: int = 0):
    length = run.parameters.length + more
    return [blind_to_places_regression(length), blind_to_places_classification(length)]


CONTENT = of_map(
    "AA-1", "content-cannot-use-a-place",
    "Content attention cannot use a fixed, unmarked place: with 400 samples it stays above what"
    " any predictor that does not see the order can reach, 1 - 1/(L - 1) of the excess error in"
    " regression and 2 E[min(k, L - k)]/L, k ~ Bin(L, 1/2), in classification.",
    ("split-0", "group-sparse"), ("softmax",), (400,), seconds=8, kind=ABOVE, measure=each,
    predict=_no_order, resolution=0.02,
    argued="the bound is of the mean error; 32 draws of 2,000 test samples leave about .005",
    parts=("a number at one place", "a sign at one place"),
    sabotages=(Sabotage(
        "encodings", "Tokens carry their place as further features.",
        {"learners": ("content-place",)}),))

ATTAINED = Claim(
    id="attention-atlas.orderless-bound-is-attained", spec="AA-1b", source="saccade's atlas",
    status="exact", statistic="mean", experiment=without_order,
    statement=(
        "Both bounds are what the best predictor without the order leaves: the mean of the tokens"
        " that may be the first, read along the direction, and the majority of their signs, within"
        " .02 for five tokens."),
    kind=ESTIMATE, measure=each, predict=_no_order, resolution=0.02,
    argued="a mark that is not always recognised costs .006; one that is not looked for .03, one"
    " token more .05", parts=CONTENT.parts,
    scales={"quick": Scale({"length": 5}, repetitions=4, seconds=1)}, figure=CONTENT.figure,
    citation=ours("conditional means given the tokens as a set, on split-0 and group-sparse"),
    sabotages=(
        Sabotage(
            "told the half", "The predictor knows that the place is among the first three.",
            {"among": 3}),
        Sabotage(
            "one token more", "The bounds for six tokens.", predict=lambda run: _no_order(run, 1))))


def _law(share: float, length: int) -> np.ndarray:
    return (1 - share) * np.eye(length)[0] + share / length


def _linear(run, shares=(1.0, 0.25)):
    best = run.data.best.values.mean(axis=1)
    return [
        linear_in_all_tokens(_law(share, run.parameters.length), GAMMA, float(one))
        for share, one in zip(shares, best, strict=True)]


PLACE = of_map(
    "AA-2", "place-cannot-follow",
    "Attention by place cannot follow a moving token: it is linear in the tokens, and with 800"
    " samples its excess error is that of the best linear function, within .05: about .9"
    " where the place is random, about .4 where it is fixed in three of four samples.",
    ("single-location-1", "moving-25"), ("place",), (800,), seconds=10, kind=ESTIMATE, measure=each,
    predict=_linear, resolution=0.05,
    argued="64 numbers fitted to 800 samples cost about 16/800 of the null error",
    parts=("always random", "random in one of four samples"),
    sabotages=(
        Sabotage("by content", "Attention by content.", {"learners": ("softmax",)}),
        Sabotage(
            "another law", "The best linear function where 1/2 and 3/4 of the places are random.",
            predict=lambda run: _linear(run, (0.5, 0.75)))))

CHANCE = of_map(
    "AA-3", "looks-by-chance",
    "Both then look by chance: the token that matters weighs more than another of its sample in"
    " half of the cases, within .03 (content attention where the place is fixed, 400 samples;"
    " attention by place where it is random, 800).", ("group-sparse", "single-location-1"),
    ("softmax", "place"), (400, 800), seconds=3, kind=ESTIMATE,
    measure=lambda run: each(run, "auroc"), predict=lambda run: 0.5, resolution=0.03,
    argued="fitted weights that mean nothing still differ; single draws spread by about .02",
    parts=("content, fixed place", "place, random place"),
    sabotages=(Sabotage(
        "layers that can",
        "Content and place where the place is fixed, content where it moves.",
        {"learners": ("content-place", "softmax")}),))
