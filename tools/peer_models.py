"""Other people's bag classifiers, as classifiers with `fit` and `decision_function`: what
`tools/bag_peers.py` compares with ours.

MI-SVM by scikit-learn's LinearSVC; torchmil's ABMIL (pip install torchmil); MILES by the mapping of
the package mil (pip install --no-deps mil); ROCKET of aeon (pip install aeon; series only).
"""

from importlib.util import find_spec

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from saccade.estimators import Bags
from saccade.estimators.advise.comparing import ForestClassifier
from saccade.estimators.standard import Standard


def as_bags(X) -> Bags:
    return X if isinstance(X, Bags) else Bags.from_list(X)


class MISVM(ClassifierMixin, BaseEstimator):
    """MI-SVM (Andrews et al. 2003): negative bags give all tokens, positive ones their witness, the
    token with the largest score, chosen anew until it stays (at most 20 rounds)."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        bags, y = as_bags(X), np.asarray(y)
        self.standard_ = Standard.of_tokens(bags, np.ones(len(bags)))
        tokens = [self.standard_(bag) for bag in bags]
        negative = np.concatenate([bag for bag, label in zip(tokens, y) if not label])
        positive = [bag for bag, label in zip(tokens, y) if label]
        witness = np.stack([bag.mean(axis=0) for bag in positive])
        for _ in range(20):
            self.svm_ = LinearSVC(C=self.C, class_weight="balanced", max_iter=5000)
            self.svm_.fit(
                np.concatenate([negative, witness]), [0] * len(negative) + [1] * len(witness))
            scores = self.svm_.decision_function
            chosen = np.stack([bag[np.argmax(scores(bag))] for bag in positive])
            if np.array_equal(chosen, witness):
                break
            witness = chosen
        return self

    def decision_function(self, X):
        return np.array(
            [self.svm_.decision_function(self.standard_(bag)).max() for bag in as_bags(X)])


class TorchMIL(ClassifierMixin, BaseEstimator):
    """torchmil's ABMIL (Ilse et al. 2018) with its defaults, trained by Adam on padded batches."""

    def __init__(self, epochs=100, rate=1e-3, batch=16, decay=1e-4, seed=0):
        self.epochs, self.rate, self.batch = epochs, rate, batch
        self.decay, self.seed = decay, seed

    def fit(self, X, y):
        for _ in self.train(X, y):
            pass
        return self

    def train(self, X, y):
        """The fit, an epoch at a time; gives how many are done."""
        import torch
        from torchmil.models import ABMIL

        torch.manual_seed(self.seed)
        bags, y = as_bags(X), np.asarray(y)
        self.standard_ = Standard.of_tokens(bags, np.ones(len(bags)))
        weight = torch.tensor(float((1 - y).sum() / y.sum()))
        loss = torch.nn.BCEWithLogitsLoss(pos_weight=weight)
        self.net_ = ABMIL(in_shape=(bags.tokens.shape[1],), criterion=loss)
        optimiser = torch.optim.Adam(self.net_.parameters(), self.rate, weight_decay=self.decay)
        random = np.random.default_rng(self.seed)
        for done in range(1, self.epochs + 1):
            for part in np.array_split(random.permutation(len(y)), -(-len(y) // self.batch)):
                padded, mask = self._padded(bags.take(part))
                optimiser.zero_grad()
                loss(self.net_(padded, mask), torch.tensor(y[part], dtype=torch.float32)).backward()
                optimiser.step()
            yield done

    def _padded(self, bags):
        import torch

        mask = np.arange(bags.lengths.max()) < bags.lengths[:, None]
        padded = np.zeros((*mask.shape, bags.tokens.shape[1]), np.float32)
        padded[mask] = self.standard_(bags.tokens)
        return torch.tensor(padded), torch.tensor(mask)

    def decision_function(self, X):
        import torch

        bags = as_bags(X)
        with torch.no_grad():
            return np.concatenate([
                self.net_(*self._padded(bags.take(part))).numpy()
                for part in np.array_split(np.arange(len(bags)), -(-len(bags) // 64))])


class MILES(ClassifierMixin, BaseEstimator):
    """MILES (Chen et al. 2006) with the mapping and the defaults of `mil`: a bag becomes its
    likeness to every training token, a linear SVM with an l1 penalty reads it.

    `mil.models` cannot be imported with any TensorFlow from 2.12 on (it asks for
    `tensorflow.keras.wrappers`, which is gone), so its `MILES.fit` is written out here."""

    def __init__(self, C=0.5):
        self.C = C

    def fit(self, X, y):
        from mil.bag_representation.mapping import MILESMapping

        bags = as_bags(X)
        self.standard_ = Standard.of_tokens(bags, np.ones(len(bags)))
        self.mapping_ = MILESMapping()
        self.svm_ = LinearSVC(
            penalty="l1", C=self.C, dual=False, class_weight="balanced", max_iter=10000)
        self.svm_.fit(self.mapping_.fit_transform(self._listed(bags)), y)
        return self

    def _listed(self, bags):
        return [self.standard_(bag) for bag in bags]

    def decision_function(self, X):
        return self.svm_.decision_function(self.mapping_.transform(self._listed(as_bags(X))))


class Rocket(ClassifierMixin, BaseEstimator):
    """aeon's ROCKET on whole series: random kernels, then a ridge classifier."""

    def __init__(self, kernels=2000):
        self.kernels = kernels

    def fit(self, X, y):
        from aeon.transformations.collection.convolution_based import Rocket as Kernels
        from sklearn.linear_model import RidgeClassifierCV

        ridge = RidgeClassifierCV(np.logspace(-3, 3, 10), class_weight="balanced")
        self.pipe_ = make_pipeline(
            Kernels(self.kernels, random_state=0), StandardScaler(with_mean=False), ridge)
        self.pipe_.fit(X, y)
        return self

    def decision_function(self, X):
        return self.pipe_.decision_function(X)


class MaxPooled(ClassifierMixin, BaseEstimator):
    """Logistic regression (scikit-learn's, its default C) on the maximum of each feature."""

    def fit(self, X, y):
        self.inner_ = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        self.inner_.fit([bag.max(axis=0) for bag in as_bags(X)], y)
        return self

    def decision_function(self, X):
        return self.inner_.decision_function([bag.max(axis=0) for bag in as_bags(X)])


class Forest(ForestClassifier):
    """The forest of `saccade.advise`, for lists of bags too."""

    def fit(self, X, y):
        return super().fit(as_bags(X), y)

    def decision_function(self, X):
        return super().decision_function(as_bags(X))


PEERS: dict[str, type] = {"MI-SVM": MISVM}
if find_spec("torchmil") and find_spec("torch") and find_spec("tensordict"):
    PEERS["torchmil ABMIL"] = TorchMIL
if find_spec("mil"):
    PEERS["MILES (mil)"] = MILES
