"""Places that are not equally likely: the uniform law and a certain place as limits, one large
draw, and refusals."""

import numpy as np
import pytest
from scipy.special import ndtr

from saccade.errors import InvalidInput
from saccade.studies.sparse_token.task import SparseTokenSetting as Setting
from saccade.studies.sparse_token.theory import fit, fit_at_places

SETTING = Setting(4, 1, 0.4, 3.0)
UNEVEN = [0.7, 0.1, 0.1, 0.1]


@pytest.mark.parametrize("loss", ["logistic", "square"])
@pytest.mark.parametrize(("alpha", "ridge"), [(8.0, 1e-2), (0.5, 1e-6), (20.0, 1e-6), (1.0, 1.0)])
def test_equally_likely_places_give_the_exchangeable_answer(loss, alpha, ridge):
    """Two solvers, one overlap against four: they must agree to the accuracy of both
    quadratures."""
    known = fit(SETTING, "vectorised", alpha, ridge, loss)
    made = fit_at_places(SETTING, np.eye(4), None, alpha, ridge, loss)
    assert made.status == "converged"
    for name in ("b", "w_norm", "train_loss", "train_error", "test_error"):
        assert getattr(made, name) == pytest.approx(getattr(known, name), abs=1e-8)
    assert made.token_signal.sum() / 2 == pytest.approx(known.w_signal, abs=1e-8)


def test_several_informative_tokens_over_all_subsets():
    masks = [[i in pair for i in range(3)] for pair in ((0, 1), (0, 2), (1, 2))]
    setting = Setting(3, 2, 0.5, 2.0)
    made, known = (
        fit_at_places(setting, masks, None, 5.0, 0.01), fit(setting, "vectorised", 5.0, 0.01))
    assert made.test_error == pytest.approx(known.test_error, abs=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_a_certain_place_leaves_one_useful_token(loss):
    """With L-fold samples the best error is that of one token in plain sight: Phi(-theta/2) at
    balanced labels."""
    setting = Setting(4, 1, 0.5, 3.0)
    made = fit_at_places(setting, [[1, 0, 0, 0]], None, 4e5, 1e-9, loss)
    assert made.test_error == pytest.approx(ndtr(-1.5), abs=1e-4)
    assert np.abs(made.token_signal[1:]).max() < 1e-9 < made.token_signal[0]


def test_square_fit_matches_one_large_draw():
    """n = 4800 samples of 4 tokens in dimension 300: overlaps fluctuate by 1/sqrt(n) = 0.015 in
    all, four of that."""
    rng = np.random.default_rng(8)
    dim, alpha, ridge = 300, 16.0, 0.05
    n = int(alpha * dim)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X = rng.normal(size=(n, 4, dim))
    X[np.arange(n), rng.choice(4, n, p=UNEVEN), 0] += 3.0 * (y > 0)
    F = X.reshape(n, -1)
    centred = F - F.mean(0)
    w = np.linalg.solve(
        centred.T @ centred / n + ridge * np.eye(4 * dim), centred.T @ (y - y.mean()) / n)
    made = fit_at_places(SETTING, np.eye(4), UNEVEN, alpha, ridge, "square")
    np.testing.assert_allclose(w.reshape(4, dim)[:, 0], made.token_signal, atol=0.06)
    assert made.w_norm == pytest.approx(np.linalg.norm(w), rel=0.04)
    residual = y - (centred @ w + y.mean())
    assert made.train_loss == pytest.approx(np.mean(residual**2) / 2, rel=0.06)


def test_likelier_places_weigh_more_and_help():
    even, uneven = (fit_at_places(SETTING, np.eye(4), law, 8.0, 1e-2) for law in (None, UNEVEN))
    assert uneven.test_error < even.test_error - 0.02
    assert uneven.token_signal[0] > 2 * uneven.token_signal[1:].max()


def test_refusals():
    for masks, chances, word in (
        (np.eye(3), None, "location_masks"), (np.ones((1, 4)), None, "location_masks"),
        (np.eye(4), [0.5, 0.5, 0.5, 0.5], "location_probabilities"),
    ):
        with pytest.raises(InvalidInput, match=word):
            fit_at_places(SETTING, masks, chances, 1.0, 0.1)
    with pytest.raises(InvalidInput, match="ridge"):
        fit_at_places(SETTING, np.eye(4), None, 1.0, -0.1)
    with pytest.raises(InvalidInput, match="loss"):
        fit_at_places(SETTING, np.eye(4), None, 1.0, 0.1, "hinge")
