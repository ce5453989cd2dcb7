"""Which patches belong together: attention by position alone, trained with a cubic read-out."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.special import softmax
from sklearn.metrics import silhouette_score

from saccade.errors import require
from saccade.estimators.patch_layer import Layer, PatchObjective, TiedObjective
from saccade.estimators.places import PlacedClassifier
from saccade.estimators.reading import check_count, check_ridges
from saccade.estimators.solving import Solution, descend


class PatchAssociationClassifier(PlacedClassifier):
    """Which patches belong together: F(X) = b + sum_i sigma(sum_j S_ij v . x_j), sigma(z) = z^p +
    nu z, S = softmax of the rows of A.

    The layer of the spatial paper: attention depends on places alone, so A learns which places
    carry the signal together, whatever their distance; the odd power p rewards sums over patches
    that agree. Two steps. First A is trained against a strong `association_ridge`, where it shows
    who belongs to whom before it begins to fit noise; `partition_` numbers the sets found in it
    (average linkage on (A + A^T)/2, cut into `n_sets`, or where the silhouette is best). Then the
    layer is trained down the path of ridges twice, with A free and with one number for all pairs
    inside a set, and cross-validation chooses (`chosen_`: ("sets", ridge) or ("free", ridge)).

        PatchAssociationClassifier().fit(X, y).partition_          # X: (n, places, d)
    """

    _whole_from_1 = ("max_iter", "degree")
    _above_0 = ("association_ridge",)
    _from_0 = ("score_ridge_ratio", "slope")

    def __init__(
        self, n_sets=None, degree=3, slope=0.1, association_ridge=0.1,
        ridges=(0.1, 0.03, 0.01, 0.003), score_ridge_ratio=0.1, max_iter=300,
        class_weight="balanced", cv=3, n_tokens=1, random_state=0,
    ):
        self.n_sets = n_sets
        self.degree = degree
        self.slope = slope
        self.association_ridge = association_ridge
        self.ridges = ridges
        self.score_ridge_ratio = score_ridge_ratio
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.cv = cv
        self.n_tokens = n_tokens
        self.random_state = random_state

    def _settings(self):
        return list(product(("sets", "free"), check_ridges(self.ridges)))

    def _follow(self, data, target, problem) -> Iterator[Solution]:
        require(self.degree % 2 == 1, "degree", self.degree, "must be an odd whole number")
        layer, ratio = Layer(int(self.degree), float(self.slope)), self.score_ridge_ratio
        free = PatchObjective(data, target, problem.n_places, layer, ratio, problem.loss)
        first = descend(free, free.start(), self.association_ridge, self.max_iter)
        sets = partition(first.model.A, self.n_sets)
        width = 1 + data.tokens.shape[1]
        starts = {"sets": np.append(first.theta[:width], 0.5), "free": first.theta}
        objectives = {"sets": TiedObjective(free, sets, ratio), "free": free}
        for kind, ridge in self._settings():
            step = descend(objectives[kind], starts[kind], ridge, self.max_iter)
            starts[kind] = step.theta
            yield step._replace(model=replace(step.model, sets=sets))

    @property
    def association_(self):
        """S: the attention of each place (row) to each place."""
        return softmax(self.models_[0].A, axis=1)

    @property
    def partition_(self):
        """The set of each place, numbered in order of first appearance."""
        return self.models_[0].sets


def partition(A: np.ndarray, n_sets: int | None = None) -> np.ndarray:
    """The set of each place: average linkage on (A + A^T)/2, cut where told or where the silhouette
    is largest."""
    count = len(A)
    if n_sets is not None:
        check_count(n_sets, "n_sets")
        require(n_sets <= count, "n_sets", n_sets, f"must be at most the {count} places")
    if count < 3:
        return np.arange(count) if n_sets is None else np.minimum(np.arange(count), n_sets - 1)
    likeness = (A + A.T) / 2
    np.fill_diagonal(likeness, -np.inf)
    distance = likeness.max() - likeness
    np.fill_diagonal(distance, 0.0)
    tree = linkage(distance[np.triu_indices(count, 1)], "average")
    cuts = {number: fcluster(tree, number, "maxclust") for number in range(2, count)}
    cuts = {number: cut for number, cut in cuts.items() if len(set(cut)) == number}
    if n_sets is None and cuts:
        cut = max(
            cuts.values(), key=lambda one: silhouette_score(distance, one, metric="precomputed"))
    else:
        cut = fcluster(tree, n_sets or 1, "maxclust")
    _, first, numbers = np.unique(cut, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers]
