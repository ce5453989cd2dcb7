"""Linear probes: how much of a label can be read off the states of each layer by logistic
regression?

Per layer, features are standardised by the training set and a logistic regression with an L2
penalty (C = 1, L-BFGS) is fitted. Standardising matters: the [CLS] vectors of the first layers of a
pretrained encoder vary by about 1e-4 around a large mean, and the penalty would keep a probe of the
raw features at chance.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from sklearn.linear_model import LogisticRegression

from saccade.errors import require

# Spread below this fraction of a column's size is float32 rounding: it must count as constant, not
# be blown up to variance 1.
ROUNDING = 1e-6
LARGEST_NUMBER_OF_ITERATIONS = 2000

States = Float[np.ndarray, "layers n features"]
Labels = Int[np.ndarray, " n"]


class Standardiser(NamedTuple):
    """x -> (x - mean) * inverse_scale; columns that are constant in training have inverse_scale
    0."""

    mean: Float[np.ndarray, " features"]
    inverse_scale: Float[np.ndarray, " features"]

    def __call__(
        self, features: Float[np.ndarray, "n features"]
    ) -> Float[np.ndarray, "n features"]:
        return (np.asarray(features, np.float64) - self.mean) * self.inverse_scale


def fit_standardiser(features: Float[np.ndarray, "n features"]) -> Standardiser:
    """Mean and spread of every column; columns that are constant up to float32 rounding are sent to
    zero."""
    features = np.asarray(features, np.float64)
    mean, spread = features.mean(0), features.std(0)
    constant = spread <= ROUNDING * np.abs(features).max(0)
    return Standardiser(mean, np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, spread)))


class Probe(NamedTuple):
    """A fitted linear classifier of standardised features."""

    standardise: Standardiser
    regression: LogisticRegression

    def accuracy(self, features: Float[np.ndarray, "n features"], labels: Labels) -> float:
        """The fraction of `labels` that the probe gets right."""
        return float(self.regression.score(self.standardise(features), labels))


def fit_probe(
    features: Float[np.ndarray, "n features"], labels: Labels, inverse_penalty: float = 1.0,
    standardised: bool = True,
) -> Probe:
    """Logistic regression on standardised features; `inverse_penalty` is C, the weight of the data
    against the L2 penalty.

    `standardised=False` leaves the features as they are, as the paper's code does: a check of how
    much the scaling matters.
    """
    require(inverse_penalty > 0, "inverse_penalty", inverse_penalty, "must be above 0")
    require(
        len(features) == len(labels), "labels", len(labels),
        f"must be as many as the {len(features)} rows of features")
    require(
        len(np.unique(labels)) == 2, "labels", np.unique(labels).tolist(),
        "must hold exactly two classes")
    standardise = (
        fit_standardiser(features) if standardised else Standardiser(np.zeros(1), np.ones(1)))
    regression = LogisticRegression(
        C=inverse_penalty, solver="lbfgs", max_iter=LARGEST_NUMBER_OF_ITERATIONS)
    return Probe(standardise, regression.fit(standardise(features), labels))


def probe_layers(
    train_states: States, train_labels: Labels, test_sets: Mapping[str, tuple[States, Labels]], *,
    inverse_penalty: float = 1.0, standardised: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Float[np.ndarray, " layers"]]:
    """Accuracy of one probe per layer on the training set ("train") and on every test set, as
    `{set: accuracies}`.

    `progress(done, total)` is called after every layer.
    """
    layers = len(train_states)
    require(
        "train" not in test_sets, "test_sets", sorted(test_sets),
        "must not use the name 'train', which is the training set's")
    for name, (states, _) in test_sets.items():
        same = len(states) == layers and states.shape[-1] == train_states.shape[-1]
        require(
            same, f"states of {name}", states.shape,
            f"must have the layers and features of {train_states.shape}")
    sets = {"train": (train_states, train_labels), **test_sets}
    accuracies = {name: np.empty(layers) for name in sets}
    for layer in range(layers):
        probe = fit_probe(train_states[layer], train_labels, inverse_penalty, standardised)
        for name, (states, labels) in sets.items():
            accuracies[name][layer] = probe.accuracy(states[layer], labels)
        if progress is not None:
            progress(layer + 1, layers)
    return accuracies
