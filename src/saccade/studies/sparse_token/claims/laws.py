"""The claim on the law that everything about fitted attention is computed from."""

import numpy as np

from saccade.lab.claim import Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims.common import claim, wrong
from saccade.studies.sparse_token.experiments import law as features
from saccade.studies.sparse_token.task import SparseTokenSetting

RATE, ALIGNMENTS = 0.3, (0.6, -0.8)
NOISE = [features.MOMENTS.index(name) for name in ("A", "A^2", "tau^2", "A tau^2")]


def _of_law(run: Run, *alignments: float, sharpness: float | None = None) -> np.ndarray:
    """The same means over the study's nodes, whose A lacks the mean noise of the tokens."""
    p, rows = run.parameters, []
    setting = SparseTokenSetting(3, p.informative, RATE, p.signal)
    for rho in alignments or p.alignments:
        law = theory.feature_law(setting, "attention", rho, sharpness or p.sharpness)
        A, S, square = law.along, law.across, law.spread**2
        values = np.stack([A, A * A + law.shift_variance, S, A * S, square, A * square])
        rows.append([
            values @ (law.weight * (law.label == label)) / share
            for label, share in ((1, RATE), (-1, 1 - RATE))])
    return _judged(np.array(rows))


def _judged(means: np.ndarray) -> np.ndarray:
    """Positives at every alignment; negatives, which have no signal, once."""
    return np.append(means[:, 0].ravel(), means[0, 1, NOISE])


LAW = claim(
    "sparse-token.feature-law", "ST-T4",
    "The nodes of attention's features have the moments of softmax(k t) on all tokens, of"
    " positives and of negatives, also where the query points away from the signal.",
    "4096 nodes of a Sobol sequence leave 2e-4 against a product rule over three tokens.",
    wrong("towards", "Predict for a query that points to the signal.", _of_law, 0.6, 0.8),
    wrong("sharper", "Predict for a sharpness of 2.", _of_law, sharpness=2.0), source="ours",
    status="quadrature", kind=IDENTITY, experiment=features.feature_moments,
    measure=lambda run: one_row(_judged(run.data["mean"].values)), predict=_of_law, resolution=1e-3,
    parts=(
        *(f"{name}, rho={rho:g}" for rho in ALIGNMENTS for name in features.MOMENTS),
        *(f"{features.MOMENTS[at]}, negatives" for at in NOISE)),
    scales={"quick": Scale({"alignments": ALIGNMENTS}, seconds=1)})
