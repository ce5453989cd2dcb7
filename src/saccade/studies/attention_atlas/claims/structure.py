"""What a layer is made for, and what it is not: structure pays where the data have it; a general
layer pays for being general."""

from saccade.lab.claim import Sabotage
from saccade.lab.kinds import ORDERING
from saccade.studies.attention_atlas.claims import columns, of_map


def _structured(run):
    """Of three pairs of learners: errors, errors, and where they look."""
    lasso, flat, largest, mean, _, _ = run.data.excess.values
    sets, place = run.data.auroc.values[4:]
    return columns(flat - lasso, mean - largest, sets - place)


STRUCTURE = of_map(
    "AA-16", "structure-pays",
    "What a learner is made for pays: a group lasso is ahead of a linear function of all tokens"
    " where one place decides (200 samples), the largest of each feature ahead of its mean where"
    " one token is shifted (200), and places that look at each other find the set that agrees with"
    " y, which attention by single places does not (100).",
    ("group-sparse", "group-sparse", "sparse-token-1", "sparse-token-1", "spatial", "spatial"),
    ("group-lasso", "flattened", "max-pooled", "pooled", "place-sets", "place"),
    (200, 200, 200, 200, 100, 100), seconds=4, kind=ORDERING, measure=_structured, resolution=0.05,
    argued="8 draws gave .14, .24 and .48 with deviations of about .03",
    parts=("group lasso", "largest", "sets of places"),
    sabotages=(Sabotage(
        "without structure",
        "Mean pooling, then linear functions of all tokens, take their place.",
        {"learners": ("pooled", "flattened", "flattened", "pooled", "flattened", "place")}),))


def _transformer(run):
    """Ahead of the linear function on digits, behind attention on shifted tokens."""
    flat, on_digits, on_tokens, content = run.data.excess.values
    return columns(flat - on_digits, on_tokens - content)


TRANSFORMER = of_map(
    "AA-18", "transformer-on-dense-and-sparse",
    "From 400 samples a small transformer is ahead of the linear function of all tokens on digits,"
    " where no shallow attention is, and behind one head of content attention where three tokens"
    " of eight are shifted.", ("digits", "digits", "sparse-token-3", "sparse-token-3"),
    ("flattened", "transformer", "transformer", "softmax"), (400,), seconds=120, scale="standard",
    figure="curves", kind=ORDERING, measure=_transformer, resolution=0.005,
    argued="4 draws gave .05 and .11 with deviations of about .015 and .03",
    parts=("digits: before linear", "shifted tokens: behind content"),
    sabotages=(
        Sabotage(
            "pooling", "Mean pooling in the place of the transformer on digits.",
            {"learners": ("flattened", "pooled", "transformer", "softmax")}),
        Sabotage(
            "few samples", "Content attention gets 24 of the 400 samples.",
            {"samples": (400, 400, 400, 24)})))
