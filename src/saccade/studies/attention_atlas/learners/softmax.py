"""Softmax attention: by content with one, two or four heads, and by content and place, where a
token carries its place as further features (one for each place). Starts and objective are those of
saccade's estimator."""

from functools import partial

from saccade.contracts import Kind
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.models import Descended
from saccade.studies.attention_atlas.models.heads import Heads


def _learner(kind: Kind, heads: int, places: bool) -> Descended:
    return Descended(kind, partial(Heads, heads=heads, places=places))


def _charted(
    name: str, says: str, heads: int, places: bool = False, quick: bool = True
) -> ChartedLearner:
    make = partial(_learner, heads=heads, places=places)
    return ChartedLearner(name, STUDY, says, make, quick=quick, ragged=not places)


SOFTMAX = (
    _charted("softmax", "softmax attention by content, one head", 1),
    _charted("softmax-2", "softmax attention by content, two heads", 2),
    _charted("softmax-4", "softmax attention by content, four heads", 4, quick=False),
    _charted("content-place", "softmax attention by content and place, one head", 1, True),
    _charted(
        "content-place-2", "softmax attention by content and place, two heads", 2, True, False))
