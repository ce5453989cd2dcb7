"""Claims on how learners of the map are trained, beside the same steps written out."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.kinds import ESTIMATE, IDENTITY
from saccade.studies.attention_atlas.claims import ours
from saccade.studies.attention_atlas.experiments import paths_by_hand

PATHS = Claim(
    id="attention-atlas.paths-by-hand", spec="AA-H1", source="saccade's atlas", status="exact",
    experiment=paths_by_hand.paths_by_hand,
    statement=(
        "Learners are trained as they say: the transformer by 400 steps of Adam with a step that"
        " falls to 0 and weights that decay, the group lasso by 150 of Nesterov's for each penalty,"
        " layers by L-BFGS down their ridges, sets of places as the estimator; constants where"
        " nothing can be learned, equal weights where nothing weighs, the score of a run a ratio of"
        " densities, digits and patches as they are, what matters where y was read, and weights of"
        " places the lengths of their rows."),
    kind=IDENTITY, measure=lambda run: one_row(run.data.off.values),
    resolution=[1e-3, *[1e-9] * 10],
    argued="the transformer has seven digits, and 400 steps lose two or three of them; the rest is"
    " rounding", parts=paths_by_hand.PARTS, scales={"quick": Scale(seconds=2)},
    citation=ours("docstrings of the learners, of cells.py and of charts/images.py; 40 samples"),
    sabotages=(
        Sabotage("half a step", "By hand Adam's step falls to one half of it.", {"last": 0.5}),
        Sabotage("a step more", "By hand the group lasso has 151 steps.", {"steps": 1}),
        Sabotage(
            "otherwise", "By hand ridges are twice as large, sets of places have others, missing"
            " tokens count, the first sample does not, runs are longer by one, ties are lost, fours"
            " are told with the larger digits, the first token always matters, and places weigh by"
            " lengths to the power 1.1.", {"otherwise": True})))


def _runs(run, more: int = 0, larger: float = 0.0) -> list[float]:
    """Of the run's bags; maybe of runs longer by some tokens, and with all else larger."""
    lengths, count = np.arange(15, 46), run.parameters.run + more
    end = float(np.mean(1 / (lengths - count + 1)))
    return [
        0.5 + larger, 30 + 10 * larger, 1 / 31 + larger, 1 / 31 + larger, 0.5 + larger,
        end + larger, end + larger, count / 2, run.parameters.shift + more / 10, 1 + larger]


RUNS = Claim(
    id="attention-atlas.runs-drawn", spec="AA-H1", source="saccade's atlas", status="exact",
    statistic="mean", experiment=paths_by_hand.runs_drawn,
    statement=(
        "Bags with a run are what they say: half of them are positive, 15 to 45 tokens are equally"
        " likely, so is every start of a run that fits, and its three tokens are shifted by Delta."
    ),
    kind=ESTIMATE, measure=lambda run: run.data.moment.values, predict=_runs,
    resolution=[0.01, 0.15, 0.005, 0.005, 0.01, 0.005, 0.005, 0.03, 0.02, 0.01],
    argued="96,000 bags a look leave .002 in shares, .03 in the tokens of a bag, .003 in a shift",
    parts=paths_by_hand.MOMENTS, scales={"quick": Scale(repetitions=16, seconds=1)},
    citation=ours("the docstring of cells.py, R = 3"),
    sabotages=(Sabotage(
        "longer runs",
        "Moments of runs of four tokens, shifted by a tenth more; chances, places and"
        " squares larger by .05.", predict=lambda run: _runs(run, 1, 0.05)),))
