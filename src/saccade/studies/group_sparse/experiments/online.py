"""Online descent of transfer beside a plain loop on the same stream."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse.dynamics import transfer as online
from saccade.studies.group_sparse.dynamics.reduced_gradient import selector
from saccade.studies.group_sparse.experiments.common import along, each_key
from saccade.studies.group_sparse.models import Parameters, encoding
from saccade.studies.group_sparse.task import group_sparse_task

LOSSES = {"logistic": lambda margin: jax.nn.softplus(-margin), "square": lambda m: (1 - m) ** 2}


@experiment("group-sparse.online-steps")
def online_steps(
    key: Any, *, samples: int = 12, step_sizes: tuple[float, float] = (0.4, 0.05),
    factor: float = 0.3, loss: Literal["logistic", "square"] = "logistic",
    only_features: bool = True,
) -> xarray.Dataset:
    """v~, W~ and mistakes of fine-tuned attention, and the weights and mistakes of logistic
    regression, after a few samples: as the study runs them, and by a loop that differentiates
    `loss` of `factor` times the output (`only_features` False: and never holds v~2)."""
    groups, dim = 4, 3
    task = group_sparse_task(groups, dim, relevant=1)
    start = selector(0.7, task, encoding("sine", groups))
    stops = jnp.asarray([samples])
    rows = []
    for freeze in (False, True):
        attention, logistic = online.transfer(
            key, task, start, step_sizes, factor, stops, freeze_attention=freeze,
            freeze_position_value=freeze, test_samples=64)
        rows.append([attention.value[0], attention.value[-1], *attention.errors[:, 0]])
    rows.append([logistic.value[0], logistic.value[-1], *logistic.errors[:, 0]])
    width = start.parameters.value.shape[0]
    moving = (np.arange(width) < (dim if only_features else width)).astype(float)
    plain = _by_loop(key, task, start, step_sizes, factor, samples, LOSSES[loss], moving)
    return xarray.Dataset(
        along(("learner", "what"), run=np.array(rows, float), plain=np.array(plain, float)),
        {"learner": ["both move", "v1 alone moves", "logistic"]})


def _by_loop(
    key: Any, task: Any, start: Any, step_sizes: Any, factor: float, samples: int, loss: Any,
    moving: np.ndarray,
) -> list[list[float]]:
    """The same numbers: [learner][first and last weight, online error, test error]."""
    stream_key, test_key = each_key(key, 2)
    test, hidden, dim = task.sample(test_key, 64), start.parameters.hidden, task.dim

    def attention(learned: Any, X: Any) -> Any:
        return start.at(Parameters(learned[0][None], learned[1], hidden))(X)

    def flat(learned: Any, X: Any) -> Any:
        return X.reshape(len(X), -1) @ learned[0]

    W, v = start.parameters.attention[0], jnp.zeros(len(moving))
    learners = (
        (attention, [W, v], (1.0, 1.0), factor, step_sizes[0]),
        (attention, [W, v], (0.0, moving), factor, step_sizes[0]),
        (flat, [jnp.zeros(task.length * dim)], (1.0,), 1.0, step_sizes[1]))
    rows = []
    for output, learned, speeds, share, eta in learners:
        slope = jax.jit(jax.grad(lambda at, X, y, f=output, c=share: loss(y[0] * c * f(at, X)[0])))
        wrong = 0
        for number in range(samples):
            X, y, _ = task.sample(jax.random.fold_in(stream_key, number), 1)
            wrong += int(y[0] * output(learned, X)[0] <= 0)
            moves = slope(learned, X, y)
            learned = [
                old - eta * speed * move
                for old, speed, move in zip(learned, speeds, moves, strict=True)]
        missed = np.mean(np.asarray(test.y * output(learned, test.X)) <= 0)
        rows.append([learned[-1][0], learned[-1][-1], wrong / samples, missed])
    return rows
