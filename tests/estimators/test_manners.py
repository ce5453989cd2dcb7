"""scikit-learn's manners: its own checks, clones, pipelines, searches, and a light import."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from saccade import estimators
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
    make_sparse_token_bags,
)

CLASSES = (
    PooledClassifier, LogMeanExpClassifier, AttentionClassifier, AttentionRegressor,
    EvidenceClassifier, TwoStepAttentionClassifier, BagClassifierCV, GroupAttentionClassifier,
    PatchAssociationClassifier, SparseRecovery)


@pytest.mark.filterwarnings("ignore")  # the checks fit what cannot be fitted well
@parametrize_with_checks([
    PooledClassifier(), LogMeanExpClassifier(), TwoStepAttentionClassifier(),
    AttentionClassifier(), AttentionRegressor(), GroupAttentionClassifier(), SparseRecovery()])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([
    BagClassifierCV(), PatchAssociationClassifier(),
    EvidenceClassifier(ridges=(0.1, 0.01), n_starts=4, n_prototypes=1, keep=1)])
def test_scikit_learn_s_checks_of_the_dear_ones(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", CLASSES)
def test_parameters_are_only_stored(kind):
    model = kind()
    assert clone(model).get_params() == model.get_params()
    assert vars(model) == model.get_params(deep=False)
    tags = model.__sklearn_tags__().input_tags
    assert tags.two_d_array and tags.three_d_array


def test_the_import_needs_no_jax():
    code = (
        "import sys, saccade.estimators as e\ne.LogMeanExpClassifier().fit([[[1., 2]], [[2., 1]]],"
        " [0, 1])\nprint({'jax', 'torch', 'matplotlib', 'xarray'} & set(sys.modules))")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "set()"


def example():
    return make_sparse_token_bags(90, 6, 3, signal=4.0, random_state=0)


def test_cross_validation_takes_every_form_of_bags():
    X, y, _ = example()
    model = LogMeanExpClassifier(ridges=0.03)
    scores = cross_val_score(model, X, y, scoring="roc_auc")
    assert scores.mean() > 0.85
    assert (cross_val_score(model, list(X), y, scoring="roc_auc") == scores).all()
    assert (cross_val_score(model, Bags.from_array(X), y, scoring="roc_auc") == scores).all()
    flat = cross_val_score(model.set_params(n_tokens=6), X.reshape(90, -1), y, scoring="roc_auc")
    assert (flat == scores).all()


def test_a_pipeline_and_a_search_work():
    X, y, _ = example()
    flat = X.reshape(90, -1)
    pipe = make_pipeline(StandardScaler(), LogMeanExpClassifier(n_tokens=6))
    search = GridSearchCV(
        pipe,
        {"logmeanexpclassifier__ridges": [0.3, 0.03], "logmeanexpclassifier__sharpness": [1, 2]},
        scoring="neg_log_loss").fit(flat, y)
    assert search.best_score_ > -0.5
    bags = make_pipeline(FunctionTransformer(), AttentionClassifier(ridges=0.1, n_heads=1))
    assert bags.fit(X, y).score(X, y) > 0.8


def test_a_table_of_names_is_remembered():
    pandas = pytest.importorskip("pandas")
    X, y, _ = example()
    table = pandas.DataFrame(X.reshape(90, -1), columns=[f"f{k}" for k in range(18)])
    model = PooledClassifier(n_tokens=6).fit(table, y)
    assert model.feature_names_in_.tolist() == list(table.columns)
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_") and model.n_features_in_ == 3


def test_the_same_seed_gives_the_same_model():
    X, y, _ = example()
    model = AttentionClassifier(n_heads=3)
    first = model.fit(X, y).decision_function(X)
    assert (clone(model).fit(X, y).decision_function(X) == first).all()
    other = AttentionClassifier(n_heads=3, random_state=np.random.RandomState(7)).fit(X, y)
    assert (other.decision_function(X) != first).any()


def test_an_unfinished_fit_warns():
    X, y, _ = example()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        LogMeanExpClassifier(max_iter=1, ridges=0.003).fit(X, y)
    model = LogMeanExpClassifier(ridges=0.003).fit(X, y)
    assert 1 < model.n_iter_[0] < model.max_iter


def test_own_folds_are_taken():
    X, y, _ = example()
    folds = [(np.arange(0, 60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
    model = LogMeanExpClassifier(cv=folds).fit(X, y)
    assert np.isfinite(model.cv_losses_).all()


def test_everything_public_is_there():
    assert all(hasattr(estimators, kind.__name__) for kind in CLASSES)
