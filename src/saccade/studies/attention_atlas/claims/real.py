"""Real data on the map: images that are not sparse, hours of a day, bags with a nine. What is not
built in has to be fetched (`saccade data fetch NAME`)."""

from functools import partial

from saccade.lab.claim import Sabotage
from saccade.lab.kinds import ORDERING
from saccade.studies.attention_atlas.claims import columns, of_map

_ordered = partial(of_map, kind=ORDERING, resolution=0.02)


def _before(run):
    """How far the first learner is ahead of each of the others."""
    first, *others = run.data.excess.values
    return columns(*(one - first for one in others))


_DENSE = {
    "learners": ("flattened", "softmax", "place", "content-place"), "measure": _before,
    "parts": ("before content", "before place", "before both"),
    "sabotages": (Sabotage(
        "one shifted token", "One token of eight is shifted where y = 1.",
        {"tasks": ("sparse-token-1",)}),)}

DIGITS = _ordered(
    "AA-17", "digits-are-not-sparse",
    "Handwritten digits (rows as tokens) are not sparse: from 400 of them a linear function of all"
    " tokens is ahead of one head of attention, by content, by place or by both.", ("digits",),
    samples=(400,), seconds=4, **_DENSE,
    argued="4 draws gave .30, .31 and .13 with deviations of about .03")

PHOTOGRAPHS = _ordered(
    "AA-18", "photographs-are-not-sparse",
    "Nor are photographs (patches as tokens, animal or vehicle): from 200 of them a linear function"
    " of all tokens is ahead of the same three layers.", ("cifar10",), samples=(200,), seconds=6,
    requires="data:cifar10", **_DENSE,
    argued="16 draws gave .09, .07 and .07 with deviations of about .03")

HOURS = _ordered(
    "AA-19", "hours-of-a-day-are-places",
    "Power demand of a day (windows as tokens) tells winter from summer by the hour: from 200 days"
    " attention by place is ahead of attention by content.", ("italy",), ("place", "softmax"),
    (200,), seconds=2, requires="data:italy", measure=_before,
    argued="16 draws gave .19 with a deviation of about .05",
    sabotages=(Sabotage(
        "a moving token", "One token of eight, anywhere, is shifted where y = 1.",
        {"tasks": ("sparse-token-1",)}),))


def _nines(run):
    """How far content attention is ahead of pooling, and where it looks."""
    content, pooled = run.data.excess.values
    return columns(pooled - content, run.data.auroc.values[0])


NINES = _ordered(
    "AA-20", "attention-finds-the-nines",
    "In bags of handwritten digits, which are positive if they hold a nine, content attention is"
    " ahead of pooling from 320 bags, and looks at the nines: one weighs more than another digit of"
    " its bag in more than .7 of the cases.", ("mnist-bags",), ("softmax", "pooled"), (320,),
    draws=64, seconds=10, requires="data:mnist-bags", measure=_nines,
    predict=lambda run: [0.0, 0.7],
    argued="24 draws gave .10 with a deviation of .08, and an AUROC of .82",
    parts=("before pooling", "looks at nines"),
    sabotages=(
        Sabotage("thirty bags", "Both learn from 30 bags.", {"samples": (30,)}),
        Sabotage(
            "extremes", "The largest and smallest of each feature stand in for attention.",
            {"learners": ("max-pooled", "pooled")})))
