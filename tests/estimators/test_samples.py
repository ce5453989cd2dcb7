"""Bags that are drawn follow the law they say: moments of many, and what decides the label."""

import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.estimators import (
    make_group_bags,
    make_patch_bags,
    make_single_location_bags,
    make_sparse_token_bags,
)


def test_sparse_tokens():
    """The informative tokens lie `signal` along (1, .., 1)/sqrt d, all else is standard normal."""
    X, y, where = make_sparse_token_bags(6000, 5, 4, 2, 3.0, 0.3, random_state=0)
    assert y.mean() == pytest.approx(0.3, abs=0.03)
    assert (where.sum(axis=1) == 2 * y).all()
    assert where[y == 1].mean(axis=0) == pytest.approx(np.full(5, 0.4), abs=0.05)
    along = X.sum(axis=2) / 2
    assert along[where].mean() == pytest.approx(3, abs=0.07)
    assert X[where].var(axis=0) == pytest.approx(np.ones(4), abs=0.1)
    assert np.abs(X[~where].mean(axis=0)).max() < 0.03
    assert X[~where].var(axis=0) == pytest.approx(np.ones(4), abs=0.05)


def test_single_location():
    """The token that speaks is N(sqrt(d/2) k, variance I); y is its second coordinate and noise."""
    X, y, where = make_single_location_bags(8000, 4, 6, variance=0.25, noise=0.3, random_state=1)
    spoken = X[where]
    assert (where.sum(axis=1) == 1).all()
    assert where.mean(axis=0) == pytest.approx(np.full(4, 0.25), abs=0.03)
    assert spoken.mean(axis=0) == pytest.approx(np.sqrt([3, 0, 0, 0, 0, 0]), abs=0.03)
    assert spoken.var(axis=0) == pytest.approx(np.full(6, 0.25), abs=0.02)
    assert X[~where].var() == pytest.approx(1, abs=0.02)
    assert (y - spoken[:, 1]).std() == pytest.approx(0.3, abs=0.02)


def test_groups():
    axis = np.array([1.0, -2.0, 0.5])
    X, y, where = make_group_bags(50, 4, 3, group=2, direction=axis, random_state=2)
    assert (y == (X[:, 2] @ axis > 0)).all() and (where == [False, False, True, False]).all()
    plain = make_group_bags(50, 4, 3, group=1, random_state=2)
    assert (plain.y == (plain.X[:, 1, 0] > 0)).all()


def test_patches():
    """One set carries y w whole; elsewhere a patch is +w or -w with chance clutter/2 each."""
    sets = np.array([0, 1, 0, 1, 2, 2])
    X, y, where = make_patch_bags(4000, sets, 5, clutter=0.4, random_state=3)
    assert set(y) == {-1, 1} and (where.sum(axis=1) == 2).all()
    assert all(len(set(sets[row])) == 1 for row in where[:50])
    assert (X[where][:, 0] == np.repeat(y, 2)).all()
    rest = X[~where][:, 0]
    chances = [np.mean(rest == value) for value in (-1, 0, 1)]
    assert chances == pytest.approx([0.2, 0.6, 0.2], abs=0.02)
    assert X[:, :, 1:].var() == pytest.approx(1 / 5, abs=0.01)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (make_sparse_token_bags, {"n_bags": -3}), (make_sparse_token_bags, {"n_tokens": 0}),
        (make_sparse_token_bags, {"n_features": 2.5}), (make_sparse_token_bags, {"signal": np.nan}),
        (make_sparse_token_bags, {"n_informative": 31}),
        (make_sparse_token_bags, {"positive_rate": 1.5}),
        (make_sparse_token_bags, {"random_state": "a"}),
        (make_single_location_bags, {"variance": -1.0}),
        (make_single_location_bags, {"noise": "a"}), (make_single_location_bags, {"n_features": 1}),
        (make_group_bags, {"group": 16}), (make_group_bags, {"direction": [1.0]}),
        (make_patch_bags, {"clutter": 2.0}), (make_patch_bags, {"partition": []})])
def test_what_cannot_be_drawn_is_refused_by_name(make, wrong):
    [name] = wrong
    with pytest.raises(InvalidInput, match=rf"^{name} = .* must .*\.$"):
        make(**wrong)
