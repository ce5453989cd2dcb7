"""Who wins from how many samples: the price of seeing content and place, the ranking on mixtures,
the query of two gradients."""

from functools import partial

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.kinds import ORDERING
from saccade.studies.attention_atlas.claims import columns, of, ours, ours_of_map


def _group(run, both: int = 1, most: int = 2):
    """Learners 0 place, 1 both; samples 100, 200, 800."""
    at = partial(of, run, "excess", 0)
    return columns(at(both, 1) - at(0, 0), at(0, 0) - at(1, most))


PRICE_OF_CONTENT = ours_of_map(
    id="attention-atlas.price-of-content", spec="AA-5", statistic="median",
    statement=(
        "To see content too has a price where a place decides: attention by content and place needs"
        " between 2 and 8 times the samples of attention by place alone (100)."),
    kind=ORDERING, measure=_group, resolution=0.005,
    argued="medians of 32 paired differences, about .03 and .04 in a first look",
    parts=("200 with both err more than 100", "800 with both err less than 100"),
    scales={"quick": Scale(
        {
            "tasks": ("group-sparse",), "learners": ("place", "content-place"),
            "samples": (100, 200, 800)},
        repetitions=4, seconds=12)},
    figure="attention-atlas/curves", citation=ours("place and content-place on group-sparse"),
    sabotages=(
        Sabotage(
            "the pure layer", "Attention by place alone gets the 200 samples.",
            measure=partial(_group, both=0)),
        Sabotage(
            "no more samples", "Content and place get 100 samples in the place of 800.",
            measure=partial(_group, most=0))))


def _token(run, first: tuple[int, int] = (1, 0), most: int = 1):
    """Learners 0 softmax, 1 both; samples 50, 200."""
    at = partial(of, run, "excess", 0)
    return columns(at(*first) - at(0, 0), at(0, 0) - at(1, most))


PRICE_OF_PLACES = ours_of_map(
    id="attention-atlas.price-of-places", spec="AA-6",
    statement=(
        "To see places too has a smaller price where a random token decides: attention by content"
        " and place needs between 1 and 4 times the samples of content attention (50)."),
    kind=ORDERING, measure=_token, resolution=0.005,
    argued="paired differences of about .02 and .05 in a first look, spread by .05",
    parts=("50 with both err more", "200 with both err less"),
    scales={"quick": Scale(
        {
            "tasks": ("sparse-token-1",), "learners": ("softmax", "content-place"),
            "samples": (50, 200), "draws": 64},
        repetitions=4, seconds=12)},
    figure="attention-atlas/curves", citation=ours("softmax and content-place on sparse-token-1"),
    sabotages=(
        Sabotage(
            "the pure layer", "Content attention alone, with 200 samples, stands in for both.",
            measure=partial(_token, first=(0, 1))),
        Sabotage(
            "no more samples", "Content and place get 50 samples in the place of 200.",
            measure=partial(_token, most=0))))


def _moving(run):
    """Learners 0 softmax, 1 place, 2 both."""
    at = partial(of, run, "excess", 0)
    return columns(at(0) - at(2), at(1) - at(2))


MOVING = ours_of_map(
    id="attention-atlas.both-on-a-moving-token", spec="AA-7", statistic="median",
    statement=(
        "Where the marked token stands at its place in half of the samples, attention by content"
        " and place is ahead of content alone and of place alone from 200 samples."),
    kind=ORDERING, measure=_moving, resolution=0.005,
    argued="medians of 32 paired differences, about .1 and .4 in a first look",
    parts=("before content", "before place"),
    scales={"quick": Scale(
        {
            "tasks": ("moving-50",), "learners": ("softmax", "place", "content-place"),
            "samples": (200,)},
        repetitions=4, seconds=8)},
    figure="attention-atlas/mixtures", citation=ours("moving-50"),
    sabotages=(
        Sabotage(
            "always random", "The place is random in every sample: it tells nothing.",
            {"tasks": ("moving-100",)}),
        Sabotage(
            "always fixed", "The place is always the same: the mark adds nothing.",
            {"tasks": ("moving-0",)})))


def _split(run, early: int = 0, late: int = 1):
    """Learners 0 place, 1 both; samples 80, 800."""
    at = partial(of, run, "excess", 0)
    return columns(at(1, early) - at(0, early), at(0, late) - at(1, late))


SPLIT = ours_of_map(
    id="attention-atlas.ranking-changes-on-a-split", spec="AA-8", statistic="median",
    statement=(
        "Where half of the signal lies at a place and half at a random, marked token, the ranking"
        " changes with the samples: attention by place is ahead of content and place from 80, and"
        " behind it from 800."),
    kind=ORDERING, measure=_split, resolution=0.005,
    argued="medians of 32 paired differences, about .07 and .05 in a first look",
    parts=("80: both behind place", "800: both before place"),
    scales={"quick": Scale(
        {"tasks": ("split-50",), "learners": ("place", "content-place"), "samples": (80, 800)},
        repetitions=4, seconds=12)},
    figure="attention-atlas/mixtures", citation=ours("split-50"),
    sabotages=(
        Sabotage(
            "800 at once", "What is said of 80 samples is asked at 800.",
            measure=partial(_split, early=1)),
        Sabotage(
            "80 still", "What is said of 800 samples is asked at 80.",
            measure=partial(_split, late=0))))


def _two_steps(run):
    """Learners 0 softmax, 1 two-step; samples 48, 400."""
    at = partial(of, run, "excess", 0)
    return columns(at(0, 0) - at(1, 0), at(1, 1) - at(0, 1))


TWO_STEPS = ours_of_map(
    id="attention-atlas.two-steps-then-training", spec="AA-9",
    statement=(
        "With three shifted tokens the query of two gradients is not behind trained attention by"
        " more than .05 of the excess error at n/d = 6, and is behind it at n/d = 50."),
    kind=ORDERING, measure=_two_steps, predict=lambda run: [-0.05, 0.0], resolution=0.005,
    argued="256 draws gave .038 with a deviation of .11, and .029 with one of .018",
    parts=("n/d = 6: two steps not behind", "n/d = 50: two steps behind"),
    scales={"quick": Scale(
        {
            "tasks": ("sparse-token-3",), "learners": ("softmax", "two-step"),
            "samples": (48, 400), "draws": 64},
        repetitions=4, seconds=15)},
    figure="attention-atlas/curves", citation=ours("two-step beside softmax on sparse-token-3"),
    sabotages=(
        Sabotage(
            "by place", "Attention by place in the place of the two steps.",
            {"learners": ("softmax", "place")}),
        Sabotage(
            "pooling", "Mean pooling in the place of trained attention.",
            {"learners": ("pooled", "two-step")})))
