"""Bad input is refused with scikit-learn's exceptions and in its words."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from saccade.estimators import (
    AttentionClassifier,
    AttentionRegressor,
    BagClassifierCV,
    Bags,
    EvidenceClassifier,
    GroupAttentionClassifier,
    LogMeanExpClassifier,
    PatchAssociationClassifier,
    PooledClassifier,
    SparseRecovery,
    TwoStepAttentionClassifier,
)

CLASSIFIERS = [
    PooledClassifier(), LogMeanExpClassifier(), AttentionClassifier(ridges=0.1),
    EvidenceClassifier(n_starts=1, ridges=0.3, sharpness=1.0), TwoStepAttentionClassifier(),
    BagClassifierCV(candidates=("mean", "lme")), GroupAttentionClassifier(ridges=0.1),
    PatchAssociationClassifier(ridges=0.1)]
MODELS = [*CLASSIFIERS, AttentionRegressor(ridges=0.1)]


def named(model):
    return type(model).__name__


def example():
    rng = np.random.default_rng(0)
    return rng.standard_normal((12, 4, 3)), np.arange(12) % 2


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("model", MODELS, ids=named)
def test_what_is_not_finite(model, value):
    X, y = example()
    X[3, 1, 2] = value
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        model.fit(X, y)
    mask = np.ones((12, 4), bool)
    mask[3, 1] = False
    assert np.isfinite(model.fit(X, y, mask=mask).predict(X, mask)).all()
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        model.predict(X)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_wrong_shapes(model):
    X, y = example()
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        model.fit(X[:, 0, 0], y)
    with pytest.raises(ValueError, match=r"dim 4 \(shape=\(12, 4, 3, 1\)\), and X must be bags"):
        model.fit(X[..., None], y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="mask must have shape"):
        model.fit(X, y, mask=np.ones((12, 3), bool))
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(X, None)
    with pytest.raises(ValueError, match="no multiple of n_tokens=5"):
        type(model)(n_tokens=5).fit(X.reshape(12, -1), y)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_empty_and_hidden_bags(model):
    X, y = example()
    with pytest.raises(ValueError, match="0 token"):
        model.fit([X[0], X[1][:0], *X[2:]], y)
    mask = np.ones((12, 4), bool)
    mask[5] = False
    with pytest.raises(ValueError, match="hides every token of bag 5"):
        model.fit(X, y, mask=mask)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_before_fit_and_other_features(model):
    X, y = example()
    with pytest.raises(NotFittedError):
        type(model)().predict(X)
    if hasattr(model, "attention"):
        with pytest.raises(NotFittedError):
            type(model)().attention(X)
    model.fit(X, y)
    for other in (X[:, :, :2], list(X[:, :, :2])):
        with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
            model.predict(other)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_labels(model):
    X, y = example()
    with pytest.raises(ValueError, match="only one class"):
        model.fit(X, np.ones(12))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, np.linspace(0, 1, 12))
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(X, np.where(y, 1.0, np.nan))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        model.fit(X, y, sample_weight=-np.ones(12))
    with pytest.raises(ValueError, match="leaves a class without weight"):
        model.fit(X, y, sample_weight=y)


@pytest.mark.parametrize(
    "model", [GroupAttentionClassifier(), PatchAssociationClassifier()], ids=named)
def test_where_two_classes_make_sense_and_places_count(model):
    X, y = example()
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        model.fit(X, np.arange(12) % 3)
    chosen = BagClassifierCV([("own", model.set_params(ridges=0.1))])
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        chosen.fit(X, np.arange(12) % 3)
    for one in (model, chosen):
        one.fit(X, y)
        with pytest.raises(ValueError, match=r"X has 5 tokens, but .* is expecting 4 tokens"):
            one.predict(np.zeros((2, 5, 3)))
    assert np.array_equal(chosen.best_estimator_.predict(X), chosen.predict(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogMeanExpClassifier(ridges=()), "ridges"), (LogMeanExpClassifier(ridges=-1), "ridges"),
        (LogMeanExpClassifier(sharpness=0), "sharpness"),
        (LogMeanExpClassifier(positive="x"), "positive"),
        (LogMeanExpClassifier(class_weight="no"), "class_weight"),
        (LogMeanExpClassifier(cv=1), "cv must be at least 2"),
        (PooledClassifier(statistics="median"), "statistics"),
        (AttentionClassifier(n_heads=0), "n_heads"), (AttentionClassifier(pooled="x"), "pooled"),
        (EvidenceClassifier(n_starts=0), "n_starts"),
        (PatchAssociationClassifier(degree=2), "degree"),
        (PatchAssociationClassifier(n_sets=9), "n_sets"),
        (BagClassifierCV(candidates=("meen",)), "did you mean 'mean'"),
        (BagClassifierCV(candidates=()), "candidates"), (BagClassifierCV("lme"), "must be a list"),
        (BagClassifierCV(5), "must be a list"),
        (BagClassifierCV([PooledClassifier()]), "a pair of"),
        (BagClassifierCV(["lme", "lme"]), "must not name two alike"),
        (BagClassifierCV([("own", PooledClassifier)]), "a pair of a name and a classifier"),
        (BagClassifierCV([("own", AttentionRegressor())]), "a pair of a name and a classifier"),
        (BagClassifierCV([("own", BagClassifierCV())]), "a pair of a name and a classifier"),
        (BagClassifierCV([("own", LogisticRegression())]), "a pair of a name and a classifier"),
        (SparseRecovery(alpha=0), "alpha"), (SparseRecovery(method="newton"), "method"),
        (SparseRecovery(n_steps=0), "n_steps")])
def test_parameters(model, message):
    X, y = example()
    with pytest.raises(ValueError, match=message):
        model.fit(X, np.zeros((12, 4)) if isinstance(model, SparseRecovery) else y)


def test_measurements():
    X, _ = example()
    with pytest.raises(ValueError, match="one number for each row"):
        SparseRecovery().fit(X, np.zeros((12, 5)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SparseRecovery().fit(X, np.zeros((11, 4)))
    with pytest.raises(ValueError, match="mask goes with"):
        SparseRecovery().fit(X[0], np.zeros(4), mask=np.ones(4))
    with pytest.raises(ValueError, match="mask goes with"):
        SparseRecovery().fit(X[0], np.ones(4)).predict(X[0], mask=np.ones(4))
    with pytest.raises(TypeError, match="Expected sequence or array-like"):
        SparseRecovery().fit(X, 5)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogMeanExpClassifier(max_iter=0), "max_iter = 0 must be a whole number of at least 1"),
        (LogMeanExpClassifier(sharpness="soft"), "sharpness = 'soft' must be a number above 0"),
        (LogMeanExpClassifier(ridges="few"), "ridges = 'few' must be a number above 0"),
        (AttentionClassifier(n_heads=1.5), "n_heads = 1.5 must be a whole number"),
        (AttentionClassifier(query_ridge_ratio=-1), "query_ridge_ratio = -1 must be a number of"),
        (AttentionRegressor(n_starts=-2), "n_starts = -2 must be a whole number of at least 0"),
        (TwoStepAttentionClassifier(sharpness=()), "sharpness = .* must be a number of at least 0"),
        (TwoStepAttentionClassifier(sharpness=(-1,)), "sharpness = "),
        (GroupAttentionClassifier(n_starts="all"), "n_starts = 'all' must be a whole number"),
        (PatchAssociationClassifier(n_sets=2.5), "n_sets = 2.5 must be a whole number"),
        (BagClassifierCV([("own", LogMeanExpClassifier(max_iter=0))]), "max_iter = 0")])
def test_parameters_of_another_kind(model, message):
    X, y = example()
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_weights_and_marks_that_make_no_sense():
    X, y = example()
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        AttentionRegressor().fit(X, y, sample_weight=-np.ones(12))
    model = LogMeanExpClassifier(ridges=0.1).fit(X, y)
    mask = np.ones((12, 4), bool)
    for where in (np.zeros(12, int), np.ones((11, 4)), np.ones((12, 3)), np.ones((12, 4, 1))):
        for given in (None, mask):
            with pytest.raises(ValueError, match="where must hold one entry for each token"):
                model.localisation_score(X, where, given)
    with pytest.raises(ValueError, match="offsets must not fall"):
        Bags(X.reshape(48, 3), [0, 30, 20, 48])
