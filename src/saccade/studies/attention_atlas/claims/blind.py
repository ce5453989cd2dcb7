"""What cannot be learned, whatever the samples: a place without encodings, a moving token by its
place. The reasons are closed forms of `theory`."""

import numpy as np

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.kinds import ABOVE, ESTIMATE
from saccade.studies.attention_atlas.claims import columns, of, ours, ours_of_map
from saccade.studies.attention_atlas.theory import (
    blind_to_places_classification,
    blind_to_places_regression,
    linear_in_all_tokens,
)

GAMMA = np.sqrt(0.5)

_FIXED = {"tasks": ("split-0", "group-sparse"), "learners": ("softmax",), "samples": (400,)}


def _no_order(run):
    length = run.parameters.length
    return [blind_to_places_regression(length), blind_to_places_classification(length)]


CONTENT = ours_of_map(
    id="attention-atlas.content-cannot-use-a-place", spec="AA-1",
    statement=(
        "Content attention cannot use a fixed, unmarked place: with 400 samples it stays above what"
        " any predictor that does not see the order can reach, 1 - 1/L of the excess error in"
        " regression and 2 E[min(k, L - k)]/L, k ~ Bin(L, 1/2), in classification."),
    kind=ABOVE, measure=lambda run: columns(*(of(run, "excess", task, 0) for task in (0, 1))),
    predict=_no_order, resolution=0.02,
    argued="the bound is of the mean error; 32 draws of 2,000 test samples leave about .005",
    parts=("a number at one place", "a sign at one place"),
    scales={"quick": Scale(_FIXED, repetitions=4, seconds=8)}, figure="attention-atlas/map",
    citation=ours("softmax on split-0 and group-sparse"),
    sabotages=(Sabotage(
        "encodings", "Tokens carry their place as further features.",
        {"learners": ("content-place",)}),))


def _law(share: float, length: int) -> np.ndarray:
    return (1 - share) * np.eye(length)[0] + share / length


def _linear(run):
    best = run.data.best.values[:, 0, 0].mean(axis=1)
    return [
        linear_in_all_tokens(_law(share, run.parameters.length), GAMMA, float(one))
        for share, one in zip((1.0, 0.5), best, strict=True)]


PLACE = ours_of_map(
    id="attention-atlas.place-cannot-follow", spec="AA-2",
    statement=(
        "Attention by place cannot follow a moving token: it is linear in the tokens, and with 800"
        " samples its excess error is that of the best linear function, within .05: about .9"
        " where the place is random, about .7 where it is fixed in every other sample."),
    kind=ESTIMATE, measure=lambda run: columns(*(of(run, "excess", task, 0) for task in (0, 1))),
    predict=_linear, resolution=0.05,
    argued="64 numbers fitted to 800 samples cost about 16/800 of the null error",
    parts=("always random", "random in every other sample"),
    scales={"quick": Scale(
        {
            "tasks": ("single-location-1", "moving-50"), "learners": ("place",),
            "samples": (800,)},
        repetitions=4, seconds=10)},
    figure="attention-atlas/map", citation=ours("place on single-location-1 and moving-50"),
    sabotages=(Sabotage("by content", "Attention by content.", {"learners": ("softmax",)}),))

CHANCE = ours_of_map(
    id="attention-atlas.looks-by-chance", spec="AA-3",
    statement=(
        "Both then look by chance: the token that matters weighs more than another of its sample in"
        " half of the cases, within .03 (content attention where the place is fixed, attention by"
        " place where it is random; 200 samples)."),
    kind=ESTIMATE, measure=lambda run: columns(of(run, "auroc", 0, 0), of(run, "auroc", 1, 1)),
    predict=lambda run: 0.5, resolution=0.03,
    argued="fitted weights that mean nothing still differ; single draws spread by about .02",
    parts=("content, fixed place", "place, random place"),
    scales={"quick": Scale(
        {
            "tasks": ("group-sparse", "single-location-1"), "learners": ("softmax", "place"),
            "samples": (200,)},
        repetitions=4, seconds=10)},
    figure="attention-atlas/map", citation=ours("AUROC of attention against the truth"),
    sabotages=(Sabotage(
        "content and place", "Both get a layer that sees content and place.",
        {"learners": ("content-place", "content-place")}),))
