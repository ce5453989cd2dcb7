"""What a learner is made for pays where the data have it."""

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
