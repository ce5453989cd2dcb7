"""Small decoders, trained side by side: each is a replicate, judged on test tasks of its own."""

from typing import Any, Literal

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.networks.transformer import Transformer
from saccade.studies.sparse_recovery.dynamics import decoders
from saccade.studies.sparse_recovery.dynamics.decoders import DecoderRecipe
from saccade.studies.sparse_recovery.experiments import common, together
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery


@experiment("sparse-recovery.small-decoders")
def small_decoders(
    key: Any, *, architecture: Literal["softmax", "relu", "small"] = "softmax", dim: int = 4,
    measurements: int = 2, sparsity: int = 1, layers: int = 2, steps: int = 300, batch: int = 16,
    learning_rate: float = 3e-3, networks: int = common.NETWORKS, tests: int = 400,
) -> xarray.Dataset:
    """Errors of decoders on matrices they have never seen, each on tasks of its own: trained,
    before training, and shown the values of the next task; and of predicting zero. `small`
    predicts labels from x- and y-tokens in turn, and the error is that of the query's label; the
    others see pairs and the error is |beta_N - beta|^2."""
    task = SparseRecovery.create(dim, measurements, sparsity)
    recipe = DecoderRecipe(architecture, layers, steps, batch, learning_rate=learning_rate)
    train_key, test_key = jax.random.split(key)
    before, after = decoders.train_decoders(task, recipe, train_key, networks)
    samples = common.apart(task.sample(test_key, networks * tests), networks)
    others = [one._replace(y=np.roll(one.y, 1, axis=0)) for one in samples]
    labels = architecture == "small"
    zero = [one.query_y**2 if labels else (one.beta**2).sum(1) for one in samples]
    errors = {
        "trained": _errors(after, samples, labels), "untrained": _errors(before, samples, labels),
        "misled": _errors(after, others, labels), "zero": zero}
    return xarray.Dataset(
        {"error": (("who", "network", "test"), list(errors.values()))}, {"who": list(errors)})


def _errors(
    models: list[Transformer], samples: list[RecoverySample], labels: bool
) -> list[np.ndarray]:
    pairs = zip(models, samples, strict=True)
    if labels:
        return [(decoders.label_estimates(m, one)[:, -1] - one.query_y) ** 2 for m, one in pairs]
    return [together.errors_of(model, one)[-1] for model, one in pairs]
