"""The claims on the paper's decoders judged on synthetic runs: right ones hold, wrong ones are
refuted, without training anything."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray

from saccade.lab.experiment import Run
from saccade.lab.verdict import judge
from saccade.studies.sparse_recovery.claims import paper_size

TASKS, GROUPS, STEPS = 8000, 50, 1000
LEVELS = {
    "zero": 3.0, "LISTA": 3.0, "LISTA-CP": 3.0, "least squares": 1.5, "ISTA": 1.1, "FISTA": 0.8,
    "ISTA, its depth": 1.8, "FISTA, its depth": 1.6, "LISTA-VM": 0.85, "LISTA-VM, full": 0.8,
    "ALISTA": 0.3, "LASSO": 0.16}


def a_run(level: float, exponent: float, seeds: int) -> Run:
    """Errors of decoders at a level, whose curves have fallen to it with an exponent."""
    random = np.random.default_rng(0)

    def errors(mean: float, *shape: int) -> np.ndarray:
        return mean * random.chisquare(1, (*shape, TASKS))

    records = np.arange(0, STEPS + 1, 50)
    fall = (np.maximum(records, 1) / STEPS) ** exponent
    shapes = np.stack([3.0 + 0 * fall, level * fall], 1)[None, :, :, None]
    curve = shapes * np.exp(0.01 * random.normal(size=(seeds, len(records), 2, GROUPS)))
    data = xarray.Dataset(
        {
            "label_error": (("seed", "task"), errors(level, seeds)),
            "misled_error": (("seed", "task"), errors(5.0, seeds)),
            "zero_error": ("task", errors(3.0)), "instances": ("record", 64 * records),
            "curve": (("seed", "record", "prefix", "group"), curve),
            "rival_error": (("rival", "task"), [errors(mean) for mean in LEVELS.values()])},
        {"record": records, "rival": list(LEVELS)})
    return Run(data, SimpleNamespace(sparsity=3, grown=0.4, steps=STEPS))


def verdict(claim, run: Run, measure=None) -> str:
    samples = (measure or claim.measure)(run)
    assert samples.shape[1] == len(claim.parts)
    return judge(
        claim.kind, samples, claim.predict(run), claim.resolution, claim.statistic, 0).verdict


@pytest.mark.parametrize(
    ("claim", "right", "wrong"),
    [
        (paper_size.SMALL_PLAIN, a_run(3.0, 0.0, 1), a_run(0.1, -0.3, 1)),
        (paper_size.GPT2_PLAIN, a_run(3.0, 0.0, 1), a_run(0.1, -0.3, 1)),
        (paper_size.GPT2_PASSES, a_run(1.8, -0.1, 3), a_run(3.0, 0.0, 3)),
        (paper_size.GPT2_BEHIND, a_run(1.8, -0.1, 3), a_run(0.1, -0.3, 3)),
        (paper_size.GPT2_GOES_ON, a_run(1.8, -0.1, 3), a_run(3.0, 0.0, 3)),
        (paper_size.SMALL_PASSES, a_run(1.5, -0.1, 1), a_run(3.0, 0.0, 1)),
        (paper_size.SMALL_BEHIND, a_run(2.0, -0.1, 1), a_run(0.1, -0.3, 1)),
        (paper_size.SMALL_GOES_ON, a_run(2.0, -0.1, 1), a_run(3.0, 0.0, 1))],
    ids=lambda item: getattr(item, "id", ""))
def test_claims_hold_where_they_should_and_sabotages_are_refuted(claim, right, wrong):
    assert verdict(claim, right) == "holds"
    assert verdict(claim, wrong) == "refuted"
    for sabotage in claim.sabotages:
        assert verdict(claim, right, sabotage.measure) == "refuted", sabotage.name
