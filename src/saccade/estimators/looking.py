"""Where a model looks, whether to believe it, and how good it is at finding what matters."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata, t

from saccade.estimators.bags import Bags
from saccade.estimators.base import BagClassifier
from saccade.estimators.reading import BagEstimator, shaped

LEVEL = 0.95


class Interval(NamedTuple):
    """An estimate and its 95 % interval over bags."""

    value: float
    low: float
    high: float


class Localisation(NamedTuple):
    """`auroc`: the chance that an informative token of a bag outweighs another token of it,
    averaged over `bags`; `hit`: how often the heaviest token is informative; `chance`: of a blind
    guess."""

    auroc: Interval
    hit: Interval
    chance: float
    bags: int


class Looks(BagEstimator):
    """Adds `attention`, `localisation_score` and `plot_attention` to an estimator."""

    models_: list[Any]
    better_than_pooling_: bool | None
    cv_loss_: float
    pooling_loss_: float

    def attention(self, X, mask=None):
        """The weight of each token in its bag, summing to 1: (n, L) with 0 under the mask for
        arrays, a list of vectors for lists and Bags.

        A weight ranks tokens inside a bag and is no probability. If the model was not better than
        mean pooling in its own cross-validation (its loss on held-out bags not lower by two
        standard errors of the paired difference), its weights mean little: a UserWarning says "not
        better than pooling", and `better_than_pooling_` is False (None: not compared, because one
        ridge needs no cross-validation). With several classes the weights are those of the class
        that is predicted.
        """
        bags = self._read(X, mask)
        if self.better_than_pooling_ is False:
            warnings.warn(
                f"{type(self).__name__} is not better than pooling on these data: its held-out loss"
                f" is {self.cv_loss_:.4g}, that of pooling {self.pooling_loss_:.4g}, not two"
                " standard errors more. Do not read its attention as an explanation.", UserWarning,
                stacklevel=2)
        return shaped(self._weights(bags), bags, X, mask, self.n_tokens)

    def _weights(self, bags: Bags) -> np.ndarray:
        """Flat weights; of the predicted class where there are several models."""
        if len(self.models_) == 1:
            return self.models_[0].attention(bags)
        assert isinstance(self, BagClassifier)
        predicted = np.repeat(self._decide(bags).argmax(axis=1), bags.lengths)
        weights = np.stack([model.attention(bags) for model in self.models_])
        return np.take_along_axis(weights, predicted[None], axis=0)[0]

    def localisation_score(self, X, where, mask=None) -> Localisation:
        """How well the attention finds the tokens that `where` marks; see `localisation`."""
        bags = self._read(X, mask)
        return localisation(bags.split(self._weights(bags)), _marks(where, bags, X, mask))

    def plot_attention(self, X, mask=None, **options):
        """Draw the attention of some bags; see `plot_attention`."""
        return plot_attention(self.attention(X, mask), **options)


def _marks(where: Any, bags: Bags, X: Any, mask: Any) -> list[np.ndarray]:
    """One boolean vector a bag, of the kept tokens."""
    marks = [np.atleast_1d(one).astype(bool) for one in where]
    if mask is not None:
        marks = [
            one[np.asarray(keep, bool)] for one, keep in zip(marks, mask) if len(one) == len(keep)]
    if [one.shape for one in marks] != [(length,) for length in bags.lengths.tolist()]:
        raise ValueError("where must hold one entry for each token of each bag.")
    return marks


def localisation(weights: Any, where: Any) -> Localisation:
    """AUROC over tokens and top-1 hits of weights, one vector a bag, against the truth `where`.

    Only bags that hold informative and other tokens can be judged; both numbers are means over
    them (a tie counts a half, and shares a hit), because weights of different bags do not compare.
    Intervals are Student's over bags, so they speak for bags like these and for this model.
    """
    pairs = [(np.asarray(a, float), np.asarray(b, bool)) for a, b in zip(weights, where)]
    judged = [(a, b) for a, b in pairs if 0 < b.sum() < len(b)]
    if not judged:
        raise ValueError("where marks no bag that holds both informative and other tokens.")
    areas = np.array([_area(*one) for one in judged])
    hits = np.array([b[a == a.max()].mean() for a, b in judged])
    chance = float(np.mean([b.mean() for _, b in judged]))
    return Localisation(_interval(areas), _interval(hits), chance, len(judged))


def _area(weights: np.ndarray, marks: np.ndarray) -> float:
    inside = marks.sum()
    ranks = rankdata(weights)[marks].sum() - inside * (inside + 1) / 2
    return float(ranks / (inside * (len(marks) - inside)))


def _interval(values: np.ndarray) -> Interval:
    mean = float(values.mean())
    if len(values) < 2:
        return Interval(mean, 0.0, 1.0)
    half = t.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Interval(mean, max(0.0, float(mean - half)), min(1.0, float(mean + half)))


def plot_attention(weights: Any, where: Any = None, bags: Any = None, axes: Any = None):
    """Bars of attention, one row a bag; `where` marks informative tokens, `bags` chooses rows [the
    first eight]. Gives the matplotlib figure."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    rows = list(range(min(8, len(weights)))) if bags is None else list(bags)
    if axes is None:
        _, axes = plt.subplots(
            len(rows), 1, figsize=(7, 0.55 + 0.65 * len(rows)), sharex=True, squeeze=False,
            layout="constrained")
    axes = np.ravel(axes)
    for axis, row in zip(axes, rows):
        own = np.asarray(weights[row], float)
        colours = ["#4c72b0"] * len(own)
        if where is not None:
            colours = ["#c44e52" if mark else "#4c72b0" for mark in where[row]]
        axis.bar(np.arange(len(own)), own, color=colours, width=0.85)
        axis.axhline(1 / max(1, np.count_nonzero(own)), color="0.5", linewidth=0.8, linestyle=":")
        axis.set_ylabel(f"bag {row}", rotation=0, ha="right", va="center")
        axis.set_yticks([])
        axis.set_ylim(0, 1)
    axes[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[-1].set_xlabel(
        "token (dotted: equal weights" + ("; red: informative)" if where is not None else ")"))
    return axes[0].figure
