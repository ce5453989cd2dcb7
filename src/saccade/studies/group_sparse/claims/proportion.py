"""Claims on Theorem 4.2's d + D: what stays the same when samples grow in proportion to d, and
where the D comes from."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, SLOPE
from saccade.studies.group_sparse.claims import answers, claim
from saccade.studies.group_sparse.claims.transfer import BOUND
from saccade.studies.group_sparse.experiments import proportion
from saccade.studies.group_sparse.theory.transfer import second_error

_sharper = partial(
    claim, source="ours; sharper than Theorem 4.2", citation=answers("Theorem 4.2", BOUND),
    figure="group-sparse/transfer")
_in_proportion = partial(_sharper, status="asymptotic", kind=SLOPE, statistic="mean")

REFIT = _in_proportion(
    "group-sparse.refit-needs-d", "GS-T5c",
    "Refitting v on the frozen features needs samples in proportion to d alone: with n = 8 d (d ="
    " 10 to 40, D = 3 to 15) the error of the refit is the same, exponents of d and D are 0.",
    "For n/d and the penalty of a sample kept, d - 1 directions and an intercept leave errors that"
    " differ by 1/d; blocks of four draws scatter by 0.11.",
    "Once the selector is learned, a batch refit needs samples in proportion to d: D does not"
    " enter.", experiment=proportion.refit_in_proportion,
    measure=lambda run: proportion.error_exponents(run, run.data.error.values), resolution=0.1,
    parts=("exponent of d", "exponent of D"), scales={"quick": Scale(repetitions=8, seconds=5)},
    sabotages=(
        Sabotage("as-many-samples", "128 samples at every size.", {"samples": 128}),
        Sabotage(
            "flattened", "Fit the flattened input instead of the features.", {"reader": "flattened"}
        )))


def _exponents(run: Run, learner: str = "attention") -> np.ndarray:
    """Of d and of D with v2 frozen, and the sum of both with v2 free; [block][part]."""
    errors = run.data.error.sel(learner=learner)
    frozen, free = (
        proportion.error_exponents(run, errors.sel(mode=mode).values) for mode in proportion.MODES)
    return np.column_stack([frozen, free.sum(axis=1)])


ONLINE = _in_proportion(
    "group-sparse.transfer-slope", "GS-T5a",
    "Samples of online fine-tuning grow as d times a function of D/d, as d + D does: with n = 30 d"
    " and steps of 1.5/d the average online error is the same for all d = 8, 24 and D = 4, 12 when"
    " v2 stays at zero, and for all with one D/d when it moves.",
    "v2 moves along q = P w alone, an intercept whose step is |q|^2 eta, of order D/d; in d - 1"
    " directions the curve is one of n/d. Blocks of four streams scatter by 0.1, and d - 1 for d"
    " makes 0.03.", "The D of d + D is the length of the encodings: without v2 samples grow as d.",
    experiment=proportion.online_in_proportion, measure=_exponents, resolution=0.12,
    parts=("v2 frozen: of d", "v2 frozen: of D", "v2 free: of both together"),
    scales={"quick": Scale(repetitions=8, seconds=6)},
    sabotages=(
        Sabotage("as-many-samples", "300 samples at every size.", {"samples": 300}),
        Sabotage(
            "logistic", "Logistic regression on the flattened input, with steps of 1/(d D).",
            measure=lambda run: _exponents(run, "logistic"))))


def _second(run: Run, exchanged: bool = False, **other: float) -> np.ndarray:
    """Predicted chances of a mistake, [pair][mode], perhaps for other parameters."""
    p = run.parameters
    setting = {"attention": p.attention, "margin": p.margin, "scale": p.scale, **other}
    return np.array([
        second_error(D, d, **setting, position=free != exchanged) for d, D in p.pairs
        for free in (False, True)])


SECOND = _sharper(
    "group-sparse.transfer-second-sample", "GS-T5b",
    "On the second sample of a stream the layer errs with the chance of a quadrature in which the"
    " encodings' squared length |q|^2 = (D+1)/2 |w|^2 is all that v2 adds: at D = 9, d = 5 it is"
    " almost doubled by v2.",
    "Fractions of 20000 streams and more at attention 0.8, a margin of 0.7 and sigma = 1.3; 0.02 is"
    " an eighth of what v2 adds at D = 9.",
    "What the position part of v costs is known from the first sample on.", status="quadrature",
    kind=ESTIMATE, experiment=proportion.second_sample,
    measure=lambda run: run.data.wrong.transpose("draw", "pair", "mode").values.reshape(
        run.parameters.draws, -1),
    predict=_second, resolution=0.02, statistic="fraction",
    parts=tuple(f"{size}, {mode}" for size in ("D=9", "D=4") for mode in proportion.MODES),
    scales={"quick": Scale(repetitions=4, seconds=6)},
    sabotages=(
        Sabotage(
            "no-margin", "Predict without the margin.", predict=lambda run: _second(run, margin=0.0)
        ),
        Sabotage(
            "exchanged", "v2 frozen where it is free, and free where it is frozen.",
            predict=lambda run: _second(run, exchanged=True))))
