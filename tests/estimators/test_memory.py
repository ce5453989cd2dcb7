"""Memory and storage: what a fit holds beside its tokens, and that nothing is padded."""

import tracemalloc

import numpy as np
import pytest

from saccade.estimators import AttentionClassifier, LogMeanExpClassifier


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # a few iterations are enough to see the memory
@pytest.mark.parametrize("model", [LogMeanExpClassifier(), AttentionClassifier(max_iter=5)])
@pytest.mark.parametrize("ragged", [False, True])
def test_tokens_and_all_that_is_made_of_them_fit_into_twice_the_tokens(model, ragged):
    """A fold is copied (two thirds), the rest works in blocks; a list is first laid out flat."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4000, 50, 32)), np.arange(4000) % 2
    X[y == 1, 0] += 0.5
    given = [bag[: 50 - 20 * (index % 2)] for index, bag in enumerate(X)] if ragged else X
    tokens = sum(bag.nbytes for bag in given)
    tracemalloc.start()
    try:
        model.set_params(ridges=(0.1, 0.01)).fit(given, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (2 if ragged else 1) * tokens


def test_one_long_bag_does_not_lengthen_the_others():
    """300 tokens in all: a table padded to the longest bag would hold 20,100."""
    rng = np.random.default_rng(0)
    lengths = [201, *[1] * 99]
    bags = [rng.standard_normal((length, 3)) for length in lengths]
    read = LogMeanExpClassifier()._read(bags, reset=True)
    assert read.tokens.shape == (300, 3)
