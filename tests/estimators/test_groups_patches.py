"""Fixed places: the group that decides, its transfer, and the patches that belong together."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score

from saccade.estimators import (
    GroupAttentionClassifier,
    PatchAssociationClassifier,
    PooledClassifier,
    make_group_bags,
    make_patch_bags,
)
from saccade.estimators.patches import partition


def error(model, sample):
    return np.mean(model.predict(sample.X) != sample.y)


def test_the_group_that_decides_is_found():
    found = []
    for seed in range(4):
        model = GroupAttentionClassifier().fit(*make_group_bags(96, group=5, random_state=seed)[:2])
        found.append(model.group_scores_.argmax())
        assert model.group_scores_.sum() == pytest.approx(1) and model.group_scores_.max() > 0.8
        assert model.better_than_pooling_
    assert found == [5] * 4


def test_attention_is_the_scores_of_the_groups_that_are_there():
    sample = make_group_bags(60, n_groups=4, n_features=3, group=1, random_state=0)
    model = GroupAttentionClassifier(ridges=0.1).fit(sample.X, sample.y)
    assert np.allclose(model.attention(sample.X), model.group_scores_)
    mask = np.ones((60, 4), bool)
    mask[0, 1] = False
    rest = model.group_scores_ * [1, 0, 1, 1]
    assert np.allclose(model.attention(sample.X, mask)[0], rest / rest.sum())


def test_a_new_task_on_the_same_group_needs_few_bags():
    model = GroupAttentionClassifier().fit(*make_group_bags(300, group=5, random_state=0)[:2])
    scores = model.group_scores_
    axis = np.random.default_rng(0).standard_normal(8)
    few = make_group_bags(40, group=5, direction=axis, random_state=1)
    test = make_group_bags(3000, group=5, direction=axis, random_state=2)
    old = error(model, test)
    tuned = error(model.fine_tune(few.X, few.y), test)
    assert np.array_equal(model.group_scores_, scores)
    flat = LogisticRegression().fit(few.X.reshape(40, -1), few.y)
    from_scratch = np.mean(flat.predict(test.X.reshape(3000, -1)) != test.y)
    assert tuned < 0.15 and tuned < from_scratch - 0.15 and tuned < old
    freed = model.fine_tune(few.X, few.y, freeze=False)
    assert not np.array_equal(freed.group_scores_, scores) and error(freed, test) < 0.2


def test_patches_that_belong_together_are_found_wherever_they_lie():
    rng = np.random.default_rng(0)
    sets = rng.permutation(np.repeat(np.arange(4), 4))
    train, test = (make_patch_bags(n, sets, random_state=n) for n in (400, 4000))
    model = PatchAssociationClassifier().fit(train.X, train.y)
    assert adjusted_rand_score(sets, model.partition_) == 1
    assert model.partition_[0] == 0 and np.allclose(model.association_.sum(axis=1), 1)
    same = sets[:, None] == sets
    assert model.association_[same].min() > model.association_[~same].max()
    assert error(model, test) < 0.01
    assert error(PooledClassifier().fit(train.X, train.y), test) > 0.015


def test_the_number_of_sets_can_be_told():
    train = make_patch_bags(300, random_state=1)
    model = PatchAssociationClassifier(n_sets=2, ridges=0.1).fit(train.X, train.y)
    assert set(model.partition_) == {0, 1}


def test_partition_reads_a_block_matrix():
    sets = np.array([0, 1, 2, 0, 1, 2, 2])
    noise = 0.1 * np.random.default_rng(0).standard_normal((7, 7))
    assert (partition((sets[:, None] == sets) + noise) == sets).all()
    assert (partition(np.zeros((1, 1))) == [0]).all() and (partition(np.eye(2)) == [0, 1]).all()


def test_masked_patches_do_not_speak():
    train = make_patch_bags(200, random_state=1)
    mask = np.random.default_rng(0).random(train.where.shape) < 0.9
    mask[:, 0] = True
    X = np.where(mask[:, :, None], train.X, np.nan)
    model = PatchAssociationClassifier(ridges=0.1).fit(X, train.y, mask=mask)
    other = np.where(mask[:, :, None], train.X, 99.0)
    assert (model.decision_function(X, mask) == model.decision_function(other, mask)).all()
