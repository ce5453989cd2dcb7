"""When a model is called better: the paired difference of held-out losses and its error, against
the textbook's formula; and the best setting, against a loop."""

import numpy as np
import pytest

from saccade.estimators.held_out import HeldOut, Target, is_better


def held(losses, share, judged=None):
    """One target; `losses` (settings, bags) of bags that were held out once."""
    losses = np.atleast_2d(losses)
    judged = np.arange(losses.shape[1]) if judged is None else judged
    made = HeldOut([Target(np.ones(losses.shape[1]), share)], len(losses))
    made.add(0, judged, losses[:, judged])
    return made


@pytest.mark.parametrize("n", [5, 12])
def test_better_means_two_standard_errors_of_the_paired_difference(n):
    """With equal shares the error is that of a mean: deviation (n - 1 in the denominator) over root
    n. A difference a shade above two of them is told, a shade below is not."""
    random = np.random.default_rng(n)
    noise = random.standard_normal(n)
    noise -= noise.mean()
    error = noise.std(ddof=1) / np.sqrt(n)
    share, other = np.full(n, 1 / n), random.random(n)
    for factor, told in ((2.02, True), (1.98, False)):
        gain = factor * error + noise
        assert is_better(held(other - gain, share), held(other, share)) is told
    assert is_better(held(other, share), held(other, share)) is False


def test_a_bag_of_weight_two_counts_twice_in_the_difference():
    share = np.array([2, 1, 1, 1, 1]) / 6
    gain = np.array([-1.0, 0.4, 0.45, 0.5, 0.55])
    other = np.ones(5)
    mean = share @ gain
    assert mean < 0 < gain.mean()
    assert held(other - gain, share).loss() == pytest.approx(1 - mean)
    assert is_better(held(other - gain, share), held(other, share)) is False


def test_bags_that_were_not_judged_do_not_count():
    share, judged = np.full(8, 1 / 8), np.arange(6)
    gain = np.array([0.5, 0.6, 0.4, 0.5, 0.55, 0.45, 99.0, -99.0])
    first, second = (held(one, share, judged) for one in (1 - gain, np.ones(8)))
    assert first.loss() == pytest.approx(0.5) and is_better(first, second) is True
    nothing = HeldOut([Target(np.ones(8), share)], 1)
    assert is_better(nothing, second) is None and nothing.best().tolist() == [0]


def test_the_best_setting_is_that_of_a_loop():
    random = np.random.default_rng(0)
    losses, share = random.random((4, 7)), random.random(7)
    share /= share.sum()
    means = [sum(s * loss for s, loss in zip(share, row)) for row in losses]
    made = held(losses, share)
    assert made.best().tolist() == [int(np.argmin(means))]
    assert made.loss() == pytest.approx(min(means))
    assert HeldOut([Target(np.ones(7), share)], 5).best().tolist() == [2]  # the middle one
