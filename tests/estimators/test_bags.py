"""Bags: flat storage, the ways in, and what is refused."""

import numpy as np
import pytest

from saccade.estimators import Bags, from_long, from_series, transpose


def ragged(rng=None):
    rng = rng or np.random.default_rng(0)
    return [rng.standard_normal((length, 3)) for length in (2, 5, 1, 4)]


def test_bags_give_back_what_they_hold():
    arrays = ragged()
    bags = Bags.from_list(arrays)
    assert len(bags) == 4 and bags.tokens.shape == (12, 3)
    assert all((one == other).all() for one, other in zip(bags, arrays))
    chosen = bags[[3, 0, 3]]
    assert [len(one) for one in chosen] == [4, 2, 4] and (chosen[2] == arrays[3]).all()
    assert (bags[1:3][0] == arrays[1]).all() and (bags[-1] == arrays[3]).all()
    assert (bags[np.array([True, False, False, True])][1] == arrays[3]).all()


def test_an_array_is_read_without_a_copy():
    X = np.random.default_rng(0).standard_normal((4, 5, 3))
    assert np.shares_memory(Bags.from_array(X).tokens, X)


def test_masked_tokens_are_left_out_and_places_are_kept():
    X = np.arange(24.0).reshape(2, 4, 3)
    mask = np.array([[True, False, True, False], [False, False, False, True]])
    bags = Bags.from_array(X, mask)
    assert bags.places.tolist() == [0, 2, 3]
    assert (bags[0] == X[0, [0, 2]]).all() and (bags.take(np.array([1])).places == [3]).all()
    assert Bags.from_list(ragged()).places.tolist() == [0, 1, 0, 1, 2, 3, 4, 0, 0, 1, 2, 3]


def test_a_masked_list_is_read_like_its_kept_tokens():
    arrays = ragged()
    masks = [np.arange(len(one)) != 1 for one in arrays]
    bags = Bags.from_list(arrays, masks)
    assert all((one == array[keep]).all() for one, array, keep in zip(bags, arrays, masks))


def test_series_are_turned():
    X = np.random.default_rng(0).standard_normal((4, 2, 7))
    assert (from_series(X)[1] == X[1].T).all()
    assert (from_series([X[0], X[1][:, :3]])[1] == X[1][:, :3].T).all()
    assert transpose(X).shape == (4, 7, 2) and (transpose(list(X))[2] == X[2].T).all()
    with pytest.raises(ValueError, match="Expected 3D array"):
        transpose(X[0])


def test_a_long_table_is_read():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({
        "id": ["b", "a", "b", "a", "c"], "ill": [1, 0, 1, 0, 1], "u": [1.0, 2, 3, 4, 5],
        "v": [5.0, 4, 3, 2, 1]})
    bags, y, ids = from_long(table, bag="id", label="ill")
    assert ids.tolist() == ["b", "a", "c"] and y.tolist() == [1, 0, 1]
    assert bags[0].tolist() == [[1, 5], [3, 3]] and bags[2].tolist() == [[5, 1]]
    assert from_long(table, bag="id", features=["v"])[0][1].tolist() == [[4], [2]]
    with pytest.raises(ValueError, match="no column 'who'"):
        from_long(table, bag="who")
    table.loc[2, "ill"] = 0
    with pytest.raises(ValueError, match="differs between tokens of one bag"):
        from_long(table, bag="id", label="ill")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bags(np.zeros((3, 2)), [0, 2]), "do not sum"),
        (lambda: Bags.from_lengths(np.zeros((3, 2)), [2, 2]), "do not sum"),
        (lambda: Bags(np.zeros((3, 2)), [0, 2, 2, 3]), "bag 1 with 0 token"),
        (lambda: Bags(np.zeros((3, 2)), [0.0, 3.0]), "whole numbers"),
        (lambda: Bags(np.zeros(3), [0, 3]), "Expected 2D array"),
        (lambda: Bags.from_list([np.zeros((2, 3)), np.zeros((0, 3))]), "bag 1 with 0 token"),
        (lambda: Bags.from_list([np.zeros((2, 3)), np.zeros((2, 4))]), "same number of features"),
        (lambda: Bags.from_array(np.zeros((2, 3))), "Expected 3D array"),
        (lambda: Bags.from_array(np.zeros((2, 0, 3))), "0 token"),
        (lambda: Bags.from_array(np.zeros((2, 2, 3)), np.ones((2, 3), bool)), "shape"),
        (lambda: Bags.from_array(np.zeros((2, 2, 3)), np.full((2, 2), 0.5)), "True and False"),
        (
            lambda: Bags.from_array(np.zeros((2, 2, 3)), [[True, True], [False, False]]),
            "hides every token of bag 1")])
def test_what_is_no_bag_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
