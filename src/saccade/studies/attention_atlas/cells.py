"""External checks: two numbers that others have published, measured anew.

runs      bags of which the positive ones hold a run of shifted tokens (`runs.py`; Synthetic Data
          Reveals Generalization Gaps in Correlated MIL, arXiv 2510.25759)
digits    bags of about ten MNIST digits, positive if they hold a nine (Ilse, Tomczak, Welling 2018)
"""

import numpy as np
import xarray

from saccade.datasets.bags import load_bags
from saccade.errors import require
from saccade.estimators import AttentionClassifier, Bags, LogMeanExpClassifier, PooledClassifier
from saccade.lab.experiment import experiment
from saccade.studies.attention_atlas.runs import SHORTEST, auroc, bags_with_a_run, best_scores
from saccade.studies.attention_atlas.task import generator


@experiment("attention-atlas.runs-of-tokens")
def runs_of_tokens(
    key, *, shifts: tuple[float, ...] = (1.0, 2.0, 3.0), run: int = 3, assumed: int = 3,
    bags: int = 100, sets: int = 400,
) -> xarray.Dataset:
    """AUROC of the best score on many sets of `bags` bags, by shift; the score takes runs to be
    `assumed` long."""
    require(1 <= run <= SHORTEST, "run", run, f"must lie from 1 to {SHORTEST}")
    random = generator(key)
    found = np.empty((sets, len(shifts)))
    for row in range(sets):
        for column, shift in enumerate(shifts):
            X, lengths, y = bags_with_a_run(random, bags, run, shift)
            found[row, column] = auroc(best_scores(X, lengths, assumed, shift), y)
    return xarray.Dataset({"auroc": (("replicate", "shift"), found)}, {"shift": list(shifts)})


LEARNERS = {
    "pooled": PooledClassifier, "log-mean-exp": LogMeanExpClassifier,
    "attention": lambda: AttentionClassifier(n_heads=1)}


@experiment("attention-atlas.digit-bags")
def digit_bags(key, *, train: int = 50, draws: int = 16) -> xarray.Dataset:
    """AUC on the bags that are left, after learning from `train` of the 500 MNIST bags."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    read, random = load_bags("mnist-bags"), generator(key)
    require(4 <= train < len(read), "train", train, f"must lie from 4 to {len(read) - 1}")
    bags, labels = Bags(read.tokens, read.offsets), np.asarray(read.labels)
    found = np.empty((draws, len(LEARNERS)))
    for row in range(draws):
        order = random.permutation(len(labels))
        chosen, left = order[:train], order[train:]
        for column, build in enumerate(LEARNERS.values()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = build().fit(bags.take(chosen), labels[chosen])
            found[row, column] = auroc(
                np.asarray(model.decision_function(bags.take(left))), labels[left] > 0)
    return xarray.Dataset({"auc": (("draw", "learner"), found)}, {"learner": list(LEARNERS)})
