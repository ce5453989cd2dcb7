"""What a fit must be, said by somebody else: scikit-learn's optimum, formulas, chosen settings."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from saccade.estimators import (
    AttentionClassifier,
    AttentionRegressor,
    BagClassifierCV,
    EvidenceClassifier,
    LogMeanExpClassifier,
    PooledClassifier,
    TwoStepAttentionClassifier,
    make_single_location_bags,
    make_sparse_token_bags,
)
from saccade.estimators.bags import Bags
from saccade.estimators.heads import Softmax
from saccade.estimators.objective import Data, Objective
from saccade.estimators.standard import Standard, pooled
from saccade.estimators.two_step import first_query

SMALL = {"n_bags": 120, "n_tokens": 8, "n_features": 4, "signal": 4.0}


def test_pooled_is_scikit_learn_on_the_standardised_mean():
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=3)
    X = X * [1, 10, 0.1, 1] + [0, 5, 0, -2]
    ours = PooledClassifier(ridges=0.02, class_weight=None).fit(X, y)
    means = X.mean(axis=1)
    features = (means - means.mean(0)) / means.std(0)
    theirs = LogisticRegression(C=1 / (0.02 * len(y)), tol=1e-10, max_iter=1000).fit(features, y)
    expected = theirs.decision_function(features)
    assert np.abs(ours.decision_function(X) - expected).max() < 1e-4


def test_balanced_shares_are_scikit_learn_s_balanced_weights():
    X, y, _ = make_sparse_token_bags(**SMALL, positive_rate=0.2, random_state=4)
    ours = PooledClassifier(ridges=0.05).fit(X, y)
    means = X.mean(axis=1)
    features = (means - means.mean(0)) / means.std(0)
    theirs = LogisticRegression(
        C=1 / (0.05 * len(y)), class_weight="balanced", tol=1e-10, max_iter=1000).fit(features, y)
    assert np.abs(ours.decision_function(X) - theirs.decision_function(features)).max() < 1e-4


def test_four_statistics_are_numpy_s():
    bags = Bags.from_list([np.random.default_rng(0).standard_normal((n, 2)) for n in (3, 1, 5)])
    table = pooled(bags, Standard(np.zeros(2), np.ones(2)), "all")
    for row, bag in zip(table, bags):
        expected = [bag.mean(0), bag.max(0), bag.min(0), bag.std(0)]
        assert np.allclose(row, np.concatenate(expected), atol=1e-12)


def test_the_first_query_is_the_paper_s_formula():
    """q = sum_i -h_i X_i^T (I - 11^T/L) X_i w_1/L, with w_1 and b_1 after one step."""
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=5)
    T = (X - X.mean((0, 1))) / X.std((0, 1))
    sign, share = 2.0 * y - 1, np.full(len(y), 1 / len(y))
    w = (share * sign / 2) @ T.mean(axis=1)
    b = (share * sign / 2).sum()
    slope = -share * sign / (1 + np.exp(sign * (T.mean(axis=1) @ w + b)))
    centred = T - T.mean(axis=1, keepdims=True)
    query = -np.einsum("i,ilk,ilj,j->k", slope, centred, T, w) / T.shape[1]
    data = Data(Bags.from_array(X), np.ones(len(y)))
    ours = first_query(Objective(data, sign, share, Softmax(1)))
    assert np.abs(ours - query / np.linalg.norm(query)).max() < 1e-10


def test_sharpness_zero_is_mean_pooling_and_says_so():
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=6)
    two = TwoStepAttentionClassifier(sharpness=0, ridges=(0.1, 0.01)).fit(X, y)
    one = PooledClassifier(ridges=(0.1, 0.01)).fit(X, y)
    assert np.abs(two.decision_function(X) - one.decision_function(X)).max() < 1e-4
    assert two.better_than_pooling_ is False
    with pytest.warns(UserWarning, match="not better than pooling"):
        assert np.allclose(two.attention(X), 1 / 8)


@pytest.mark.parametrize(
    "model",
    [
        LogMeanExpClassifier(), AttentionClassifier(n_heads=1), AttentionClassifier(),
        AttentionClassifier(n_heads=1, pooled="all"), TwoStepAttentionClassifier(),
        EvidenceClassifier(n_starts=4), BagClassifierCV()],
    ids=lambda m: str(m)[:40])
def test_one_token_in_eight_is_found(model):
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=0)
    X_test, y_test, where = make_sparse_token_bags(**SMALL | {"n_bags": 1000}, random_state=1)
    model.fit(X, y)
    assert roc_auc_score(y_test, model.decision_function(X_test)) > 0.94
    assert model.better_than_pooling_
    assert model.localisation_score(X_test, where).hit.value > 0.85


def test_chosen_ridge_has_the_smallest_held_out_loss():
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=0)
    model = LogMeanExpClassifier(ridges=(10, 0.1, 0.01)).fit(X, y)
    assert model.cv_loss_ == model.cv_losses_.min() and model.chosen_ != [10]
    assert model.cv_losses_[0, 0] > model.cv_losses_.min() + 0.05


def test_one_ridge_needs_no_cross_validation():
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=0)
    model = LogMeanExpClassifier(ridges=0.1).fit(X, y)
    assert np.isnan(model.cv_loss_) and model.better_than_pooling_ is None
    model.attention(X)  # nothing is known against it: no warning


def test_the_choice_is_that_of_the_candidates_alone():
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=0)
    auto = BagClassifierCV(candidates=("mean", "lme", ("one", AttentionClassifier(n_heads=1))))
    auto.fit(X, y)
    alone = LogMeanExpClassifier().fit(X, y)
    assert auto.candidate_losses_["lme"] == pytest.approx(alone.cv_loss_, abs=1e-12)
    assert set(auto.candidate_losses_) == {"mean", "lme", "one"}
    assert auto.best_name_ == min(auto.candidate_losses_, key=auto.candidate_losses_.get)
    same = auto.best_estimator_.decision_function(X) == auto.decision_function(X)
    assert same.all() and np.array_equal(auto.best_estimator_.predict(X), auto.predict(X))
    if auto.best_name_ == "lme":
        assert np.allclose(auto.decision_function(X), alone.decision_function(X), atol=1e-12)


def test_regression_finds_the_token_that_speaks():
    train = make_single_location_bags(300, 6, 8, random_state=0)
    test = make_single_location_bags(500, 6, 8, random_state=1)
    model = AttentionRegressor().fit(train.X, train.y)
    error = np.mean((model.predict(test.X) - test.y) ** 2) / test.y.var()
    assert error < 0.65 and model.score(test.X, test.y) == pytest.approx(1 - error, abs=1e-9)
    assert model.localisation_score(test.X, test.where).hit.value > 0.8
    scaled = AttentionRegressor().fit(train.X, 5 + 100 * train.y)
    assert np.allclose(scaled.predict(test.X), 5 + 100 * model.predict(test.X), rtol=1e-6)


def test_evidence_only_rises_with_tokens():
    """Whatever token is added, the bag does not become less positive."""
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=0)
    model = EvidenceClassifier(n_starts=2, ridges=(0.1, 0.01)).fit(X, y)
    rng = np.random.default_rng(0)
    more = [np.concatenate([bag, 20 * rng.standard_normal((1, 4))]) for bag in X]
    assert (model.decision_function(more) >= model.decision_function(X)).all()


def test_the_positive_class_is_the_one_with_the_evidence():
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=0)
    names = np.where(y == 1, "anomaly", "normal")  # in the alphabet the other way round
    right = LogMeanExpClassifier(positive="anomaly").fit(X, names)
    plain = LogMeanExpClassifier().fit(X, y)
    assert np.allclose(right.decision_function(X), -plain.decision_function(X), atol=1e-12)
    assert (right.predict(X) == np.where(plain.predict(X) == 1, "anomaly", "normal")).all()
    assert right.cv_loss_ < LogMeanExpClassifier().fit(X, names).cv_loss_ - 0.1


def test_three_classes_are_told_from_each_other():
    parts = [make_sparse_token_bags(90, 8, 4, 1, 6.0, 1.0, random_state=s).X for s in range(3)]
    X = np.concatenate([part * sign for part, sign in zip(parts, (1, -1, 0.7))])
    X[180:] = np.random.default_rng(0).standard_normal(X[180:].shape)
    y = np.repeat(["up", "down", "none"], 90)
    model = LogMeanExpClassifier().fit(X, y)
    assert model.classes_.tolist() == ["down", "none", "up"]
    assert model.decision_function(X).shape == (270, 3)
    chances = 1 / (1 + np.exp(-model.decision_function(X)))
    assert np.allclose(model.predict_proba(X), chances / chances.sum(axis=1, keepdims=True))
    far = model.predict_proba(-1e5 * np.abs(X[:1]))  # all three are surely not it, some less surely
    assert np.allclose(far.sum(), 1)
    assert model.score(X, y) > 0.85
    assert np.allclose(model.attention(X).sum(axis=1), 1)


def test_rare_positives_are_ranked_and_called():
    X, y, _ = make_sparse_token_bags(600, 8, 4, 1, 5.0, 0.05, random_state=2)
    X_test, y_test, _ = make_sparse_token_bags(2000, 8, 4, 1, 5.0, 0.5, random_state=3)
    model = LogMeanExpClassifier().fit(X, y)
    assert model.predict(X_test)[y_test == 1].mean() > 0.8
    unweighted = LogMeanExpClassifier(class_weight=None).fit(X, y)
    assert unweighted.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.01)


def test_constant_and_near_constant_columns_change_nothing():
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=0)
    rng = np.random.default_rng(0)
    flat = np.full((*X.shape[:2], 1), 5.0)
    noisy = 3.0 + 1e-9 * rng.standard_normal((*X.shape[:2], 1))
    wide = np.concatenate([X, flat, noisy], axis=2)
    for model in (LogMeanExpClassifier(), PooledClassifier(statistics="all")):
        small, large = (
            model.fit(X, y).decision_function(X), model.fit(wide, y).decision_function(wide))
        assert np.allclose(small, large, atol=1e-8)


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1], [0, 1, 1, 0, 1]])
def test_a_handful_of_bags_is_enough_to_fit(labels):
    X = np.random.default_rng(0).standard_normal((len(labels), 3, 2))
    for model in (
        LogMeanExpClassifier(), AttentionClassifier(), PooledClassifier(), BagClassifierCV(),
    ):
        assert np.isfinite(model.fit(X, labels).decision_function(X)).all()


def test_float32_tokens_stay_float32_and_give_the_same_model():
    X, y, _ = make_sparse_token_bags(**SMALL, random_state=0)
    for model in (LogMeanExpClassifier(ridges=0.03), AttentionClassifier(n_heads=1, ridges=0.03)):
        double = model.fit(X, y).decision_function(X)
        single = model.fit(X.astype(np.float32), y).decision_function(X)
        assert np.abs(double - single).max() < 0.02
