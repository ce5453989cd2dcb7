"""Claims on fitted estimators and on the best classifier's area, beside plain versions of both."""

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.kinds import IDENTITY
from saccade.studies.bag_estimators.claims import SOURCE, ours
from saccade.studies.bag_estimators.experiments import fits_by_hand, roc_by_hand
from saccade.studies.bag_estimators.theory import bayes_auc

FITS = Claim(
    id="bag-estimators.fits-by-hand", spec="EB-11", source=SOURCE,
    statement=(
        "Fitted estimators stand where J, written out for bags by loops, is flat, and say F and its"
        " weights there: log-mean-exp, evidence with sums and means, attention with statistics,"
        " over groups and for numbers, on weighted bags of different lengths; bags that are taken"
        " keep tokens and places."),
    kind=IDENTITY, experiment=fits_by_hand.fits_by_hand,
    measure=lambda run: one_row(run.data.off.values), resolution=[1e-3, *[1e-9] * 3, 0.0, 0.0],
    argued="descent ends where a step gains less than 1e-7 of J, at slopes of some 1e-4; the rest"
    " is rounding, and copies are exact", parts=fits_by_hand.PARTS,
    scales={"quick": Scale(seconds=1)},
    citation=ours("docstrings of the estimators and of bags.py; 36 bags"),
    sabotages=(
        Sabotage("other ridge", "By hand a ridge of .25 for .2.", {"ridge_by_hand": 0.25}),
        Sabotage("moved", "By hand parameters a thousandth larger.", {"moved": 1e-3}),
        Sabotage("next bag", "By hand the bag after each that is taken.", {"on": 1})))


def _areas(run, longer: int = 0) -> list[float]:
    return [*(bayes_auc(signal, length + longer) for signal, length in roc_by_hand.SETTINGS), 0.0]


ROC = Claim(
    id="bag-estimators.roc-by-hand", spec="EB-9", source=SOURCE, status="quadrature",
    statement=(
        "The AUC foretold for the best classifier is P(r- < r+) of the ratio r of densities, summed"
        " over a grid of bags of two and three numbers; the classifier that knows the direction"
        " ranks bags by that ratio."),
    kind=IDENTITY, experiment=roc_by_hand.roc_by_hand,
    measure=lambda run: one_row(run.data.value.values), predict=_areas,
    resolution=[*[0.003] * 3, 1e-9],
    argued="131,072 draws leave .001 and the grid some 1e-4; the largest number in the place of the"
    " ratio is .004 to .009 less", parts=roc_by_hand.PARTS, scales={"quick": Scale(seconds=1)},
    citation=ours("docstrings of theory.py and models.py"),
    sabotages=(
        Sabotage(
            "one token more", "What is foretold for bags with a token more.",
            predict=lambda run: _areas(run, 1)),
        Sabotage("other shift", "Densities of a shift of 1.8 for 1.7.", {"told": 1.8})))
