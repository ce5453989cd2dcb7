"""From Python: what is of the wrong kind is refused with one sentence that names the parameter and
its value, never with an error from within; NumPy's whole numbers are whole numbers."""

import numpy as np
import pytest

import saccade
from saccade.errors import InvalidInput

X = [0.0, 1.0, 2.0]
DESCENT = "single-location.descent"
ZETA = {"source": "single-location.zeta", "fixed": {"variance": 0.5}}
MASKED = np.ma.array([0.5, 1.0], mask=[False, True])

REFUSED = {
    "name = None": lambda: saccade.describe(None), "name = ['a']": lambda: saccade.describe(["a"]),
    "named 3": lambda: saccade.list(3), "named ['spatial']": lambda: saccade.cite(["spatial"]),
    "name = 5": lambda: saccade.run(5), "name = 4": lambda: saccade.figure(4),
    "claim = ['SL-Z']": lambda: saccade.verify(["SL-Z"]),
    "jobs = '2'": lambda: saccade.verify("SL-Z", jobs="2"),
    "jobs = 1.5": lambda: saccade.sweep(**ZETA, axes={"t": X}, jobs=1.5),
    "cell_timeout = '1'": lambda: saccade.sweep(**ZETA, axes={"t": X}, cell_timeout="1"),
    "source = 5": lambda: saccade.sweep(5),
    "changes = ['dim']": lambda: saccade.run(DESCENT, ["dim"]),
    "changes = 'dim=3'": lambda: saccade.figure("single-location/4a", "dim=3"),
    "store = 5": lambda: saccade.run(DESCENT, store=5),
    "seed = 1.0": lambda: saccade.run(DESCENT, seed=1.0),
    "kappa = [0.5, None]": lambda: saccade.calc(
        "single-location.risk", kappa=MASKED, nu=0.5, dim=80, length=10, inverse_temperature=0.6),
    "ledger = 1": lambda: saccade.compare(1, []),
    "ledger = {'claims': []}": lambda: saccade.compare({"claims": []}, []),
    "rows = 'rows'": lambda: saccade.report("rows"),
    "folder = 5": lambda: saccade.report([{"id": "a.b", "verdict": "holds"}], 5),
    "error = 'x'": lambda: saccade.fit_exponent(X, X, error="x"),
    "level = 'a'": lambda: saccade.locate_threshold(X, [0, 5, 10], 10, level="a"),
    "trials = [10]": lambda: saccade.locate_threshold(X, [0, 5, 10], [10]),
    "measure = 3": lambda: saccade.search_threshold(3, 0, 1),
    "measure(x, n) = 1": lambda: saccade.search_threshold(lambda x, n: [True], 0, 1),
    "low = '0'": lambda: saccade.search_threshold(lambda x, n: [True] * n, "0", 1)}


@pytest.mark.parametrize("words", REFUSED)
def test_the_wrong_kind_is_named(words, fresh_store):
    with pytest.raises(InvalidInput) as refusal:
        REFUSED[words]()
    said = str(refusal.value)
    assert words in said and "\n" not in said and said.endswith((".", "?")) and "?." not in said


def test_an_unknown_parameter_of_a_figure_is_one_sentence():
    with pytest.raises(InvalidInput, match=r"has no parameter 'dimm' \(did you mean 'dim'\?\)\.$"):
        saccade.figure("single-location/4a", dimm=3)


def test_whole_numbers_of_numpy_are_whole_numbers(fresh_store):
    asked = {"dim": np.int64(20), "steps": 3, "repetitions": 2}
    [first, second] = [saccade.run(DESCENT, asked, seed=seed) for seed in (np.int64(1), 1)]
    assert first.identical(second)
