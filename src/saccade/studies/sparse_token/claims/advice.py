"""The claim on what is told of somebody's bags: what a bag is worth where classes are uneven, and
where one classifier overtakes another."""

import numpy as np

from saccade.lab.adviser import Facts
from saccade.lab.claim import Scale
from saccade.lab.experiment import Run
from saccade.studies.sparse_token.advice import overtakes, worth
from saccade.studies.sparse_token.claims.common import estimate, wrong
from saccade.studies.sparse_token.experiments import uneven

NUMBERS = [10.0, 20.0, 40.0, 80.0, 160.0]


def _found(run: Run) -> np.ndarray:
    """Squares, and the n at which a falling error is said to pass under one that stays, over the n
    at which it does; both are straight in log n."""
    ratios = []
    for crossing, slope in zip(run.data.crossing.values, run.data.slope.values, strict=True):
        falls = [0.3 + slope * np.log(crossing / n) for n in NUMBERS]
        said = overtakes(NUMBERS, {"falls": falls, "stays": [0.3] * 5}, "falls", "stays").n
        ratios.append(np.nan if said is None else said / crossing)
    return np.stack([run.data.square.values, ratios], axis=1)


def _told(run: Run, rate: float | None = None, place: float = 1.0) -> list[float]:
    p, dim = run.parameters, 30
    facts = Facts(p.samples, 5, dim, 1.0, 1, p.positive_rate if rate is None else rate)
    return [1 / (dim * worth(facts)), place]


TOLD = estimate(
    "sparse-token.advice-sampled", "ST-PLAN",
    "Where a share pi of bags is positive a bag stands for 4 pi (1 - pi) bags of even classes: a"
    " difference of class means is as noisy. One classifier overtakes another where straight lines"
    " in log n cross.", "25,600 differences leave 1 % of 1.56; lines in log n are met to rounding.",
    wrong("rarer", "Told for a tenth of positive bags.", _told, 0.1),
    wrong("later", "A crossing 2 % later.", _told, None, 1.02), source="ours", status="exact",
    experiment=uneven.uneven_classes, measure=_found, predict=_told, resolution=[0.15, 0.005],
    parts=("worth", "overtakes"), scales={"quick": Scale(repetitions=4, seconds=1)})
