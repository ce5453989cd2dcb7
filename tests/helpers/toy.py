"""A toy experiment and claims for the tests of the laboratory."""

import jax
import numpy as np
import xarray

from saccade.lab.claim import Citation, Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import experiment
from saccade.lab.kinds import ESTIMATE, IDENTITY


@experiment("single-location.toy", scales={"paper": {"count": 64}})
def toy(key, *, count: int = 40, mean: float = 1.0, spread: float = 1.0) -> xarray.Dataset:
    """Normal numbers around a mean."""
    values = mean + spread * np.asarray(jax.random.normal(key, (count,)))
    return xarray.Dataset({"value": ("replicate", values)}, {"replicate": np.arange(count)})


def claim(**changes) -> Claim:
    usual = dict(
        id="single-location.toy-claim", spec="SL-TOY", statement="The mean is one.",
        source="nowhere", citation=Citation("nowhere", "one", "ours"), status="exact",
        kind=ESTIMATE, experiment=toy, measure=lambda run: run.data.value.values,
        predict=lambda run: 1.0, resolution=1.0, argued="a toy", statistic="mean",
        scales={"quick": Scale(repetitions=8)},
        sabotages=(Sabotage("shift", "Move the mean.", {"mean": 4.0}),))
    return Claim(**{**usual, **changes})


def exact(**changes) -> Claim:
    usual = dict(
        kind=IDENTITY, statistic="exact", measure=lambda run: one_row(run.data.value.values.size),
        predict=lambda run: 40.0, resolution=0.0)
    return claim(**{**usual, **changes})


def measures(values):
    """Measures these values of any run; a claim that asks no run is a mirror."""
    return lambda run: values if run.data is not None else None
