"""Linear probes: how much of a label does logistic regression read off each layer's states?

Per layer, features are standardised by the training set and a logistic regression with an L2
penalty (C = 1, L-BFGS) is fitted. Standardising matters: the [CLS] vectors of the first layers of a
pretrained encoder vary by about 1e-4 around a large mean, and the penalty would keep a probe of the
raw features at chance.
"""

from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Float, Int
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from saccade.errors import require

# A column that varies by less than this fraction of its size is constant up to float32 rounding.
ROUNDING = 1e-6
LARGEST_NUMBER_OF_ITERATIONS = 2000

Features = Float[np.ndarray, "n features"]
States = Float[np.ndarray, "layers n features"]
Labels = Int[np.ndarray, " n"]


def fit_standardiser(features: Features) -> Callable[[Features], Features]:
    """To mean 0 and spread 1, column by column; columns constant in training are sent to zero."""
    features = np.asarray(features, np.float64)
    mean, spread = features.mean(0), features.std(0)
    constant = spread <= ROUNDING * np.abs(features).max(0)
    factor = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, spread))
    return lambda x: (np.asarray(x, np.float64) - mean) * factor


def fit_probe(features: Features, labels: Labels) -> Pipeline:
    """Logistic regression on standardised features; `score(features, labels)` is its accuracy."""
    rule = f"must be as many as the {len(features)} rows of features"
    require(len(features) == len(labels), "labels", len(labels), rule)
    classes = np.unique(labels).tolist()
    require(len(classes) == 2, "labels", classes, "must hold exactly two classes")
    standardise = FunctionTransformer(fit_standardiser(features))
    regression = LogisticRegression(solver="lbfgs", max_iter=LARGEST_NUMBER_OF_ITERATIONS)
    return make_pipeline(standardise, regression).fit(features, labels)


def probe_layers(
    train_states: States, train_labels: Labels, test_sets: Mapping[str, tuple[States, Labels]]
) -> dict[str, Float[np.ndarray, " layers"]]:
    """{set: accuracy of one probe per layer}, the training set's under "train"."""
    rule = "must not use the name 'train', which is the training set's"
    require("train" not in test_sets, "test_sets", sorted(test_sets), rule)
    for name, (states, _) in test_sets.items():
        same = states.shape[::2] == train_states.shape[::2]
        rule = f"must have the layers and features of {train_states.shape}"
        require(same, f"states of {name}", states.shape, rule)
    probes = [fit_probe(features, train_labels) for features in train_states]
    return {
        name: np.array([probe.score(x, labels) for probe, x in zip(probes, states)])
        for name, (states, labels) in {"train": (train_states, train_labels), **test_sets}.items()}
