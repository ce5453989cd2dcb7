"""What the theory of this study says about somebody's bags: the error of pooling, attention and the
vectorised classifier at their n, and the n at which attention overtakes the others."""

import numpy as np

from saccade.errors import InvalidInput
from saccade.lab.adviser import Adviser, Change, Facts, Forecast
from saccade.studies.sparse_token.task import SparseTokenSetting
from saccade.studies.sparse_token.theory import best_errors, subset_bayes_error
from saccade.studies.sparse_token.theory.law import LONGEST_SAMPLED

FACTORS = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 32)
"""n over that of the data: where the errors are computed and a change of order is looked for."""
FEWEST = 0.5  # samples per dimension below which the equations are not asked
MODELS = {"mean": "pooled", "attention": "attention", "flat": "vectorised"}


def forecast(facts: Facts) -> Forecast:
    """Best errors (ridge, sharpness and split chosen best) over a range of n around that of the
    data. Asymptotic in n and d; attention is trained by two gradient steps and a read-out.

    The classes are weighed equally, in fit and error: the formulas at positive_rate 1/2 for as many
    samples as hold the same information on a difference of two means, 4 pi (1 - pi) n (heuristic
    for pi other than 1/2).
    """
    length = min(facts.length, LONGEST_SAMPLED)
    setting = SparseTokenSetting(length, min(facts.informative, length), 0.5, facts.signal)
    per_bag = worth(facts)
    n = [float(factor * facts.n) for factor in FACTORS if factor * facts.n * per_bag >= FEWEST]
    if facts.n not in n:
        raise InvalidInput(
            f"n = {facts.n} is fewer than {FEWEST:g} bags a dimension (d = {facts.dim}), too few"
            " for this theory.")
    per_dim = [value * per_bag for value in n]
    errors = {name: best_errors(setting, model, per_dim) for name, model in MODELS.items()}
    changes = tuple(overtakes(n, errors, "attention", worse) for worse in ("mean", "flat"))
    return Forecast(n, n.index(facts.n), errors, subset_bayes_error(setting).error, changes)


def worth(facts: Facts) -> float:
    """Samples per dimension that a bag stands for, 4 pi (1 - pi)/d: a difference of two class means
    is then as noisy as with even classes (exact for means of equal variance)."""
    return 4 * facts.positive_rate * (1 - facts.positive_rate) / facts.dim


def overtakes(n: list[float], errors: dict[str, list[float]], better: str, worse: str) -> Change:
    """The smallest n from which `better` has the smaller error at all larger ones, by linear
    interpolation in log n."""
    gap = np.array(errors[worse]) - np.array(errors[better])
    behind = np.flatnonzero(gap <= 0)
    if len(behind) == 0:
        return Change(better, worse, n[0], n[-1])
    last = int(behind[-1])
    if last == len(n) - 1:
        return Change(better, worse, None, n[-1])
    part = -gap[last] / (gap[last + 1] - gap[last])
    return Change(better, worse, float(n[last] * (n[last + 1] / n[last]) ** part), n[-1])


ADVISER = Adviser(
    "sparse-token.plan",
    says="a few tokens of a positive bag are shifted along one direction, all else is normal noise",
    source="Theorems 3 to 5, Barnfield, Cui, Lu (2025); search by saccade (saccade plan)",
    status="asymptotic (n, d to infinity)", forecast=forecast)
