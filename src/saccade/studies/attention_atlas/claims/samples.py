"""Who wins from how many samples: the price of seeing content and place, the ranking on mixtures,
the query of two gradients."""

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.kinds import ORDERING
from saccade.studies.attention_atlas.claims import columns, ours, ours_of_map


def _price(run):
    """Of the second layer: behind the first from the first number of samples, ahead of it from the
    second."""
    pure, early, late = run.data.excess.values
    return columns(early - pure, pure - late)


PRICE_OF_CONTENT = ours_of_map(
    id="attention-atlas.price-of-content", spec="AA-5",
    statement=(
        "To see content too has a price where a place decides: attention by content and place needs"
        " between 2 and 8 times the samples of attention by place alone (100)."),
    kind=ORDERING, measure=_price, resolution=0.005,
    argued="paired differences of .08 and .05 in a look at 48 draws, spread by .06 and .03",
    parts=("200 with both err more than 100", "800 with both err less than 100"),
    scales={"quick": Scale(
        {
            "tasks": ("group-sparse",), "learners": ("place", "content-place", "content-place"),
            "samples": (100, 200, 800)},
        repetitions=4, seconds=4)},
    figure="attention-atlas/curves", citation=ours("place and content-place on group-sparse"),
    sabotages=(
        Sabotage(
            "the pure layer", "Attention by place alone gets the 200 samples.",
            {"learners": ("place", "place", "content-place")}),
        Sabotage(
            "no more samples", "Content and place get 200 samples in the place of 800.",
            {"samples": (100, 200, 200)})))

PRICE_OF_PLACES = ours_of_map(
    id="attention-atlas.price-of-places", spec="AA-6", statistic="median",
    statement=(
        "To see places too has a smaller price where a random token decides: attention by content"
        " and place needs between 1 and 4 times the samples of content attention (200)."),
    kind=ORDERING, measure=_price, resolution=0.005,
    argued="paired differences of .08 and .05 in a look at 40 draws; nine in ten have the sign",
    parts=("200 with both err more", "800 with both err less"),
    scales={"quick": Scale(
        {
            "tasks": ("single-location-1",),
            "learners": ("softmax", "content-place", "content-place"),
            "samples": (200, 200, 800)},
        repetitions=4, seconds=4)},
    figure="attention-atlas/curves",
    citation=ours("softmax and content-place on single-location-1"),
    sabotages=(
        Sabotage(
            "the pure layer", "Content attention alone, with 800 samples, stands in for both.",
            {"learners": ("softmax", "softmax", "content-place"), "samples": (200, 800, 800)}),
        Sabotage(
            "no more samples", "Content and place get 200 samples in the place of 800.",
            {"samples": (200, 200, 200)})))


def _moving(run):
    """Learners 0 softmax, 1 place, 2 both."""
    content, place, both = run.data.excess.values
    return columns(content - both, place - both)


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


def _split(run):
    """Place and both from few samples, then from many."""
    place, both, place_late, both_late = run.data.excess.values
    return columns(both - place, place_late - both_late)


SPLIT = ours_of_map(
    id="attention-atlas.ranking-changes-on-a-split", spec="AA-8", statistic="median",
    statement=(
        "Where half of the signal lies at a place and half at a random, marked token, the ranking"
        " changes with the samples: attention by place is ahead of content and place from 80, and"
        " behind it from 800."),
    kind=ORDERING, measure=_split, resolution=0.005,
    argued="medians of .05 and .04 in looks at 48 draws; at 80 four in five have the sign",
    parts=("80: both behind place", "800: both before place"),
    scales={"quick": Scale(
        {
            "tasks": ("split-50",), "learners": ("place", "content-place") * 2,
            "samples": (80, 80, 800, 800), "draws": 64},
        repetitions=4, seconds=5)},
    figure="attention-atlas/mixtures", citation=ours("split-50"),
    sabotages=(
        Sabotage("800 at once", "What is said of 80 samples is asked at 800.", {"samples": (800,)}),
        Sabotage("80 still", "What is said of 800 samples is asked at 80.", {"samples": (80,)})))


def _two_steps(run):
    """Trained attention and two steps from few samples, then from many."""
    trained, steps, trained_late, steps_late = run.data.excess.values
    return columns(trained - steps, steps_late - trained_late)


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
            "tasks": ("sparse-token-3",), "learners": ("softmax", "two-step") * 2,
            "samples": (48, 48, 400, 400), "draws": 64},
        repetitions=4, seconds=5)},
    figure="attention-atlas/curves", citation=ours("two-step beside softmax on sparse-token-3"),
    sabotages=(
        Sabotage(
            "by place", "Attention by place in the place of the two steps.",
            {"learners": ("softmax", "place") * 2}),
        Sabotage(
            "pooling", "Mean pooling in the place of trained attention.",
            {"learners": ("pooled", "two-step") * 2})))
