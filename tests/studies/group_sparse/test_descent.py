"""Full-dimensional descent and online transfer against plain loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

from saccade.errors import InvalidInput
from saccade.studies.group_sparse.dynamics import plan_record
from saccade.studies.group_sparse.dynamics.full import full_trajectory
from saccade.studies.group_sparse.dynamics.transfer import transfer
from saccade.studies.group_sparse.models import (
    Architecture,
    Transformer,
    at_zero,
    encoding,
    from_blocks,
    xavier,
)
from saccade.studies.group_sparse.task import group_sparse_task
from saccade.studies.group_sparse.theory.stability import StepSizeWarning, transverse_limit

pytestmark = pytest.mark.slow

GROUPS, DIM = 4, 2
START = at_zero(DIM, encoding("sine", GROUPS))


@pytest.mark.parametrize(
    "architecture", [Architecture(), Architecture(residual=True, layer_norm=True)])
def test_descent_on_a_fixed_sample_is_the_plain_loop(architecture):
    task, sine = group_sparse_task(GROUPS, DIM, relevant=1), encoding("sine", GROUPS)
    data = task.sample(jax.random.key(0), 40)
    start = xavier(jax.random.key(1), DIM, sine, architecture, factor=0.3)
    run = full_trajectory(jax.random.key(2), task, start, 0.1, 6, record=[0, 6], data=data)
    slope = jax.jit(jax.grad(lambda moved: start.at(moved).loss(data.X, data.y)))
    expected = start.parameters
    for _ in range(6):
        expected = jax.tree.map(lambda old, change: old - 0.1 * change, expected, slope(expected))
    for ours, theirs in zip(run.model.parameters, expected):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert run.observables.attention.shape == (2, 1, GROUPS)
    np.testing.assert_allclose(run.observables.attention.sum(axis=2), 1.0)


def test_fresh_batches_find_the_group_and_the_direction():
    task = group_sparse_task(GROUPS, DIM, relevant=2, direction=[3.0, 4.0])
    run = full_trajectory(
        jax.random.key(3), task, START, 0.4, 150, record=[0, 150], batch=400, held_out=2000)
    seen = run.observables
    assert seen.loss[0] == pytest.approx(np.log(2)) and seen.alignment[0] == 0
    assert seen.attention[0, 0] == pytest.approx(np.full(GROUPS, 1 / GROUPS))
    assert seen.attention[1, 0].argmax() == 2 and seen.attention[1, 0, 2] > 0.85
    assert seen.alignment[1] > 0.99 and seen.error[1] < 0.05
    assert seen.block_norms[1, 0, 3] > 5 * max(seen.block_norms[1, 0, 1:3])


def test_large_steps_warn_and_mismatch_is_refused():
    task = group_sparse_task(GROUPS, DIM)
    with pytest.warns(StepSizeWarning, match="is above the stability rule of 16"):
        full_trajectory(jax.random.key(0), task, START, 5.0, 1, batch=2, held_out=2)
    with pytest.raises(InvalidInput, match=r"^step_size"):
        full_trajectory(jax.random.key(0), task, START, -1.0, 1)
    with pytest.raises(InvalidInput, match=r"^start = 'for 5 groups'"):
        full_trajectory(jax.random.key(0), task, at_zero(DIM, encoding("sine", 5)), 0.1, 1)


def test_noise_along_the_sum_of_encodings_grows_above_the_transverse_limit():
    """One step from a small v2 along P 1 multiplies it by 1 - 2 eta / limit; on a sample and its
    mirror image X -> -X the sampling noise cancels exactly."""
    task, sine = group_sparse_task(GROUPS, DIM), encoding("sine", GROUPS)
    half = task.sample(jax.random.key(5), 200)
    both = type(half)(
        jnp.concatenate([half.X, -half.X]), jnp.concatenate([half.y, -half.y]),
        jnp.concatenate([half.where, half.where]))
    start = from_blocks(jnp.zeros((DIM, DIM)), jnp.zeros((GROUPS, GROUPS)), jnp.zeros(DIM))
    push = 1e-5 * sine.sum(axis=1)
    start = Transformer(start._replace(value=start.value.at[DIM:].set(push)), sine)
    limit = transverse_limit(GROUPS)
    for eta in (0.5 * limit, 1.5 * limit):
        run = full_trajectory(jax.random.key(0), task, start, eta, 1, data=both, held_out=10)
        factor = run.model.parameters.value[DIM:] @ push / (push @ push)
        assert float(factor) == pytest.approx(1 - 2 * eta / limit, abs=1e-6)


def test_online_learners_are_the_plain_loops():
    """Attention nailed to the relevant group makes the frozen learner logistic SGD on that group's
    D-fold signal and encoding."""
    task, sine = (
        group_sparse_task(GROUPS, DIM, relevant=1, direction=[0.6, 0.8], margin=0.2),
        encoding("sine", GROUPS))
    nailed = 200 * jnp.outer(sine[:, 1], sine.sum(axis=1))
    start = Transformer(from_blocks(jnp.zeros((DIM, DIM)), nailed, jnp.zeros(DIM)), sine)
    plan, key = plan_record(60, [10, 60]), jax.random.key(7)
    stream_key, test_key = jax.random.split(key)
    rows = [task.sample(jax.random.fold_in(stream_key, i), 1) for i in range(60)]
    etas = {"frozen": 0.2, "flat": 0.05}
    frozen, flat = transfer(
        key, task, start, tuple(etas.values()), 1 / GROUPS, plan.stops, test_samples=500)
    features = {
        "frozen": [np.concatenate([row.X[0, 1], sine[:, 1]]) for row in rows],
        "flat": [np.asarray(row.X[0]).ravel() for row in rows]}
    for run, name in ((frozen, "frozen"), (flat, "flat")):
        v, mistakes, seen = np.zeros(len(features[name][0])), 0, {}
        for count, (x, row) in enumerate(zip(features[name], rows), start=1):
            margin = float(row.y[0]) * (v @ x)
            mistakes += margin <= 0
            v = v + etas[name] * expit(-margin) * float(row.y[0]) * x
            seen[count] = mistakes / count
        np.testing.assert_allclose(run.value, v, rtol=1e-9)
        np.testing.assert_allclose(run.errors[0], [seen[10], seen[60]], rtol=1e-12)
    test = task.sample(test_key, 500)
    wrong = np.mean(
        np.asarray(test.y) * (np.asarray(test.X).reshape(500, -1) @ np.asarray(flat.value)) <= 0)
    assert float(flat.errors[1, 1]) == pytest.approx(wrong)


def test_fine_tuning_both_moves_attention():
    task, plan = group_sparse_task(GROUPS, DIM), plan_record(30)
    runs = [
        transfer(
            jax.random.key(8), task, START, (0.1, 0.1), 1.0, plan.stops, freeze_attention=frozen,
            test_samples=50)[0]
        for frozen in (True, False)]
    assert not np.allclose(runs[0].value, runs[1].value)
