"""The claim on what is told of somebody's bags: what a bag is worth where classes are uneven, and
where one classifier overtakes another."""

import numpy as np

from saccade.lab.adviser import Facts
from saccade.lab.claim import Scale
from saccade.lab.experiment import Run
from saccade.studies.sparse_token.advice import overtakes, worth
from saccade.studies.sparse_token.claims.common import estimate, wrong
from saccade.studies.sparse_token.experiments import uneven

NUMBERS = np.array([10.0, 20.0, 40.0, 80.0, 160.0])


def _found(run: Run) -> np.ndarray:
    """Squares, and the n from which one curve is said to stay under another, over the n from which
    it does: straight lines in log n around it, bent ones elsewhere, which cross before too. Curves
    under the other all along are so from the first n, and some are not at the last."""
    data, ratios = run.data, []
    for row in zip(data.crossing.values, data.slope.values, data.bend.values, strict=True):
        crossing, slope, bend = row
        away = np.log(crossing / NUMBERS)
        gaps = slope * away * np.where(np.abs(away) < np.log(2), 1.0, bend - (away > 0))
        errors = {"falls": (0.3 + gaps).tolist(), "stays": [0.3] * 5}
        said = overtakes(NUMBERS.tolist(), errors, "falls", "stays").n
        if crossing > NUMBERS[-1]:
            ratios.append(1.0 if said is None else 0.0)
        else:
            ratios.append(0.0 if said is None else said / max(crossing, NUMBERS[0]))
    return np.stack([data.square.values, ratios], axis=1)


def _told(run: Run, rate: float | None = None, place: float = 1.0) -> list[float]:
    p, dim = run.parameters, 30
    facts = Facts(p.samples, 5, dim, 1.0, 1, p.positive_rate if rate is None else rate)
    return [1 / (dim * worth(facts)), place]


TOLD = estimate(
    "sparse-token.advice-sampled", "ST-PLAN",
    "Where a share pi of bags is positive a bag stands for 4 pi (1 - pi) bags of even classes: a"
    " difference of class means is as noisy. One classifier overtakes another where straight lines"
    " in log n cross for the last time, at the first n where it is ahead all along, and nowhere"
    " where it is behind at the last.",
    "25,600 differences leave 1 % of 1.56; lines in log n are met to rounding.",
    wrong("rarer", "Told for a tenth of positive bags.", _told, 0.1),
    wrong("later", "A crossing 2 % later.", _told, None, 1.02), source="ours", status="exact",
    experiment=uneven.uneven_classes, measure=_found, predict=_told, resolution=[0.15, 0.005],
    parts=("worth", "overtakes"), scales={"quick": Scale(repetitions=4, seconds=1)})
