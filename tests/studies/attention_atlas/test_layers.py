"""The functions that learners of the map minimise: gradients by differences, and the same values as
saccade's estimators, which are written for bags."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from saccade.estimators.bags import Bags
from saccade.estimators.group import GroupObjective
from saccade.estimators.heads import LogMeanExp
from saccade.estimators.heads import Softmax as SoftmaxHead
from saccade.estimators.held_out import Target
from saccade.estimators.objective import Data as BagData
from saccade.estimators.objective import Objective
from saccade.studies.attention_atlas.learners.erf import Erf
from saccade.studies.attention_atlas.models import LOSSES, RIDGES, Data, Descended, scaled
from saccade.studies.attention_atlas.models.heads import Heads, Tied, Tokens
from saccade.studies.attention_atlas.models.places import RATIO, Places

KINDS = ("regression", "classification")


def data(kind, ragged=False, n=14, length=5, dim=3) -> Data:
    random = np.random.default_rng(3)
    X, y = 1 + 2 * random.standard_normal((n, length, dim)), random.standard_normal(n)
    mask = np.arange(length) < random.integers(2, length + 1, n)[:, None] if ragged else None
    X = X if mask is None else np.where(mask[:, :, None], X, 0.0)
    return Data(X, y if kind == "regression" else np.sign(y), kind, 0, mask)


LAYERS = {
    "one head": lambda d: Heads(d, 1, False), "two heads": lambda d: Heads(d, 2, False),
    "with places": lambda d: Heads(d, 2, True), "erf": Erf,
    "tied": lambda d: Tied(Tokens(d, True), d), "places": Places}
SIZES = {"one head": 7, "two heads": 13, "with places": 33, "erf": 7, "tied": 9, "places": 9}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_those_of_differences(name, kind):
    layer = LAYERS[name](data(kind, ragged=name in ("one head", "two heads", "erf")))
    theta = np.random.default_rng(5).standard_normal(SIZES[name])
    slope = approx_fprime(theta, lambda point: layer(point, 0.07)[0], 1e-7)
    assert np.allclose(layer(theta, 0.07)[1], slope, atol=2e-5)


def bags_of(given: Data, places: bool) -> Bags:
    """The samples as the estimators take them, one-hot codes of places written out."""
    n, length, _ = given.X.shape
    codes = np.broadcast_to(np.eye(length), (n, length, length))
    X = np.concatenate([given.X, codes], axis=2) if places else given.X
    return Bags.from_array(X, given.mask)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("places", "ragged"), [(False, False), (False, True), (True, False)])
def test_attention_is_that_of_the_estimator(kind, places, ragged):
    given = data(kind, ragged)
    bags, y = bags_of(given, places), scaled(given)[0]
    shared = BagData(bags, np.ones(len(y))), y, np.full(len(y), 1 / len(y))
    theirs = Objective(*shared, SoftmaxHead(2), loss=LOSSES[kind])
    ours, theta = Heads(given, 2, places), np.random.default_rng(6).standard_normal(theirs.size)
    assert ours(theta, 0.03)[0] == pytest.approx(theirs(theta, 0.03)[0], rel=1e-10)
    tied = Objective(*shared, LogMeanExp(), loss=LOSSES[kind])
    short = theta[: tied.size]
    assert Tied(ours.tokens, given)(short, 0.03)[0] == pytest.approx(
        tied(short, 0.03)[0], rel=1e-10)
    _, level, spread = scaled(given)
    decided = level + spread * theirs.model(theta).decision(bags)
    model = ours.model(theta)
    assert np.allclose(model(given.X, given.mask), decided)
    whole = model.attention(given.X, given.mask)
    flat = whole.ravel() if given.mask is None else whole[given.mask]
    assert np.allclose(flat, theirs.model(theta).attention(bags))


@pytest.mark.parametrize("kind", KINDS)
def test_attention_by_place_is_that_of_the_estimator(kind):
    given = data(kind)
    bags, y = bags_of(given, False), scaled(given)[0]
    target = Target(y, np.full(len(y), 1 / len(y)))
    theirs = GroupObjective(BagData(bags, np.ones(len(y))), target, 5, RATIO, LOSSES[kind])
    ours, theta = Places(given), np.random.default_rng(7).standard_normal(9)
    assert ours(theta, 0.03)[0] == pytest.approx(theirs(theta, 0.03)[0], rel=1e-10)
    for mine, other in zip(ours.starts(), theirs.starts(2), strict=True):
        assert np.allclose(mine, other)
    _, level, spread = scaled(given)
    model = ours.model(theta)
    assert np.allclose(model(given.X), level + spread * theirs.model(theta).decision(bags))


def test_a_descent_ends_below_all_its_starts():
    given = data("regression", n=60)
    layer, learner = Heads(given, 1, False), Descended("regression", lambda d: Heads(d, 1, False))
    tried = list(learner.path(given))
    assert len(tried) == len(RIDGES)
    for ridge, one in zip(RIDGES, tried, strict=True):
        assert layer(one.theta, ridge)[0] < min(layer(s, ridge)[0] for s in layer.starts())
