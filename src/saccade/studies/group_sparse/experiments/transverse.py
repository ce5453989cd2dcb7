"""The direction that batches can leave by: the layer's own curvature along v2 = P q, at states of
the position-only map."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics
from saccade.studies.group_sparse.experiments.compiling import QUICKLY
from saccade.studies.group_sparse.models import PAPER_LAYER, Parameters, encoding, tokens
from saccade.studies.group_sparse.models.transformer import attention_maps, logistic_loss
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task


@partial(jax.jit, static_argnames=("samples",), compiler_options=QUICKLY)
def _curvatures(
    keys: Any, task: GroupSparseTask, matrix: Any, layer: Parameters, samples: int
) -> Any:
    """u^T H u on fresh samples for each key, H the second derivative of the loss (automatic) and u
    the unit vector along [0; P q]."""

    def one(key: Any) -> Any:
        batch = task.sample(key, samples)
        seen = tokens(batch.inputs, matrix)
        shares = attention_maps(layer, PAPER_LAYER, seen[:1])[0, 0].mean(axis=1)
        along = jnp.concatenate([jnp.zeros(task.group_dim), matrix @ shares])
        along = along / jnp.linalg.norm(along)

        def slope(value: Any) -> Any:
            return jax.grad(logistic_loss)(
                layer._replace(value=value), PAPER_LAYER, seen, batch.labels).value

        return along @ jax.jvp(slope, (layer.value,), (along,))[1]

    return jax.lax.map(one, keys)


@experiment("group-sparse.transverse-curvature", scales={"standard": {"samples": 20_000}})
def transverse_curvature(
    key: Any, *,
    cases: tuple[tuple[int, float, int], ...] = ((8, 0.1, 2), (8, 0.1, 68), (8, 0.1, 600)),
    group_dim: int = 2, samples: int = 2000, replicates: int = 32,
) -> xarray.Dataset:
    """Curvature along v2 = P q by automatic differentiation of the layer on raw samples, at the
    state of the position-only map after `steps` steps, for (groups, step size, steps) in
    `cases`."""
    found, states = [], []
    for number, (groups, step_size, steps) in enumerate(cases):
        task, made = group_sparse_task(groups, group_dim), encoding("sine", groups)
        run = dynamics.position_trajectory(groups, step_size, steps)
        state = float(run.alpha[0]), float(run.gap[0]), float(run.attention[0])
        looks = dynamics.selecting_parameters(state[2], task, made.matrix)
        layer = looks._replace(value=looks.value.at[0].set(state[0]))
        keys = jax.random.split(jax.random.fold_in(key, number), replicates)
        found.append(np.asarray(_curvatures(keys, task, made.matrix, layer, samples)))
        states.append(state)
    alpha, gap, attention = np.array(states).T
    return xarray.Dataset(
        {
            "curvature": (("replicate", "case"), np.stack(found, 1)), "alpha": ("case", alpha),
            "gap": ("case", gap), "attention": ("case", attention)},
        {"groups": ("case", [case[0] for case in cases])})
