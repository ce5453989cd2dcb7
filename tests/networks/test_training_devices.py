"""The same training on one and on four devices (simulated by XLA): the same loss up to rounding."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import json, sys
import jax
import jax.numpy as jnp
from saccade.networks.training import Problem, adam_with_cosine, train
from saccade.errors import InvalidInput
from saccade.networks.transformer import init_transformer, pair_decoder
from saccade.studies.sparse_recovery.task import SparseRecovery

task = SparseRecovery.create(4, 3, 1)

def draw(size):
    def batch(key, step, data):
        sample = task.sample(key, size, dtype=jnp.float64)
        return jnp.concatenate([sample.X, sample.y[..., None]], -1), sample.beta
    return batch

def loss(model, drawn):
    return jnp.mean(jnp.sum((model(drawn[0]) - drawn[1][:, None]) ** 2, -1))

config = pair_decoder(4, 2, width=8, heads=2, hidden=8)
model = init_transformer(jax.random.key(0), config, jnp.float64)
problem = Problem(loss, draw(16), adam_with_cosine(1e-2, 24, warmup=4))
one, four = (
    train(problem, model, jax.random.key(1), 24, chunk=8, devices=count) for count in (1, 4))
where = jax.tree.leaves(four.model)[0].sharding.device_set
try:
    train(problem._replace(batch=draw(10)), model, jax.random.key(1), 8, devices=4)
    refused = ""
except InvalidInput as problem:
    refused = str(problem)
curves = [one.losses.tolist(), four.losses.tolist()]
print(json.dumps({"curves": curves, "devices": len(where), "refused": refused}))
"""


@pytest.mark.slow
def test_four_devices_give_the_loss_curve_of_one():
    flags = "--xla_force_host_platform_device_count=4"
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], env={**os.environ, "XLA_FLAGS": flags}, capture_output=True,
        text=True, check=False)
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout.splitlines()[-1])
    one, four = map(np.array, said["curves"])
    assert said["devices"] == 4
    # float64: sums over the batch in another order differ by about 1e-16 a step, which 24 steps
    # amplify by far less than 1e4.
    np.testing.assert_allclose(four, one, rtol=1e-11)
    assert len(np.unique(one)) == 24
    assert "must be a multiple of the 4 devices" in said["refused"]
