"""Where a model looks: shapes, the mark "not better than pooling", scores against brute force, a
picture."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import norm, t

from saccade.estimators import (
    AttentionClassifier,
    BagClassifierCV,
    Bags,
    EvidenceClassifier,
    GroupAttentionClassifier,
    LogMeanExpClassifier,
    PatchAssociationClassifier,
    PooledClassifier,
    TwoStepAttentionClassifier,
    localisation,
    make_sparse_token_bags,
    plot_attention,
)

LOOKING = [
    LogMeanExpClassifier(ridges=0.03), AttentionClassifier(ridges=0.03),
    EvidenceClassifier(ridges=0.3, n_starts=1, sharpness=1.0), BagClassifierCV(candidates=("lme",)),
    TwoStepAttentionClassifier(sharpness=2, ridges=0.1), GroupAttentionClassifier(ridges=0.1),
    PatchAssociationClassifier(ridges=(0.1,), n_sets=2)]


@pytest.mark.parametrize("model", LOOKING, ids=lambda m: type(m).__name__)
@pytest.mark.filterwarnings("ignore:.*not better than pooling")
def test_weights_sum_to_one_and_leave_out_what_is_masked(model):
    X, y, _ = make_sparse_token_bags(60, 5, 3, signal=4.0, random_state=0)
    mask = np.random.default_rng(0).random((60, 5)) < 0.7
    mask[:, 0] = True
    X[~mask] = np.nan
    weights = model.fit(X, y, mask=mask).attention(X, mask)
    assert weights.shape == (60, 5) and (weights[~mask] == 0).all() and (weights >= 0).all()
    assert np.allclose(weights.sum(axis=1), 1, atol=1e-12)
    whole = np.nan_to_num(X)
    listed = model.attention(list(whole))
    assert isinstance(listed, list) and np.allclose(np.stack(listed), model.attention(whole))
    assert [len(one) for one in model.attention(Bags.from_list([X[0][mask[0]], X[1][:1]]))] == [
        mask[0].sum(), 1]
    flat = model.set_params(n_tokens=5).attention(whole.reshape(60, -1))
    model.set_params(n_tokens=1)
    assert np.allclose(flat, np.stack(listed))


def test_masked_lists_keep_their_length():
    X, y, _ = make_sparse_token_bags(60, 5, 3, signal=4.0, random_state=0)
    model = LogMeanExpClassifier(ridges=0.03).fit(X, y)
    masks = [np.arange(5) != index % 5 for index in range(60)]
    weights = model.attention(list(X), masks)
    assert np.allclose(np.stack(weights), model.attention(X, np.stack(masks)))


def test_noise_is_marked_as_not_better_than_pooling():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 6, 4)), np.arange(80) % 2
    for model in (LogMeanExpClassifier(), AttentionClassifier(n_heads=1), BagClassifierCV()):
        model.fit(X, y)
        assert model.better_than_pooling_ is False
        with pytest.warns(UserWarning, match="not better than pooling"):
            assert np.allclose(model.attention(X).sum(axis=1), 1)


def test_noise_is_rarely_called_better():
    """The paired difference must exceed two standard errors: about one in forty by chance."""
    called = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        model = LogMeanExpClassifier().fit(rng.standard_normal((60, 5, 3)), np.arange(60) % 2)
        called.append(model.better_than_pooling_)
    assert sum(called) <= 4  # the chance of more is 1 in 300 at one in forty


def test_pooling_does_not_look():
    assert not hasattr(PooledClassifier(), "attention")


def test_localisation_is_counting():
    rng = np.random.default_rng(1)
    weights = [rng.integers(0, 4, n).astype(float) for n in (4, 6, 3, 5, 2)]
    where = [rng.random(len(one)) < 0.5 for one in weights]
    where[3][:] = False  # a bag that cannot be judged
    areas, hits = [], []
    for own, marks in zip(weights, where):
        if 0 < marks.sum() < len(marks):
            pairs = [(a > b) + (a == b) / 2 for a in own[marks] for b in own[~marks]]
            areas.append(np.mean(pairs))
            hits.append(marks[own == own.max()].mean())
    score = localisation(weights, where)
    assert score.auroc.value == pytest.approx(np.mean(areas))
    assert score.hit.value == pytest.approx(np.mean(hits)) and score.bags == len(areas)
    with pytest.raises(ValueError, match="no bag"):
        localisation([np.ones(3)], [np.zeros(3)])


def test_the_best_direction_scores_as_theory_says():
    """Scores N(theta, 1) against N(0, 1): AUROC = Phi(theta/sqrt 2), inside its interval."""
    X, _, where = make_sparse_token_bags(4000, 12, 4, signal=2.0, random_state=5)
    score = localisation(X.sum(axis=2), where)
    exact = norm.cdf(2 / np.sqrt(2))
    assert abs(score.auroc.value - exact) < 4 * (score.auroc.high - score.auroc.low) / 3.92
    assert score.chance == pytest.approx(1 / 12)


def test_intervals_are_student_s():
    """Mean and two-sided 95 % interval over bags, as scipy has them."""
    weights, where = (
        np.array([[3, 1, 2], [1, 3, 2], [2, 3, 1], [3, 2, 1]]) / 6, np.eye(3, dtype=bool))
    found = localisation(weights, [where[0], where[1], where[2], where[0]])
    hits = np.array([1.0, 1.0, 0.0, 1.0])
    low, high = t.interval(0.95, 3, hits.mean(), hits.std(ddof=1) / 2)
    assert found.hit.value == 0.75 and found.bags == 4
    assert found.hit.low == pytest.approx(max(low, 0)) and found.hit.high == min(high, 1)
    areas = np.array([1.0, 1.0, 0.0, 1.0])
    low = t.interval(0.95, 3, areas.mean(), areas.std(ddof=1) / 2)[0]
    assert found.auroc.low == pytest.approx(max(low, 0))
    many = localisation(np.tile(weights, (30, 1)), np.tile(where[[0, 1, 2, 0]], (30, 1)))
    low, high = t.interval(0.95, 119, 0.75, np.tile(hits, 30).std(ddof=1) / np.sqrt(120))
    assert many.hit[1:] == pytest.approx((low, high))


def test_where_must_fit():
    X, y, where = make_sparse_token_bags(60, 5, 3, signal=4.0, random_state=0)
    model = LogMeanExpClassifier(ridges=0.03).fit(X, y)
    with pytest.raises(ValueError, match="one entry for each token"):
        model.localisation_score(X, where[:, :4])


def test_a_picture_is_drawn():
    X, y, where = make_sparse_token_bags(60, 5, 3, signal=4.0, random_state=0)
    model = LogMeanExpClassifier(ridges=0.03).fit(X, y)
    figure = model.plot_attention(X, where=where, bags=[0, 3, 5])
    heights = [bar.get_height() for bar in figure.axes[1].patches]
    assert np.allclose(heights, model.attention(X)[3]) and len(figure.axes) == 3
    assert len(plot_attention(model.attention(list(X))).axes) == 8
    plt.close("all")
