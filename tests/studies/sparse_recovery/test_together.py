"""Decoders trained side by side: networks of their own, tests of their own, curves of their own."""

import jax
import numpy as np
import pytest

from saccade.studies.sparse_recovery.dynamics.decoders import DecoderRecipe
from saccade.studies.sparse_recovery.experiments import common
from saccade.studies.sparse_recovery.experiments.together import errors_of, train_together
from saccade.studies.sparse_recovery.experiments.trained import trained
from saccade.studies.sparse_recovery.task import SparseRecovery

pytestmark = pytest.mark.slow

TASK = SparseRecovery.create(2, 2, 1)
RECIPE = DecoderRecipe("softmax", 1, 40, 8, warmup=5)


def test_every_network_is_its_own_and_is_measured_on_its_own_tasks():
    tests = common.apart(TASK.sample(jax.random.key(1), 150), 3)
    ended = train_together(TASK, RECIPE, jax.random.key(0), tests, "three")
    own = [errors_of(model, one)[-1].mean() for model, one in zip(ended.models, tests)]
    before = [errors_of(model, one)[-1].mean() for model, one in zip(ended.before, tests)]
    np.testing.assert_allclose(ended.curve[:, -1], own, rtol=1e-6)
    np.testing.assert_allclose(ended.curve[:, 0], before, rtol=1e-6)
    assert len(set(np.round(own, 6))) == 3 and ended.steps[-1] == RECIPE.steps
    assert ended.losses.shape == (RECIPE.steps,)
    assert np.mean(own) < np.mean(before)


def test_rivals_are_run_on_the_tasks_of_each_network():
    """Predicting zero loses |beta|^2: the mean over all tasks is the sparsity, and networks have
    different tasks."""
    data = trained.function(
        jax.random.key(0), dim=2, measurements=2, layers=1, steps=20, batch=8, networks=2,
        test_tasks=300, scalar_steps=5)
    zero = data.classical_error.sel(solver="zero", prefix=2)
    assert dict(zero.sizes) == {"network": 2, "task": 300}
    assert abs(float(zero.mean()) - 1) < 0.3
    assert np.abs(zero.values[0] - zero.values[1]).min() > 0
    assert dict(data.error.sizes) == {"network": 2, "prefix": 4, "task": 300}
    own = data.reference_distance.sel(answer="FISTA", reference="FISTA")
    np.testing.assert_allclose(own.values, 0, atol=1e-12)
    np.testing.assert_allclose(
        data.layer_error.isel(depth=-1), data.repeated_error.sel(extra=0).mean("task"), rtol=1e-9)
