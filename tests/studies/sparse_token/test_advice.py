"""What the theory forecasts for somebody's bags, against estimators fitted to such bags."""

import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.estimators import PooledClassifier
from saccade.lab.adviser import Facts
from saccade.lab.registry import advisers
from saccade.studies.sparse_token.advice import ADVISER, forecast, overtakes


def test_it_is_found():
    assert ADVISER in advisers("sparse-token") and ADVISER.study == "sparse-token"


@pytest.mark.slow
def test_pooling_errs_as_forecast():
    """Balanced error of `PooledClassifier` on drawn bags, which shares no code with the equations:
    even classes, and one in four (where the forecast is heuristic)."""
    for rate, allowed in ((0.5, 0.02), (0.25, 0.03)):
        facts = Facts(300, 10, 40, 3.0, 2, rate)
        told = forecast(facts)
        errors = [_pooling_error(facts, seed) for seed in range(12)]
        assert np.mean(errors) == pytest.approx(told.errors["mean"][told.here], abs=allowed)
        assert min(told.errors["attention"]) > told.smallest


def _pooling_error(facts: Facts, seed: int) -> float:
    random = np.random.default_rng(seed)

    def draw(n):
        y = random.random(n) < facts.positive_rate
        X = random.standard_normal((n, facts.length, facts.dim))
        X[y, : facts.informative, 0] += facts.signal
        return X, y

    model = PooledClassifier().fit(*draw(facts.n))
    X, y = draw(4000)
    wrong = model.predict(X) != y
    return float((wrong[y].mean() + wrong[~y].mean()) / 2)


def test_where_one_overtakes_the_other():
    n = [10.0, 20.0, 40.0, 80.0]
    errors = {"a": [0.4, 0.3, 0.1, 0.1], "b": [0.3, 0.25, 0.2, 0.2]}
    change = overtakes(n, errors, "a", "b")
    # the gap goes from -.05 at 20 to .1 at 40: a third of the way in log n
    assert change.n == pytest.approx(20 * 2 ** (1 / 3))
    assert overtakes(n, errors, "b", "a").n is None
    assert overtakes(n, {"a": [0.1] * 4, "b": [0.2] * 4}, "a", "b").n == 10


def test_too_few_bags_are_refused():
    with pytest.raises(InvalidInput, match=r"n = 20 is fewer than 0.5 bags a dimension"):
        forecast(Facts(20, 5, 100, 2.0, 1, 0.5))
